// Any bytes as an item and as the tier's state: what is taken says the same written again, and is
// never both; and any item comes back as it was.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/coding.h"
#include "tier/item.h"

namespace weft::tier {
namespace {

void DecodeAny(std::string_view bytes) {
  Item item;
  State state;
  const bool is_item = DecodeItem(bytes, &item);
  const bool is_state = DecodeState(bytes, &state);
  WEFT_CHECK(!is_item || !is_state);
  if (is_item) {
    // What compactions read of an item is what it says.
    WEFT_CHECK(base::DecodeFixed32(bytes.data() + kGenerationOffset) == item.generation);
    WEFT_CHECK(base::DecodeFixed32(bytes.data() + kExpiryOffset) == item.expiry);
    std::string again = "what was there";
    EncodeItem(item, &again);
    WEFT_CHECK(again == bytes);
  }
  if (is_state) {
    State again;
    WEFT_CHECK(DecodeState(EncodeState(state), &again));
    WEFT_CHECK(again.version_bound == state.version_bound && again.floor == state.floor &&
               again.generation_bound == state.generation_bound &&
               again.flush_at_s == state.flush_at_s);
  }
}

// Fields from the first bytes, the rest is the value.
void EncodeAny(std::string_view bytes) {
  constexpr size_t kFieldBytes = 1 + 4 + 4 + 4 + 8;
  if (bytes.size() < kFieldBytes) return;
  Item item;
  item.marks = static_cast<uint8_t>(bytes[0]) & 0x0f;
  item.generation = base::DecodeFixed32(bytes.data() + 1);
  item.client_flags = base::DecodeFixed32(bytes.data() + 5);
  item.expiry = base::DecodeFixed32(bytes.data() + 9);
  item.version = base::DecodeFixed64(bytes.data() + 13);
  item.value = bytes.substr(kFieldBytes);
  std::string encoded;
  EncodeItem(item, &encoded);
  Item read;
  WEFT_CHECK(DecodeItem(encoded, &read));
  WEFT_CHECK(read.marks == item.marks && read.generation == item.generation &&
             read.client_flags == item.client_flags && read.expiry == item.expiry &&
             read.version == item.version && read.value == item.value);
}

}  // namespace
}  // namespace weft::tier

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const std::string_view input(reinterpret_cast<const char*>(data), bytes);
  weft::tier::DecodeAny(input);
  weft::tier::EncodeAny(input);
  return 0;
}
