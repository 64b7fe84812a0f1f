// bench/trace/trace_builder.h: makes a Trace of requests that come one by one.
//
// Records   are numbered here, by their keys.
// Times     a time that is earlier than the one before, by kFallSecondsMax at most, counts as that
//           one: clocks of several machines do so. An even earlier one is damage.
// Sizes     a value of unknown size has the last known size of its record, otherwise
//           TraceOptions::value_bytes or kValueBytes. Later requests do not matter.
// Lives     a get without a time to live takes it from the record's last set.
// Memory    some 50 bytes a record, besides the Trace's own.
// Threads   one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/trace/reader.h"
#include "bench/trace/trace.h"

namespace weft::bench {

class TraceBuilder {
 public:
  static constexpr uint32_t kFallSecondsMax = 60;
  static constexpr uint32_t kValueBytes = 1000;
  static constexpr uint32_t kKeyBytes = 24;

  TraceBuilder(std::string name, const TraceOptions& options);

  // Returns what is wrong with the request, or "".
  std::string Add(const ReadRequest& request);
  uint64_t requests() const { return trace_.requests.size(); }
  // Ends the builder.
  Trace Take();

 private:
  // Of a record, so far.
  struct Known {
    uint32_t value_bytes;
    uint32_t ttl_s;
  };

  std::string NoteTime(uint64_t time_s);
  uint32_t RecordOf(const ReadRequest& request);
  uint32_t ValueBytesOf(const ReadRequest& request, Known* known) const;
  static uint32_t TtlOf(const ReadRequest& request, Known* known);

  const uint32_t value_bytes_;  // of all; 0: as the trace says
  const uint32_t key_bytes_;    // likewise
  Trace trace_;
  std::unordered_map<uint64_t, uint32_t> record_of_key_;
  std::vector<Known> known_;
  uint64_t first_time_s_ = 0;
  uint64_t last_time_s_ = 0;
};

}  // namespace weft::bench
