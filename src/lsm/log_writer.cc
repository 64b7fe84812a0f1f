#include "lsm/log_writer.h"

#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/crc32c.h"

namespace weft::lsm {

LogWriter::LogWriter(WritableFile* file, uint64_t offset) : file_(file), offset_(offset) {
  for (size_t type = 0; type < type_crc_.size(); ++type) {
    const char byte = static_cast<char>(type);
    type_crc_[type] = base::Crc32c(&byte, 1);
  }
}

Status LogWriter::AddRecord(std::string_view record) {
  static constexpr char kZeros[kLogHeaderBytes] = {};
  bool first = true;
  do {
    size_t left = kLogBlockBytes - static_cast<size_t>(offset_ % kLogBlockBytes);
    if (left < kLogHeaderBytes) {
      if (Status status = file_->Append({kZeros, left}); !status.ok()) return status;
      offset_ += left;
      left = kLogBlockBytes;
    }
    const size_t bytes = std::min(record.size(), left - kLogHeaderBytes);
    const bool last = bytes == record.size();
    const FragmentType type = first ? (last ? FragmentType::kFull : FragmentType::kFirst)
                                    : (last ? FragmentType::kLast : FragmentType::kMiddle);
    if (Status status = AppendFragment(type, record.substr(0, bytes)); !status.ok()) return status;
    record.remove_prefix(bytes);
    first = false;
  } while (!record.empty());
  return {};
}

Status LogWriter::AppendFragment(FragmentType type, std::string_view payload) {
  char gathered[kLogHeaderBytes + kGatheredBytesMax];
  const uint32_t crc =
      base::ExtendCrc32c(type_crc_[static_cast<size_t>(type)], payload.data(), payload.size());
  base::EncodeFixed32(gathered, base::MaskCrc32c(crc));
  gathered[4] = static_cast<char>(payload.size() & 0xff);
  gathered[5] = static_cast<char>(payload.size() >> 8);
  gathered[6] = static_cast<char>(type);
  Status status;
  if (payload.size() <= kGatheredBytesMax) {
    if (!payload.empty()) std::memcpy(gathered + kLogHeaderBytes, payload.data(), payload.size());
    status = file_->Append({gathered, kLogHeaderBytes + payload.size()});
  } else {
    status = file_->Append({gathered, kLogHeaderBytes});
    if (status.ok()) status = file_->Append(payload);
  }
  if (status.ok()) offset_ += kLogHeaderBytes + payload.size();
  return status;
}

}  // namespace weft::lsm
