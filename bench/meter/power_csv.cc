#include "bench/meter/power_csv.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace weft::bench {
namespace {

constexpr double kFirstEpochS = 1e8;  // 1973: no run began before, and none took three years
constexpr double kLastEpochS = 1e11;  // beyond it the unit is not seconds

const std::vector<std::string> kTimes = {"time", "timestamp", "t", "time_s", "seconds", "date"};
const std::vector<std::string> kPowers = {"watts", "power_w", "power", "w"};

Status Wrong(const std::string& what) { return {Code::kInvalidArgument, what}; }

std::string Trimmed(const std::string& text) {
  const char* const kBlank = " \t\r\"";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string> Cells(const std::string& line, char separator) {
  std::vector<std::string> cells;
  std::istringstream parts(line);
  for (std::string part; std::getline(parts, part, separator);) cells.push_back(Trimmed(part));
  return cells;
}

char SeparatorOf(const std::string& line) {
  for (const char separator : {'\t', ';'})
    if (line.find(separator) != std::string::npos) return separator;
  return ',';
}

std::optional<double> FiniteNumberOf(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(number)) return std::nullopt;
  return number;
}

// Which column has one of these names; none, or an error, where there is not exactly one.
Result<size_t> Column(const std::vector<std::string>& header, const std::vector<std::string>& names,
                      const char* what) {
  std::optional<size_t> found;
  for (size_t i = 0; i < header.size(); ++i) {
    std::string name = header[i];
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    if (found)
      return Wrong(fmt::format("two columns of {}: {}, {}", what, header[*found], header[i]));
    found = i;
  }
  if (found) return *found;
  return Wrong(fmt::format("no column of {} (one of {}) in the first line: {}", what,
                           fmt::join(names, ", "), fmt::join(header, ", ")));
}

struct Columns {
  char separator;
  size_t time, power;
};

Result<Columns> ColumnsOf(const std::string& line) {
  const char separator = SeparatorOf(line);
  const std::vector<std::string> header = Cells(line, separator);
  auto time = Column(header, kTimes, "times");
  if (!time) return time.error();
  auto power = Column(header, kPowers, "watts");
  if (!power) return power.error();
  return Columns{separator, *time, *power};
}

Status AddLine(const Columns& columns, const std::string& line, PowerTable* table) {
  const std::vector<std::string> cells = Cells(line, columns.separator);
  if (cells.size() <= std::max(columns.time, columns.power)) return Wrong("too few columns");
  auto time = FiniteNumberOf(cells[columns.time]);
  const bool since_start = time && *time < kFirstEpochS;
  if (!time) time = ParseIso8601(cells[columns.time]);
  if (!time) return Wrong(fmt::format("{} is not a time", cells[columns.time]));
  if (*time > kLastEpochS) return Wrong(fmt::format("{} is not in seconds", cells[columns.time]));
  const auto power = FiniteNumberOf(cells[columns.power]);
  if (!power) return Wrong(fmt::format("{} is not a number of watts", cells[columns.power]));
  if (table->trace.size() > 0 && since_start != table->since_start)
    return Wrong("times are partly since 1970 and partly since the start");
  table->since_start = since_start;
  return table->trace.Add(Seconds(*time), Watts(*power));
}

Seconds EpochNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Seconds(std::chrono::duration<double>(now).count());
}

// Seconds east of UTC of "Z", "+01:00", "-0530" or nothing.
std::optional<int> OffsetOf(const std::string& zone) {
  if (zone.empty() || zone == "Z" || zone == "z") return 0;
  int hours = 0, minutes = 0, used = 0;
  const bool known = (std::sscanf(zone.c_str() + 1, "%2d:%2d%n", &hours, &minutes, &used) == 2 ||
                      std::sscanf(zone.c_str() + 1, "%2d%2d%n", &hours, &minutes, &used) == 2) &&
                     static_cast<size_t>(used) + 1 == zone.size() &&
                     (zone[0] == '+' || zone[0] == '-');
  if (!known || hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return std::nullopt;
  return (zone[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

}  // namespace

std::optional<double> ParseIso8601(const std::string& text) {
  tm date{};
  double seconds = 0;
  char between = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%c%2d:%2d:%n", &date.tm_year, &date.tm_mon,
                  &date.tm_mday, &between, &date.tm_hour, &date.tm_min, &used) != 6 ||
      used == 0 || (between != 'T' && between != ' ')) {
    return std::nullopt;
  }
  size_t end = text.find_first_not_of("0123456789.", static_cast<size_t>(used));
  if (end == std::string::npos) end = text.size();
  const auto number =
      FiniteNumberOf(text.substr(static_cast<size_t>(used), end - static_cast<size_t>(used)));
  const auto offset = OffsetOf(text.substr(end));
  if (!number || !offset) return std::nullopt;
  seconds = *number;
  if (date.tm_mon < 1 || date.tm_mon > 12 || date.tm_mday < 1 || date.tm_mday > 31 ||
      date.tm_hour > 23 || date.tm_min > 59 || seconds >= 61) {
    return std::nullopt;
  }
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  return static_cast<double>(timegm(&date)) + seconds - *offset;
}

Result<PowerTable> ParsePowerCsv(const std::string& text) {
  PowerTable table;
  std::optional<Columns> columns;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (Trimmed(line).empty() || line[0] == '#') continue;
    Status status;
    if (columns) {
      status = AddLine(*columns, line, &table);
    } else if (auto found = ColumnsOf(line)) {
      columns = *found;
    } else {
      status = found.error();
    }
    if (!status.ok()) return Wrong(fmt::format("line {}: {}", number, status.message()));
  }
  if (!columns) return Wrong("the table is empty");
  return table;
}

Status PowerCsv::Start() {
  begin_ = EpochNow();
  return Status::Ok();
}

Result<Joules> PowerCsv::Used() { return UsedBetween(begin_, EpochNow()); }

Result<Joules> PowerCsv::UsedBetween(Seconds begin, Seconds end) const {
  std::ifstream file(path_);
  if (!file) return Status(Code::kNotFound, "cannot read " + path_);
  auto table = ParsePowerCsv({std::istreambuf_iterator<char>(file), {}});
  if (!table) return Wrong(fmt::format("{}: {}", path_, table.error().message()));
  const Seconds from = table->since_start ? Seconds(0) : begin;
  auto energy = table->trace.Between(from, from + (end - begin), gap_max_);
  if (!energy) return Wrong(fmt::format("{}: {}", path_, energy.error().message()));
  return energy;
}

}  // namespace weft::bench
