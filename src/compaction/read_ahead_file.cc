#include "compaction/read_ahead_file.h"

#include <algorithm>

#include "base/read_on.h"

namespace weft::compaction {

Status ReadAheadFile::Read(uint64_t offset, size_t bytes, std::string_view* result,
                           char* /*scratch*/) const {
  const bool inside = offset >= window_start_ && offset - window_start_ <= window_.size() &&
                      bytes <= window_.size() - (offset - window_start_);
  if (!inside) {
    Status status = ReadWindow(offset, bytes);
    if (!status.ok()) return status;
  }
  const uint64_t at = std::min<uint64_t>(offset - window_start_, window_.size());
  *result = window_.substr(at, bytes);
  return Status::Ok();
}

// From `offset` on, or a little before it.
Status ReadAheadFile::ReadWindow(uint64_t offset, size_t bytes) const {
  const size_t align = file_->ReadAlignment();
  const size_t before = offset % align;
  const size_t window_bytes = align == 1 ? kWindowBytes : kDirectWindowBytes;
  const uint64_t left = offset - before < bytes_ ? bytes_ - (offset - before) : 0;
  const size_t window = std::max<uint64_t>(before + bytes, std::min<uint64_t>(window_bytes, left));
  const size_t wanted = (window + align - 1) / align * align;
  window_ = {};
  room_.Clear();
  char* const room = room_.Reserve(wanted + align - 1);
  const size_t skipped = -reinterpret_cast<uintptr_t>(room) % align;
  Status status =
      base::ReadOnAt(*file_, offset - before, wanted, before + bytes, &window_, room + skipped);
  if (status.ok()) window_start_ = offset - before;
  return status;
}

}  // namespace weft::compaction
