// bench/walk/crew.h: pinned threads that repeat a piece of work for a while, and the rate they
// reach together.
//
// Threads: Run blocks the caller. The work is called from all threads at once, each with its own
// index and its own id stream.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/key_picker.h"

namespace weft::bench {

// Ids drawn beforehand, so that drawing is not measured. The top bit marks a SET. Streams are
// long enough (2 M) that no processor cache holds what they touch.
class IdStreams {
 public:
  static constexpr uint32_t kSetBit = 0x80000000u;
  static constexpr size_t kIds = 2'000'000;

  // One stream a thread, each with its own seed.
  IdStreams(const KeyPicker& picker, double get_share, size_t threads, uint64_t seed);
  std::span<const uint32_t> of(size_t thread) const { return streams_[thread]; }

 private:
  std::vector<std::vector<uint32_t>> streams_;
};

// Work on the ids of one slice. Called again and again until time is up.
using Slice = std::function<void(size_t thread, std::span<const uint32_t> ids)>;

// What a crew reached, all threads together.
struct CrewRate {
  double per_second = 0;      // by the clock on the wall
  double per_cpu_second = 0;  // by the time the threads were let run: the same on a quiet machine
  double busy = 1;            // least share of the wall time that a thread was let run
};

// Ids a second: warms up for `warmup_s`, then counts for `seconds`. Thread i is pinned to
// cpus[i % size].
CrewRate RunCrew(size_t threads, const std::vector<int>& cpus, const IdStreams& streams,
                 double warmup_s, double seconds, const Slice& work);

// Below this share of the wall time, other programs had a part of the cores.
inline constexpr double kBusyQuiet = 0.97;
std::string SharedNote(double busy);

}  // namespace weft::bench
