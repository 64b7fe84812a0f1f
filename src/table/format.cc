#include "table/format.h"

#include "base/check.h"
#include "base/coding.h"

namespace weft::table {

void BlockHandle::AppendTo(std::string* to) const {
  base::PutVarint64(to, offset);
  base::PutVarint64(to, bytes);
}

bool BlockHandle::TakeFrom(std::string_view* input) {
  std::string_view rest = *input;
  uint64_t taken_offset;
  uint64_t taken_bytes;
  if (!base::GetVarint64(&rest, &taken_offset) || !base::GetVarint64(&rest, &taken_bytes)) {
    return false;
  }
  offset = taken_offset;
  bytes = taken_bytes;
  *input = rest;
  return true;
}

void Footer::AppendTo(std::string* to) const {
  const size_t start = to->size();
  metaindex.AppendTo(to);
  index.AppendTo(to);
  to->resize(start + 2 * kHandleBytesMax);  // the room that the handles leave is zero
  base::PutFixed64(to, kTableMagic);
  WEFT_DCHECK(to->size() == start + kFooterBytes);
}

Status Footer::DecodeFrom(std::string_view bytes) {
  WEFT_CHECK(bytes.size() == kFooterBytes);
  if (base::DecodeFixed64(bytes.data() + 2 * kHandleBytesMax) != kTableMagic) {
    return {Code::kCorruption, "not a table (bad magic number)"};
  }
  std::string_view handles = bytes.substr(0, 2 * kHandleBytesMax);
  if (!metaindex.TakeFrom(&handles) || !index.TakeFrom(&handles)) {
    return {Code::kCorruption, "bad block handle in the footer"};
  }
  return {};
}

}  // namespace weft::table
