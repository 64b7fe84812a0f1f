#include "bench/trace/csv_columns.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/trace/field.h"

namespace weft::bench {
namespace {

constexpr uint64_t kCsvColumnsMax = 1000;
constexpr char kDelimiters[] = {'\t', ',', ';'};  // the first that fits: the rarest in keys

using CsvColumn = std::optional<size_t> CsvColumns::*;

constexpr std::pair<std::string_view, CsvColumn> kOptionNames[] = {{"time", &CsvColumns::time},
                                                                   {"key", &CsvColumns::key},
                                                                   {"size", &CsvColumns::size},
                                                                   {"op", &CsvColumns::op},
                                                                   {"ttl", &CsvColumns::ttl}};

constexpr std::pair<std::string_view, CsvColumn> kHeaderNames[] = {
    {"time", &CsvColumns::time},       {"timestamp", &CsvColumns::time},
    {"ts", &CsvColumns::time},         {"clock_time", &CsvColumns::time},
    {"key", &CsvColumns::key},         {"id", &CsvColumns::key},
    {"obj_id", &CsvColumns::key},      {"object_id", &CsvColumns::key},
    {"obj", &CsvColumns::key},         {"size", &CsvColumns::size},
    {"obj_size", &CsvColumns::size},   {"object_size", &CsvColumns::size},
    {"value_size", &CsvColumns::size}, {"bytes", &CsvColumns::size},
    {"op", &CsvColumns::op},           {"operation", &CsvColumns::op},
    {"ttl", &CsvColumns::ttl}};

CsvColumn ColumnNamed(std::string_view field) {
  std::string name(CsvField(field));
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  for (const auto& [known, column] : kHeaderNames) {
    if (name == known) return column;
  }
  return nullptr;
}

Status BadColumns(std::string_view text, std::string_view why) {
  return {Code::kInvalidArgument,
          fmt::format("columns {}: {}; such as 'time=1,key=2,size=3,op=4,ttl=5', where only the "
                      "key must be",
                      ShownField(text), why)};
}

// "" or what is wrong.
std::string ParseOneColumn(std::string_view text, CsvColumns* columns) {
  const size_t equals = text.find('=');
  const std::string_view name = WithoutSpaces(text.substr(0, equals));
  const auto* known = std::find_if(std::begin(kOptionNames), std::end(kOptionNames),
                                   [name](const auto& option) { return option.first == name; });
  if (equals == std::string_view::npos || known == std::end(kOptionNames)) {
    return ShownField(text) + " is not a column";
  }
  uint64_t number = 0;
  std::string wrong = ReadCount("column", text.substr(equals + 1), kCsvColumnsMax, &number);
  if (!wrong.empty()) return wrong;
  if (number == 0) return "columns count from 1";
  std::optional<size_t>& column = columns->*known->second;
  if (column) return fmt::format("{} is given twice", known->first);
  column = number - 1;
  return "";
}

size_t ColumnsNeeded(const CsvColumns& columns) {
  size_t needed = 0;
  for (const auto& [name, column] : kOptionNames) {
    if (columns.*column) needed = std::max(needed, *(columns.*column) + 1);
  }
  return needed;
}

bool HasDigit(std::string_view field) {
  return field.find_first_of("0123456789") != std::string_view::npos;
}

bool AreNames(const std::vector<std::string_view>& fields, const CsvColumns& columns) {
  bool has_numbers = false;
  for (const auto& column : {columns.time, columns.size, columns.ttl}) {
    if (!column) continue;
    has_numbers = true;
    if (HasDigit(fields[*column])) return false;
  }
  return has_numbers || ColumnNamed(fields[*columns.key]) != nullptr;
}

}  // namespace

std::string_view CsvField(std::string_view field) {
  field = WithoutSpaces(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
    field = field.substr(1, field.size() - 2);
  }
  return field;
}

Result<CsvColumns> ParseCsvColumns(std::string_view text) {
  CsvColumns columns;
  std::vector<std::string_view> fields;
  SplitFields(text, ',', &fields);
  for (const std::string_view field : fields) {
    const std::string wrong = ParseOneColumn(field, &columns);
    if (!wrong.empty()) return BadColumns(text, wrong);
  }
  if (!columns.key) return BadColumns(text, "it has no column of keys");
  return columns;
}

Result<std::optional<CsvLayout>> CsvLayoutOfNames(std::string_view first_line) {
  std::vector<std::string_view> fields;
  for (const char delimiter : kDelimiters) {
    SplitFields(first_line, delimiter, &fields);
    CsvLayout layout{.delimiter = delimiter, .columns = fields.size(), .of = {}, .has_names = true};
    for (size_t i = 0; i < fields.size(); ++i) {
      const CsvColumn named = ColumnNamed(fields[i]);
      if (named == nullptr) continue;
      std::optional<size_t>& column = layout.of.*named;
      if (column) {
        return Status(
            Code::kInvalidArgument,
            fmt::format("its first line has {} and {} for the same thing: name one by columns",
                        ShownField(fields[*column]), ShownField(fields[i])));
      }
      column = i;
    }
    if (layout.of.key) return std::optional(layout);
  }
  return std::optional<CsvLayout>();
}

Result<CsvLayout> CsvLayoutOf(std::string_view first_line, const CsvColumns& columns) {
  const size_t needed = ColumnsNeeded(columns);
  std::vector<std::string_view> fields;
  CsvLayout layout{.delimiter = ',', .columns = 0, .of = columns, .has_names = false};
  for (const char delimiter : kDelimiters) {
    layout.delimiter = delimiter;
    SplitFields(first_line, delimiter, &fields);
    // One that the line has not would fit where one column is needed.
    if (fields.size() >= std::max(needed, size_t{2})) break;
  }
  if (fields.size() < needed) {
    return Status(Code::kInvalidArgument,
                  fmt::format("its first line has fewer than {} columns", needed));
  }
  layout.columns = fields.size();
  layout.has_names = AreNames(fields, columns);
  return layout;
}

}  // namespace weft::bench
