// lsm/log_writer.h: appends records to a log or manifest file.
//
// Threads   one at a time.
// Errors    the file's. After one it is unknown what the file holds (part of a record, perhaps): no
//           record may follow.
// Cost      a checksum over the record; one Append for a fragment of up to 4 KiB, otherwise two.
// Source    LevelDB's log format (lsm/log_format.h).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lsm/log_format.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

class LogWriter {
 public:
  // `file` must outlive the writer and holds `offset` bytes already.
  explicit LogWriter(WritableFile* file, uint64_t offset = 0);
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Neither flushes nor syncs. Any bytes, even none.
  Status AddRecord(std::string_view record);
  // Bytes that the file holds now.
  uint64_t offset() const { return offset_; }

 private:
  static constexpr size_t kGatheredBytesMax = 4096;

  Status AppendFragment(FragmentType type, std::string_view payload);

  WritableFile* const file_;
  uint64_t offset_;
  std::array<uint32_t, 5> type_crc_;  // of the type byte alone, by type
};

}  // namespace weft::lsm
