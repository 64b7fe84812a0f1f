#include "tier/item.h"

#include <limits>

#include "base/coding.h"

namespace weft::tier {
namespace {

constexpr uint8_t kFormItem = 1;
constexpr uint8_t kFormState = 2;
constexpr uint8_t kFormMask = 0x0f;
constexpr uint32_t kMarksShift = 4;
constexpr size_t kFlagsOffset = 5;
constexpr size_t kVersionOffset = 13;
constexpr size_t kFloorOffset = kItemHeaderBytes;
constexpr size_t kFlushAtOffset = kFloorOffset + 4;
constexpr size_t kStateBytes = kFlushAtOffset + 4;

}  // namespace

void EncodeItem(const Item& item, std::string* out) {
  out->resize(kItemHeaderBytes);
  char* const to = out->data();
  to[0] = static_cast<char>(kFormItem | item.marks << kMarksShift);
  base::EncodeFixed32(to + kGenerationOffset, item.generation);
  base::EncodeFixed32(to + kFlagsOffset, item.client_flags);
  base::EncodeFixed32(to + kExpiryOffset, item.expiry);
  base::EncodeFixed64(to + kVersionOffset, item.version);
  out->append(item.value);
}

bool DecodeItem(std::string_view bytes, Item* item) {
  if (bytes.size() < kItemHeaderBytes) return false;
  const uint8_t form = static_cast<uint8_t>(bytes[0]);
  if ((form & kFormMask) != kFormItem) return false;
  item->marks = form >> kMarksShift;
  item->generation = base::DecodeFixed32(bytes.data() + kGenerationOffset);
  item->client_flags = base::DecodeFixed32(bytes.data() + kFlagsOffset);
  item->expiry = base::DecodeFixed32(bytes.data() + kExpiryOffset);
  item->version = base::DecodeFixed64(bytes.data() + kVersionOffset);
  item->value = bytes.substr(kItemHeaderBytes);
  return true;
}

std::string EncodeState(const State& state) {
  std::string bytes(kStateBytes, '\0');
  char* const to = bytes.data();
  to[0] = static_cast<char>(kFormState);
  base::EncodeFixed32(to + kGenerationOffset, std::numeric_limits<uint32_t>::max());
  base::EncodeFixed32(to + kFlagsOffset, state.generation_bound);
  base::EncodeFixed64(to + kVersionOffset, state.version_bound);
  base::EncodeFixed32(to + kFloorOffset, state.floor);
  base::EncodeFixed32(to + kFlushAtOffset, state.flush_at_s);
  return bytes;
}

bool DecodeState(std::string_view bytes, State* state) {
  if (bytes.size() != kStateBytes || static_cast<uint8_t>(bytes[0]) != kFormState) return false;
  state->generation_bound = base::DecodeFixed32(bytes.data() + kFlagsOffset);
  state->version_bound = base::DecodeFixed64(bytes.data() + kVersionOffset);
  state->floor = base::DecodeFixed32(bytes.data() + kFloorOffset);
  state->flush_at_s = base::DecodeFixed32(bytes.data() + kFlushAtOffset);
  return true;
}

}  // namespace weft::tier
