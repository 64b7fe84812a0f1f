// tests/durable/kit.h: what the tests of the durable store share: arguments, seeds, randomness,
// failing.
//
//   --runs N         how many runs             --seed S    of the first run (default: WEFT_SEED
//                                                          or 1)
//   --seconds-max T  stop early after T s      --long      the long form
//   --store NAME     weft (default) or leveldb: the latter shows that the test itself is right
//   --folder DIR     where files go (default: in memory, or TMPDIR or /tmp)
//
// Run number i has the seed S + i, and everything a run decides comes from its seed. A failed run
// says how to repeat it alone.
//
// Threads   Fail and Progress: any thread. The rest: the main thread.
// Errors    Fail ends the program with status 1; wrong arguments end it with 2.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "weft/status.h"

namespace weft::durable {

struct Arguments {
  uint64_t runs = 0;
  uint64_t seed = 1;
  double seconds_max = 1e9;
  bool is_long = false;
  std::string store = "weft";
  std::string folder;
  std::vector<std::string> rest;  // the program's own

  bool Has(std::string_view word) const;
};

// `runs` is the number of runs without --runs; `runs_long` the one with --long.
Arguments ParseArguments(int argc, char** argv, uint64_t runs, uint64_t runs_long);

// Calls `run` for each seed and prints what was done. A run of twenty minutes counts as hung, and
// ends the program like a failed one.
int RunAll(const Arguments& arguments, const std::function<void(uint64_t seed)>& run);

// Says what went wrong, with the seed and the command that repeats it. Flushes, then ends the
// program.
[[noreturn]] void Fail(const std::string& message);
inline void Require(bool holds, const std::string& message) {
  if (!holds) Fail(message);
}
void RequireOk(const Status& status, std::string_view what);

// Notes what the run is doing, in a line to show if it fails, crashes or hangs. Keeps the last few.
void Note(const std::string& line);

// Counts things worth knowing at the end ("kills", "keys checked"): shown by RunAll.
void Count(const std::string& what, uint64_t by = 1);

// Bytes in readable form: printable ones as they are, others as \xNN; long ones are cut.
std::string Shown(std::string_view bytes);

// base/random.h's numbers from states of its own, so that a seed means what it always has; and
// draws that histories of a store need.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * base::kRandomStep + 0x1234567) {}
  uint64_t Next() { return base::Mix(state_ += base::kRandomStep); }
  // REQUIRES: n > 0
  uint64_t Below(uint64_t n) { return Next() % n; }
  // Both included.
  uint64_t Between(uint64_t low, uint64_t high) { return low + Below(high - low + 1); }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // Small numbers as likely as large ones: 2 to the power of an even draw, below n.
  uint64_t Skewed(uint64_t n);
  template <typename T>
  const T& Of(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }
  // Bytes that compress to about half.
  std::string Bytes(size_t count);

 private:
  uint64_t state_;
};

// A new folder under arguments.folder. Removed with all in it at the end, unless the run failed.
class TempFolder {
 public:
  // `on_disk`: not in memory, unless the arguments say so.
  explicit TempFolder(const Arguments& arguments, bool on_disk = false);
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace weft::durable
