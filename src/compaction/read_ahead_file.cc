#include "compaction/read_ahead_file.h"

#include <algorithm>

namespace weft::compaction {

Status ReadAheadFile::Read(uint64_t offset, size_t bytes, std::string_view* result,
                           char* /*scratch*/) const {
  const bool inside = offset >= window_start_ && offset - window_start_ <= window_.size() &&
                      bytes <= window_.size() - (offset - window_start_);
  if (!inside) {
    const size_t wanted = std::max(bytes, kWindowBytes);
    window_ = {};
    room_.Clear();
    Status status = file_->Read(offset, wanted, &window_, room_.Reserve(wanted));
    if (!status.ok()) return status;
    window_start_ = offset;
  }
  *result = window_.substr(offset - window_start_, bytes);
  return Status::Ok();
}

}  // namespace weft::compaction
