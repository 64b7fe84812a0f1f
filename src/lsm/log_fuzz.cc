// Any bytes as a log, and a log with any bytes changed. The first byte says how many of the
// following bytes, three by three, change a log that we write from the rest.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "lsm/log_reader.h"
#include "lsm/log_writer.h"
#include "lsm/string_file_test_kit.h"

namespace weft::lsm {
namespace {

class Counter final : public LogReader::Reporter {
 public:
  explicit Counter(size_t log_bytes) : log_bytes_(log_bytes) {}
  void Dropped(uint64_t offset, uint64_t bytes, std::string_view reason) override {
    WEFT_CHECK(bytes > 0 && offset + bytes <= log_bytes_ && !reason.empty());
    WEFT_CHECK(offset >= end_);  // in order, nothing twice
    end_ = offset + bytes;
    sum_ += bytes;
  }
  uint64_t sum() const { return sum_; }

 private:
  const size_t log_bytes_;
  uint64_t end_ = 0;
  uint64_t sum_ = 0;
};

std::vector<std::string> ReadAll(std::string_view log, LogReader::Mode mode) {
  StringSource file(log);
  Counter counter(log.size());
  LogReader reader(&file, &counter, mode);
  std::vector<std::string> records;
  std::string_view record;
  uint64_t bytes = 0;
  uint64_t end = 0;
  while (reader.Read(&record)) {
    WEFT_CHECK(reader.record_offset() >= end);
    end = reader.valid_bytes();
    WEFT_CHECK(end >= reader.record_offset() + kLogHeaderBytes + record.size());
    bytes += record.size() + kLogHeaderBytes;
    records.emplace_back(record);
  }
  WEFT_CHECK(bytes + counter.sum() <= log.size());
  WEFT_CHECK(reader.file_bytes() == log.size());
  const LogEnd log_end = reader.end();
  WEFT_CHECK(log_end == LogEnd::kClean || log_end == LogEnd::kTorn || log_end == LogEnd::kDamaged);
  WEFT_CHECK(log_end == LogEnd::kClean || counter.sum() > 0);
  return records;
}

void ReadBothWays(std::string_view log) {
  const std::vector<std::string> stopped = ReadAll(log, LogReader::Mode::kStop);
  const std::vector<std::string> salvaged = ReadAll(log, LogReader::Mode::kSalvage);
  WEFT_CHECK(stopped.size() <= salvaged.size());
  for (size_t i = 0; i < stopped.size(); ++i) WEFT_CHECK(stopped[i] == salvaged[i]);
}

// Records whose lengths the bytes choose, so that some are longer than a block.
std::string WriteLog(std::string_view from) {
  std::string log;
  StringSink file(&log);
  LogWriter writer(&file);
  size_t count = 0;
  for (; from.size() >= 2; ++count) {
    const size_t bytes =
        static_cast<uint8_t>(from[0]) * static_cast<size_t>(from[1] % 7 == 0 ? 300 : 3);
    std::string record(bytes, from[1]);
    WEFT_CHECK(writer.AddRecord(record).ok());
    from.remove_prefix(2);
  }
  WEFT_CHECK(writer.offset() == log.size());
  WEFT_CHECK(ReadAll(log, LogReader::Mode::kStop).size() == count);
  return log;
}

void ChangeAndRead(std::string_view data) {
  size_t changes = static_cast<uint8_t>(data[0]) % 8;
  data.remove_prefix(1);
  std::string_view instructions = data.substr(0, 3 * changes);
  std::string log = WriteLog(data.substr(instructions.size()));
  while (instructions.size() >= 3 && !log.empty()) {
    const size_t at =
        static_cast<uint8_t>(instructions[0]) * size_t{256} + static_cast<uint8_t>(instructions[1]);
    log[at % log.size()] = instructions[2];
    instructions.remove_prefix(3);
  }
  ReadBothWays(log);
}

}  // namespace
}  // namespace weft::lsm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const std::string_view input(reinterpret_cast<const char*>(data), bytes);
  weft::lsm::ReadBothWays(input);
  if (!input.empty()) weft::lsm::ChangeAndRead(input);
  return 0;
}
