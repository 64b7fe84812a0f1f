#include "table/filter_block_reader.h"

#include "base/coding.h"

namespace weft::table {

namespace {
constexpr size_t kTailBytes = 5;  // the offset of the offsets, log2 of the stretch
}  // namespace

FilterBlockReader::FilterBlockReader(const FilterPolicy* policy, std::string_view block) {
  if (policy == nullptr || block.size() < kTailBytes) return;
  const uint32_t offsets = base::DecodeFixed32(block.data() + block.size() - kTailBytes);
  const auto stretch_log2 = static_cast<uint8_t>(block.back());
  if (offsets > block.size() - kTailBytes || stretch_log2 > 63) return;
  policy_ = policy;
  data_ = block.data();
  offsets_ = data_ + offsets;
  data_bytes_ = offsets;
  filters_ = (block.size() - kTailBytes - offsets) / 4;
  stretch_log2_ = stretch_log2;
}

bool FilterBlockReader::FilterOf(uint64_t block_offset, std::string_view* filter) const {
  if (policy_ == nullptr) return false;
  const uint64_t index = block_offset >> stretch_log2_;
  if (index >= filters_) return false;
  // The last filter ends where the offsets begin, which is the number behind the last offset.
  const uint32_t start = base::DecodeFixed32(offsets_ + 4 * index);
  const uint32_t limit = base::DecodeFixed32(offsets_ + 4 * index + 4);
  if (start > limit || limit > data_bytes_) return false;
  *filter = {data_ + start, limit - start};
  return true;
}

}  // namespace weft::table
