// Any bytes as a block that Snappy has compressed: what a device opens the library opens, too, and
// to the same bytes. Not the other way round: it takes a literal of 4 GiB for one of no bytes.
#include <snappy.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "compaction/device/kernel/snappy_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using weft::compaction::device::SnappyDecoder;
  constexpr size_t kOpenedMax = 1u << 20;
  const auto* const stored = reinterpret_cast<const char*>(data);
  size_t bytes = 0;
  if (!snappy::GetUncompressedLength(stored, size, &bytes) || bytes > kOpenedMax) return 0;
  std::vector<uint8_t> ours(bytes);
  std::string theirs;
  const bool ours_opens =
      SnappyDecoder(data, static_cast<uint32_t>(size), ours.data(), static_cast<uint32_t>(bytes))
          .Run();
  const bool theirs_opens = snappy::Uncompress(stored, size, &theirs);
  WEFT_CHECK(!ours_opens || theirs_opens);
  WEFT_CHECK(!ours_opens || theirs == std::string(ours.begin(), ours.end()));
  return 0;
}
