// bench/play/tally.h: the outcome of a played trace: hits and misses, by requests and by bytes, in
// total and over the course of the trace.
//
// Slices    the trace's requests in so many parts of the same number.
// Units     bytes of values.
// Threads   one at a time. Whoever plays with several has one tally each, and adds them up.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::bench {

struct TraceCounts {
  uint64_t gets = 0;
  uint64_t misses = 0;
  uint64_t get_bytes = 0;
  uint64_t missed_bytes = 0;
  uint64_t sets = 0;     // of the trace and behind misses
  uint64_t refused = 0;  // of these: the cache did not take it
  uint64_t deletes = 0;

  double MissRatio() const { return Share(misses, gets); }
  double ByteMissRatio() const { return Share(missed_bytes, get_bytes); }
  void Add(const TraceCounts& other);
  nlohmann::json ToJson() const;

 private:
  static double Share(uint64_t part, uint64_t of) {
    return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
  }
};

class TraceTally {
 public:
  static constexpr size_t kSlices = 50;

  // `requests`: of the whole trace.
  explicit TraceTally(uint64_t requests) : requests_(requests), slices_(kSlices) {}

  // Of request number `request`, from 0.
  void Get(uint64_t request, uint32_t value_bytes, bool is_hit);
  void Set(uint64_t request, bool is_stored);
  void Delete(uint64_t request) { SliceOf(request).deletes++; }
  void Add(const TraceTally& other);

  TraceCounts Total() const;
  const std::vector<TraceCounts>& slices() const { return slices_; }

 private:
  TraceCounts& SliceOf(uint64_t request) { return slices_[request * kSlices / requests_]; }

  uint64_t requests_;
  std::vector<TraceCounts> slices_;
};

}  // namespace weft::bench
