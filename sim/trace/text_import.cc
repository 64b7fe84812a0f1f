// Reading text traces.

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "sim/base/text_lines.h"
#include "sim/base/words.h"
#include "sim/dram/dramsim3_trace.h"
#include "sim/dram/organization.h"
#include "sim/trace/text_trace.h"

namespace weft::sim {
namespace {

constexpr std::string_view kNames = "Inst";  // how the line of names begins

// One core's records, of no store.
class RecordList final : public TraceSource {
 public:
  RecordList(std::vector<Record> records, uint64_t memory_bytes) : records_(std::move(records)) {
    shape_.table_base = memory_bytes;
    shape_.table_limit = memory_bytes + kLineBytes;
    shape_.log_base = shape_.table_limit;
    shape_.log_limit = shape_.table_limit;
    shape_.buckets = 1;
  }
  int cores() const override { return 1; }
  const StoreShape& shape() const override { return shape_; }
  TableImage InitialTable() const override {
    return TableImage(shape_.buckets, shape_.slots_per_bucket);
  }
  Result<bool> Next(int, Record* record) override {
    if (next_ == records_.size()) return false;
    *record = records_[next_++];
    return true;
  }

 private:
  const std::vector<Record> records_;
  StoreShape shape_;
  size_t next_ = 0;
};

// Makes operations of accesses.
class Collector {
 public:
  explicit Collector(const TextOptions& options) : options_(options) {}

  // What is wrong, or "". `plains`: instructions since the access before.
  std::string Add(uint64_t plains, bool is_write, uint64_t addr, uint64_t bytes) {
    if (plains > UINT32_MAX) return fmt::format("{} instructions without an access", plains);
    if (bytes == 0 || bytes > UINT16_MAX) return fmt::format("an access of {} bytes", bytes);
    if (addr >= options_.memory_bytes || bytes > options_.memory_bytes - addr) {
      return fmt::format("{} bytes at {:#x} are beyond the memory, which has {:#x}", bytes, addr,
                         options_.memory_bytes);
    }
    if (in_op_ == 0) records_.push_back({.kind = RecordKind::kOpBegin});
    records_.push_back({.addr = addr,
                        .gap = static_cast<uint32_t>(plains),
                        .size = static_cast<uint16_t>(bytes),
                        .kind = is_write ? RecordKind::kWrite : RecordKind::kRead});
    if (++in_op_ == options_.op_accesses) EndOp();
    return "";
  }
  std::vector<Record> Take() {
    if (in_op_ != 0) EndOp();
    return std::move(records_);
  }

 private:
  void EndOp() {
    records_.push_back({.kind = RecordKind::kOpEnd});
    in_op_ = 0;
  }

  const TextOptions options_;
  std::vector<Record> records_;
  uint32_t in_op_ = 0;
};

bool ParseHex(std::string_view digits, uint64_t& number) {
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  return base::ParseNumber(digits, &number, 16);
}

// Decimal, unless it begins with 0x.
bool ParseAddress(std::string_view word, uint64_t& number) {
  const bool is_hex = word.starts_with("0x") || word.starts_with("0X");
  return is_hex ? ParseHex(word, number) : base::ParseNumber(word, &number);
}

std::string AddO3(std::string_view text, Collector& collector) {
  std::array<std::string_view, 4> words;
  for (std::string_view& word : words) word = TakeWord(text);
  if (words[1].empty() || !words[3].empty()) return "a line must be: INSTRUCTIONS READ [WRITTEN]";
  uint64_t plains = 0;
  if (!base::ParseNumber(words[0], &plains)) {
    return Quoted(words[0]) + " is not a number of instructions";
  }
  for (size_t word = 1; word <= 2 && !words[word].empty(); ++word) {
    uint64_t addr = 0;
    if (!base::ParseNumber(words[word], &addr)) {
      return Quoted(words[word]) + " is not a decimal address of 64 bits";
    }
    std::string wrong =
        collector.Add(plains, word == 2, addr / kLineBytes * kLineBytes, kLineBytes);
    if (!wrong.empty()) return wrong;
    plains = 0;
  }
  return "";
}

std::string AddLoadStore(std::string_view text, Collector& collector) {
  const std::string_view type = TakeWord(text);
  const std::string_view address = TakeWord(text);
  if (address.empty() || !TakeWord(text).empty()) return "a line must be: LD|ST ADDRESS";
  if (type != "LD" && type != "ST") return Quoted(type) + " is neither LD nor ST";
  uint64_t addr = 0;
  if (!ParseAddress(address, addr)) return Quoted(address) + " is not an address of 64 bits";
  return collector.Add(0, type == "ST", addr / kLineBytes * kLineBytes, kLineBytes);
}

// Knows the line before.
class CsvLines {
 public:
  std::string Add(std::string_view text, Collector& collector) {
    std::array<std::string_view, 5> fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      const size_t end = text.find(',');
      if ((end == text.npos) != (i + 1 == fields.size())) {
        return "a line must be: INSTRUCTIONS,INSTRUCTION'S ADDRESS,R|W,ADDRESS,BYTES";
      }
      std::string_view field = text.substr(0, end);
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
      fields[i] = TakeWord(field);
      if (!TakeWord(field).empty()) return fmt::format("field {} has more than one word", i + 1);
    }
    uint64_t count = 0;
    uint64_t instruction = 0;
    uint64_t addr = 0;
    uint64_t bytes = 0;
    if (!base::ParseNumber(fields[0], &count)) {
      return Quoted(fields[0]) + " is not a number of instructions";
    }
    for (const auto& [field, number] : {std::pair{fields[1], &instruction}, {fields[3], &addr}}) {
      if (!ParseHex(field, *number)) {
        return Quoted(field) + " is not a hexadecimal address of 64 bits";
      }
    }
    if (fields[2] != "R" && fields[2] != "W") {
      return Quoted(fields[2]) + " is neither R nor W";
    }
    if (!base::ParseNumber(fields[4], &bytes)) return Quoted(fields[4]) + " is not a size";
    if (has_last_ && count < last_) {
      return fmt::format("instruction {} is before the previous line's, {}", count, last_);
    }
    const uint64_t plains = has_last_ && count > last_ ? count - last_ - 1 : 0;
    has_last_ = true;
    last_ = count;
    return collector.Add(plains, fields[2] == "W", addr, bytes);
  }

 private:
  bool has_last_ = false;
  uint64_t last_ = 0;
};

Status ReadDramsim3(const std::string& path, const TextOptions& options, Collector& collector) {
  Result<Dramsim3Trace> trace = Dramsim3Trace::Open(path, options.memory_bytes / kLineBytes);
  if (!trace) return trace.error();
  bool has_last = false;
  uint64_t last = 0;  // instructions
  while (true) {
    const Result<std::optional<TraceRequest>> next = trace.value().Next();
    if (!next) return next.error();
    if (!next.value()) return Status::Ok();
    const TraceRequest& request = *next.value();
    if (request.clock > INT64_MAX / options.instructions_per_clock) {
      return trace.value().Wrong(fmt::format("clock {} is too late", request.clock));
    }
    const uint64_t instructions =
        static_cast<uint64_t>(request.clock) * options.instructions_per_clock;
    const uint64_t plains = has_last && instructions > last ? instructions - last - 1 : 0;
    const std::string wrong =
        collector.Add(plains, request.is_write, request.line * kLineBytes, kLineBytes);
    if (!wrong.empty()) return trace.value().Wrong(wrong);
    // An access is an instruction: several of a clock take more than it has.
    last = has_last ? std::max(instructions, last + 1) : instructions;
    has_last = true;
  }
}

Status ReadLines(const std::string& path, TextFormat format, Collector& collector) {
  std::ifstream in(path);
  if (!in) return Status::FromErrno("open " + path, errno);
  TextLines lines(path);
  CsvLines csv;
  for (bool is_first = true;; is_first = false) {
    const Result<std::optional<std::string_view>> line = lines.Next(in);
    if (!line) return line.error();
    if (!line.value()) return Status::Ok();
    const std::string_view text = *line.value();
    if (text.find_first_not_of(" \t\r") == text.npos) continue;
    std::string wrong;
    switch (format) {
      case TextFormat::kRamulator2O3: wrong = AddO3(text, collector); break;
      case TextFormat::kRamulator2LoadStore: wrong = AddLoadStore(text, collector); break;
      default:
        if (!is_first || !text.starts_with(kNames)) wrong = csv.Add(text, collector);
    }
    if (!wrong.empty()) return lines.Wrong(wrong);
  }
}

}  // namespace

Result<TextFormat> ParseTextFormat(std::string_view name) {
  if (name == "dramsim3") return TextFormat::kDramsim3;
  if (name == "ramulator2-o3") return TextFormat::kRamulator2O3;
  if (name == "ramulator2-ls") return TextFormat::kRamulator2LoadStore;
  if (name == "csv") return TextFormat::kCsv;
  return Status(Code::kInvalidArgument,
                fmt::format("format '{}' is not one of {}", name, kTextFormats));
}

Status Validate(const TextOptions& options) {
  if (options.instructions_per_clock == 0) {
    return {Code::kInvalidArgument, "a clock must have at least one instruction"};
  }
  if (options.op_accesses == 0) {
    return {Code::kInvalidArgument, "an operation must have at least one access"};
  }
  return Status::Ok();
}

Result<std::unique_ptr<TraceSource>> ReadTextTrace(const std::string& path, TextFormat format,
                                                   const TextOptions& options) {
  Collector collector(options);
  const Status status = format == TextFormat::kDramsim3 ? ReadDramsim3(path, options, collector)
                                                        : ReadLines(path, format, collector);
  if (!status.ok()) return status;
  return std::unique_ptr<TraceSource>(
      std::make_unique<RecordList>(collector.Take(), options.memory_bytes));
}

}  // namespace weft::sim
