// tests/linearizability/history.h: what clients asked of one store, when, and the answers they got.
//
// A history is a list of operations by several processes (threads or connections) on several keys.
// Drivers write it, the checker reads it. Times are nanoseconds on one monotonic clock.
//
// Threads   values; a driver gives each process its own list and joins them at the end.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace weft::linearizability {

enum class Verb : uint8_t {
  kGet,
  kSet,
  kAdd,
  kReplace,
  kCas,
  kAppend,
  kPrepend,
  kDelete,
  kIncrement,
  kDecrement,
  kTouch
};

enum class Result : uint8_t {
  kUnknown,    // no answer came: it may have happened, now or later, or never
  kMiss,       // the key is absent: reads, deletes, touches, arithmetic, cas
  kValue,      // a read's value
  kStored,     // a write took effect
  kNotStored,  // add on a present key; replace, append, prepend on an absent one
  kExists,     // cas: the version is another one
  kDeleted,
  kTouched,
  kNumber,      // arithmetic's new value
  kNotNumeric,  // arithmetic on something else
  kFailed,      // no memory: nothing was stored
  kCleared,     // likewise, and what the key held is gone
};

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
inline constexpr uint64_t kNoVersion = 0;  // no store hands out version 0

struct Operation {
  Verb verb = Verb::kGet;
  Result result = Result::kUnknown;
  int process = 0;  // one process's operations take effect in their order in the list
  int64_t invoked_ns = 0;
  int64_t returned_ns = kNever;
  std::string key;
  std::string argument;                // what a write writes
  uint64_t delta = 0;                  // arithmetic
  uint64_t cas_expected = kNoVersion;  // cas
  std::string value;                   // kValue: what was read
  uint64_t number = 0;                 // kNumber
  uint64_t version = kNoVersion;       // version reported by a read or a write, if any
};

using History = std::vector<Operation>;

std::string_view VerbName(Verb verb);
std::string_view ResultName(Result result);

// "[1200 .. 3400] p2 cas k7 "v3" expecting 41 -> exists"
std::string ToString(const Operation& operation);

}  // namespace weft::linearizability
