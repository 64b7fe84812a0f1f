// Columns of text, in the order that the first line or the options say (csv_columns.h), separated
// by a comma, a semicolon or a tab: what libCacheSim calls csv.
//
// Numbers   the time, whose fraction does not count, the size in bytes and the time to live.
// Keys      any text without the delimiter. One that is not a number has as many bytes as are
// there;
//           a number stands for a key whose length is unknown.
// op        memcached's words; read is get, write, put and update are set. Without the column all
//           are gets.
// Quotes    around a field are dropped. They do not protect a delimiter within it: such a line has
//           a column too many, and is damaged.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.h"
#include "bench/trace/csv_columns.h"
#include "bench/trace/field.h"
#include "bench/trace/line_source.h"
#include "bench/trace/reader.h"

namespace weft::bench {
namespace {

std::optional<TraceOperation> CsvOperation(std::string_view field) {
  std::string word(field);
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (word == "read") return TraceOperation::kGet;
  if (word == "write" || word == "put" || word == "update") return TraceOperation::kSet;
  return OperationOfWord(word);
}

bool IsNumber(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

class CsvReader final : public TraceReader {
 public:
  CsvReader(std::unique_ptr<ByteSource> source, std::optional<CsvColumns> columns)
      : lines_(std::move(source)), columns_(columns) {}

  Result<bool> Next(ReadRequest* request) override {
    std::string_view line;
    auto more = lines_.Next(&line);
    if (more && *more && layout_.columns == 0) {
      if (Status status = FindLayout(line); !status.ok()) return status;
      if (layout_.has_names) more = lines_.Next(&line);
    }
    if (!more || !*more) return more;
    const std::string wrong = ParseLine(line, request);
    if (!wrong.empty()) return Damaged(wrong);
    return true;
  }
  Status Damaged(std::string_view what) const override { return lines_.Damaged(what); }

 private:
  Status FindLayout(std::string_view first_line) {
    if (columns_) {
      auto layout = CsvLayoutOf(first_line, *columns_);
      if (!layout) return InFile(layout.error().message());
      layout_ = *layout;
      return Status::Ok();
    }
    auto layout = CsvLayoutOfNames(first_line);
    if (!layout) return InFile(layout.error().message());
    if (!*layout) {
      return InFile(
          "its first line names no column of keys (key, obj_id, ...): name it by columns");
    }
    layout_ = **layout;
    return Status::Ok();
  }

  Status InFile(std::string_view what) const {
    return {Code::kInvalidArgument, fmt::format("{}: {}", lines_.path(), what)};
  }

  // "" or what is wrong, as in the following ones.
  std::string ParseLine(std::string_view line, ReadRequest* request) {
    SplitFields(line, layout_.delimiter, &fields_);
    if (fields_.size() != layout_.columns) {
      return fmt::format("it has {} columns, and the first line has {}", fields_.size(),
                         layout_.columns);
    }
    for (std::string_view& field : fields_) field = CsvField(field);
    const std::string_view key = fields_[*layout_.of.key];
    if (key.empty()) return "it has no key";
    request->key = base::HashBytes(key);
    if (!IsNumber(key)) request->key_bytes = static_cast<uint32_t>(key.size());
    return ParseOthers(request);
  }

  std::string ParseOthers(ReadRequest* request) const {
    const CsvColumns& of = layout_.of;
    std::string wrong;
    if (of.time) wrong = ReadWholePart("time", fields_[*of.time], UINT64_MAX, &request->time_s);
    if (wrong.empty() && of.op) {
      const std::optional<TraceOperation> operation = CsvOperation(fields_[*of.op]);
      if (!operation) return ShownField(fields_[*of.op]) + " is not an operation";
      request->operation = *operation;
    }
    uint64_t bytes = 0, ttl_s = 0;
    if (wrong.empty() && of.size) {
      wrong = ReadCount("size", fields_[*of.size], UINT64_MAX, &bytes);
      request->value_bytes = SizeIfKnown(bytes, request->operation == TraceOperation::kSet);
    }
    if (wrong.empty() && of.ttl) {
      wrong = ReadCount("time to live", fields_[*of.ttl], UINT32_MAX, &ttl_s);
      request->ttl_s = static_cast<uint32_t>(ttl_s);
    }
    return wrong;
  }

  LineSource lines_;
  const std::optional<CsvColumns> columns_;
  CsvLayout layout_;
  std::vector<std::string_view> fields_;
};

}  // namespace

MadeReader MakeCsvReader(std::unique_ptr<ByteSource> source, const TraceOptions& options) {
  std::optional<CsvColumns> columns;
  if (!options.columns.empty()) {
    auto parsed = ParseCsvColumns(options.columns);
    if (!parsed) return parsed.error();
    columns = *parsed;
  }
  return std::unique_ptr<TraceReader>(std::make_unique<CsvReader>(std::move(source), columns));
}

}  // namespace weft::bench
