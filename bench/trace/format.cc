#include "bench/trace/format.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/trace/csv_columns.h"
#include "bench/trace/field.h"

namespace weft::bench {
namespace {

struct FormatRow {
  std::string_view name, meaning;
  MadeReader (*make)(std::unique_ptr<ByteSource>, const TraceOptions&);
};

constexpr FormatRow kFormats[] = {
    {"be32", "32-bit big-endian integers, one a request", MakeBe32Reader},
    {"numbers", "a decimal number a line", MakeNumbersReader},
    {"cloudphysics", "lines of version,time,op,size,lbn", MakeCloudPhysicsReader},
    {"oracle-general", "libCacheSim's oracleGeneral, records of 24 bytes", MakeOracleGeneralReader},
    {"csv", "columns of text that the first line or --columns names", MakeCsvReader},
    {"twitter", "Twitter's cache-trace, 7 columns of text", MakeTwitterReader},
};

const FormatRow* FindFormat(std::string_view name) {
  const auto* row = std::find_if(std::begin(kFormats), std::end(kFormats),
                                 [name](const FormatRow& each) { return each.name == name; });
  return row == std::end(kFormats) ? nullptr : row;
}

std::string FormatNames() {
  std::string names;
  for (const FormatRow& row : kFormats) {
    names += names.empty() ? "" : ", ";
    names += row.name;
  }
  return names;
}

bool IsLineBreak(char c) { return c == '\n' || c == '\r'; }

bool IsText(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return IsLineBreak(c) || c == '\t' || static_cast<uint8_t>(c) >= ' ';
  });
}

// The first that has text. None: a line longer than what is ready.
std::optional<std::string_view> FirstLine(std::string_view ready, bool is_all) {
  while (!ready.empty()) {
    const size_t end = ready.find('\n');
    if (end == std::string_view::npos && !is_all) return std::nullopt;
    std::string_view line = ready.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!WithoutSpaces(line).empty()) return line;
    if (end == std::string_view::npos) break;
    ready.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::string_view FormatOfLine(std::string_view line) {
  if (line == kCloudPhysicsNames) return "cloudphysics";
  const std::optional<TwitterLine> columns = SplitTwitterLine(line);
  if (columns && OperationOfWord(columns->operation)) return "twitter";
  if (WithoutSpaces(line).find_first_not_of("0123456789") == std::string_view::npos) {
    return "numbers";
  }
  auto layout = CsvLayoutOfNames(line);
  // One that names two columns for one thing is csv, too; its reader says what is wrong.
  return !layout || *layout ? "csv" : "";
}

std::string_view FileOfPath(std::string_view path) { return path.substr(path.rfind('/') + 1); }

Result<const FormatRow*> FormatOf(const TraceOptions& options, ByteSource& source) {
  if (!options.format.empty()) return FindFormat(options.format);
  if (!options.columns.empty()) return FindFormat("csv");
  if (FileOfPath(source.path()).find("oracleGeneral") != std::string_view::npos) {
    return FindFormat("oracle-general");
  }
  auto ahead = source.Ahead(1);
  if (!ahead) return ahead.error();
  if (ahead->empty()) return Status(Code::kCorruption, source.path() + ": it is empty");
  const std::string_view ready = source.ready();
  const std::optional<uint64_t> bytes = source.BytesLeft();
  const std::optional<std::string_view> line = FirstLine(ready, bytes == ready.size());
  const std::string_view name = line ? FormatOfLine(*line) : "";
  if (!name.empty()) return FindFormat(name);
  if (!IsText(ready) && (!bytes || *bytes % sizeof(uint32_t) == 0)) return FindFormat("be32");
  return Status(Code::kInvalidArgument,
                fmt::format("{}: its format cannot be recognized by its start; name one of {}",
                            source.path(), FormatNames()));
}

}  // namespace

const std::vector<TraceFormat>& TraceFormats() {
  static const std::vector<TraceFormat> formats = [] {
    std::vector<TraceFormat> list;
    for (const FormatRow& row : kFormats) {
      list.push_back({std::string(row.name), std::string(row.meaning)});
    }
    return list;
  }();
  return formats;
}

Status CheckFormatOptions(const TraceOptions& options) {
  if (!options.format.empty() && FindFormat(options.format) == nullptr) {
    return {Code::kInvalidArgument, fmt::format("{} is not a trace format; the formats are {}",
                                                ShownField(options.format), FormatNames())};
  }
  if (!options.columns.empty() && !options.format.empty() && options.format != "csv") {
    return {Code::kInvalidArgument,
            fmt::format("the format {} has fixed columns; only csv has a choice", options.format)};
  }
  return Status::Ok();
}

MadeReader MakeReader(std::unique_ptr<ByteSource> source, const TraceOptions& options,
                      std::string* name) {
  auto format = FormatOf(options, *source);
  if (!format) return format.error();
  *name = (*format)->name;
  return (*format)->make(std::move(source), options);
}

std::string TraceNameOf(const std::string& path) {
  static constexpr std::string_view kEndings[] = {
      ".xz", ".gz", ".zst", ".trace", ".csv", ".tsv", ".txt", ".oracleGeneral", ".bin", ".sort"};
  std::string_view name = FileOfPath(path);
  for (bool is_cut = true; is_cut;) {
    is_cut = false;
    for (const std::string_view ending : kEndings) {
      if (name.size() <= ending.size() || !name.ends_with(ending)) continue;
      name.remove_suffix(ending.size());
      is_cut = true;
    }
  }
  return std::string(name);
}

}  // namespace weft::bench
