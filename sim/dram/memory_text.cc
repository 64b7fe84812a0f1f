#include "sim/dram/memory_text.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "sim/base/words.h"

namespace weft::sim {
namespace {

struct KnownKey {
  const char* key;
  const char* section;  // "" is before all of them
};
constexpr KnownKey kKeys[] = {{"name", ""},
                              {"ranks", "shape"},
                              {"bank_groups", "shape"},
                              {"banks_per_group", "shape"},
                              {"rows", "shape"},
                              {"columns", "shape"},
                              {"channel_bits", "shape"},
                              {"burst_length", "shape"},
                              {"data_per_clock", "shape"},
                              {"devices", "shape"},
                              {"column_bus", "shape"},
                              {"tCK", "timing"},
                              {"CL", "timing"},
                              {"CWL", "timing"},
                              {"tRCD", "timing"},
                              {"tRCD_RD", "timing"},
                              {"tRCD_WR", "timing"},
                              {"tRP", "timing"},
                              {"tRAS", "timing"},
                              {"tRC", "timing"},
                              {"tRRD", "timing"},
                              {"tRRD_S", "timing"},
                              {"tRRD_L", "timing"},
                              {"tFAW", "timing"},
                              {"tWR", "timing"},
                              {"tWTR", "timing"},
                              {"tWTR_S", "timing"},
                              {"tWTR_L", "timing"},
                              {"tRTP", "timing"},
                              {"tCCD", "timing"},
                              {"tCCD_S", "timing"},
                              {"tCCD_L", "timing"},
                              {"tCCD_L_WR", "timing"},
                              {"tRFC", "timing"},
                              {"tREFI", "timing"},
                              {"tRTRS", "timing"},
                              {"tXP", "timing"},
                              {"tCKE", "timing"},
                              {"tRFCpb", "timing"},
                              {"tRREFD", "timing"},
                              {"VDD", "currents"},
                              {"IDD0", "currents"},
                              {"IDD2P", "currents"},
                              {"IDD2N", "currents"},
                              {"IDD3N", "currents"},
                              {"IDD4R", "currents"},
                              {"IDD4W", "currents"},
                              {"IDD5", "currents"},
                              {"VPP", "currents"},
                              {"IPP0", "currents"},
                              {"IPP2P", "currents"},
                              {"IPP2N", "currents"},
                              {"IPP3N", "currents"},
                              {"IPP4R", "currents"},
                              {"IPP4W", "currents"},
                              {"IPP5", "currents"}};
constexpr const char* kSections[] = {"shape", "timing", "currents"};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// A number and what stands behind it, with a blank between or without.
struct Quantity {
  double number = 0;
  std::string_view unit;
};
std::optional<Quantity> ParseQuantity(std::string_view text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  Quantity quantity;
  if (!base::ParseFinite(text.substr(0, end), &quantity.number)) return std::nullopt;
  quantity.unit = Trimmed(text.substr(end));
  return quantity;
}

// Up to a whole clock, but for what the digits of tCK that data sheets cut off make.
double ClocksOf(double ns, double tck_ns) {
  constexpr double kFarNs = 1e9;
  if (ns > kFarNs) return ns / tck_ns;  // more than any memory has
  const int64_t time_fs = std::llround(ns * 1e6);
  const int64_t tck_fs = std::llround(tck_ns * 1e6);
  const int64_t whole = time_fs / tck_fs;
  constexpr int64_t kCutOffFs = 1000;
  return static_cast<double>(whole * (tck_fs + kCutOffFs) >= time_fs ? whole : whole + 1);
}

const char* SectionOf(std::string_view key) {
  const auto* const at = std::find_if(std::begin(kKeys), std::end(kKeys),
                                      [&](const KnownKey& known) { return key == known.key; });
  return at == std::end(kKeys) ? nullptr : at->section;
}

std::string KeysOf(std::string_view section) {
  std::string keys;
  for (const KnownKey& known : kKeys) {
    if (section == known.section) keys += (keys.empty() ? "" : ", ") + std::string(known.key);
  }
  return keys;
}

// "[timing]", or "text before the first section".
std::string Named(const std::string& section) {
  return section.empty() ? "text before the first section" : "[" + section + "]";
}

}  // namespace

std::string ParseClocks(std::string_view text, double tck_ns, double* clocks) {
  constexpr std::string_view kMax = "max(";
  if (text.starts_with(kMax)) {
    const size_t comma = text.find(',');
    if (!text.ends_with(')') || comma == text.npos) return Quoted(text) + " is not a max(A, B)";
    double other = 0;
    text.remove_suffix(1);
    std::string wrong =
        ParseClocks(Trimmed(text.substr(kMax.size(), comma - kMax.size())), tck_ns, clocks);
    if (wrong.empty()) wrong = ParseClocks(Trimmed(text.substr(comma + 1)), tck_ns, &other);
    *clocks = std::max(*clocks, other);
    return wrong;
  }
  const std::optional<Quantity> quantity = ParseQuantity(text);
  const bool is_clocks = quantity && (quantity->unit.empty() || quantity->unit == "nCK");
  if (is_clocks && quantity->number != std::floor(quantity->number)) {
    return Quoted(text) + " is not a whole number of clocks (a time needs ns or us after it)";
  }
  if (is_clocks) {
    *clocks = quantity->number;
  } else if (quantity && (quantity->unit == "ns" || quantity->unit == "us")) {
    *clocks = ClocksOf(quantity->number * (quantity->unit == "us" ? 1000 : 1), tck_ns);
  } else {
    return Quoted(text) + " is not a time such as 36, 15 ns, 3.9 us or max(8, 5 ns)";
  }
  return "";
}

Result<MemoryText> MemoryText::Read(std::istream& in, const std::string& name) {
  MemoryText text(name);
  TextLines lines(name);
  std::string section;
  for (uint64_t number = 1;; ++number) {
    const Result<std::optional<std::string_view>> line = lines.Next(in);
    if (!line) return line.error();
    if (!line.value()) return text;
    const std::string wrong = text.Take(*line.value(), number, &section);
    if (!wrong.empty()) return lines.Wrong(wrong);
  }
}

std::string MemoryText::Take(std::string_view line, uint64_t number, std::string* section) {
  line = Trimmed(line.substr(0, line.find('#')));
  if (line.empty()) return "";
  if (line.front() == '[') {
    const std::string_view named = Trimmed(line.substr(1, line.size() - 1 - line.ends_with(']')));
    const bool is_known =
        line.ends_with(']') &&
        std::find(std::begin(kSections), std::end(kSections), named) != std::end(kSections);
    if (!is_known) return Quoted(line) + " is not [shape], [timing] or [currents]";
    *section = named;
    if (!sections_.emplace(named, number).second) return Named(*section) + " is already there";
    return "";
  }
  const size_t equals = line.find('=');
  if (equals == line.npos) return Quoted(line) + " is neither [section] nor key = value";
  const std::string key(Trimmed(line.substr(0, equals)));
  const std::string_view value = Trimmed(line.substr(equals + 1));
  const char* const home = SectionOf(key);
  if (home == nullptr) {
    return fmt::format("{} is not a key of {}, which has: {}", Quoted(key), Named(*section),
                       KeysOf(*section));
  }
  if (*section != home) return fmt::format("{}: it belongs in {}", key, Named(home));
  if (value.empty()) return key + ": it has no value";
  const auto [at, is_new] = values_.emplace(key, Value{std::string(value), number});
  return is_new ? "" : fmt::format("{}: it is already in line {}", key, at->second.line);
}

const MemoryText::Value* MemoryText::Find(const std::string& key) {
  const auto at = values_.find(key);
  if (at != values_.end()) return &at->second;
  if (status_.ok()) {
    status_ = {Code::kInvalidArgument,
               fmt::format("{}: [{}] {}: it is missing", name_, SectionOf(key), key)};
  }
  return nullptr;
}

void MemoryText::Wrong(const std::string& key, const std::string& what) {
  if (!status_.ok()) return;
  const auto at = values_.find(key);
  const std::string place = at == values_.end()
                                ? fmt::format("{}: [{}] {}", name_, SectionOf(key), key)
                                : fmt::format("{}:{}: {}", name_, at->second.line, key);
  status_ = {Code::kInvalidArgument, place + ": " + what};
}

std::string MemoryText::Word(const std::string& key) {
  const Value* const value = Find(key);
  return value == nullptr ? "" : value->text;
}

int MemoryText::Count(const std::string& key, int64_t min, int64_t max) {
  const Value* const value = Find(key);
  if (value == nullptr) return static_cast<int>(min);
  int64_t count = 0;
  if (base::ParseNumber(value->text, &count) && count >= min && count <= max) {
    return static_cast<int>(count);
  }
  Wrong(key, fmt::format("{} is not a whole number from {} to {}", Quoted(value->text), min, max));
  return static_cast<int>(min);
}

int MemoryText::PowerOfTwo(const std::string& key, int64_t min, int64_t max) {
  const int count = Count(key, min, max);
  if (std::has_single_bit(static_cast<uint64_t>(count))) return count;
  Wrong(key, fmt::format("{} is not a power of two", count));
  return static_cast<int>(min);
}

int MemoryText::Clocks(const std::string& key, double tck_ns, int min) {
  const Value* const value = Find(key);
  if (value == nullptr) return min;
  double clocks = 0;
  const std::string wrong = ParseClocks(value->text, tck_ns, &clocks);
  if (!wrong.empty()) {
    Wrong(key, wrong);
    return min;
  }
  if (clocks >= min && clocks <= kClocksMax) return static_cast<int>(clocks);
  Wrong(key, fmt::format("{} is not {} to {} clocks of {} ns", Quoted(value->text), min, kClocksMax,
                         tck_ns));
  return min;
}

double MemoryText::Nanoseconds(const std::string& key) {
  constexpr double kMin = 0.05;
  constexpr double kMax = 100;
  const Value* const value = Find(key);
  if (value == nullptr) return 1;
  const std::optional<Quantity> quantity = ParseQuantity(value->text);
  if (!quantity || quantity->unit != "ns" || quantity->number < kMin || quantity->number > kMax) {
    Wrong(key, fmt::format("{} is not from {} ns to {} ns", Quoted(value->text), kMin, kMax));
    return 1;
  }
  const double picoseconds = std::round(quantity->number * 1000);
  if (std::abs(quantity->number * 1000 - picoseconds) > 1e-6) {
    Wrong(key,
          Quoted(value->text) + " is not a whole number of picoseconds: no digit after the third");
  }
  return quantity->number;
}

double MemoryText::Decimal(const std::string& key, const char* unit, double min, double max) {
  const Value* const value = Find(key);
  if (value == nullptr) return max;
  const std::optional<Quantity> quantity = ParseQuantity(value->text);
  const bool is_one = quantity && (quantity->unit.empty() || quantity->unit == unit);
  if (is_one && quantity->number >= min && quantity->number <= max) return quantity->number;
  Wrong(key, fmt::format("{} is not from {} to {} {}", Quoted(value->text), min, max, unit));
  return max;
}

}  // namespace weft::sim
