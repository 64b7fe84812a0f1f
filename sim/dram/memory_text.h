// sim/dram/memory_text.h: the values in a memory's file, by section and key, and how each is read.
//
// The first error is kept, and whatever is read after it is of no use: whoever asks for values must
// ask for the status in the end.
//
// Threads   one owner.
// Errors    kInvalidArgument: "file:line: key: what is wrong", or "file: [section] key: ..." of
//           what is missing.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <string_view>

#include "sim/base/text_lines.h"
#include "weft/status.h"

namespace weft::sim {

// What is wrong with a time's text, or "". `clocks`: of `tck_ns`; without it, only a number is a
// time.
std::string ParseClocks(std::string_view text, double tck_ns, double* clocks);

class MemoryText {
 public:
  static constexpr int kClocksMax = 1'000'000;

  // Lines are `[section]` and `key = value`; '#' begins a comment. The sections are those of a
  // memory's file, and its keys.
  static Result<MemoryText> Read(std::istream& in, const std::string& name);

  bool Has(const std::string& key) const { return values_.contains(key); }
  bool HasSection(const std::string& section) const { return sections_.contains(section); }

  // Of keys that must be there.
  std::string Word(const std::string& key);
  int Count(const std::string& key, int64_t min, int64_t max);
  int PowerOfTwo(const std::string& key, int64_t min, int64_t max);
  int Clocks(const std::string& key, double tck_ns, int min);
  double Nanoseconds(const std::string& key);
  // `unit` may stand behind the number.
  double Decimal(const std::string& key, const char* unit, double min, double max);

  // The key's value is wrong, for this reason.
  void Wrong(const std::string& key, const std::string& what);
  const Status& status() const { return status_; }

 private:
  struct Value {
    std::string text;
    uint64_t line = 0;
  };
  explicit MemoryText(std::string name) : name_(std::move(name)) {}

  // What is wrong with the line, or "".
  std::string Take(std::string_view line, uint64_t number, std::string* section);
  // Null, and an error: there is none.
  const Value* Find(const std::string& key);

  std::string name_;
  std::map<std::string, Value> values_;       // by key: no two sections share one
  std::map<std::string, uint64_t> sections_;  // the line of each
  Status status_;
};

}  // namespace weft::sim
