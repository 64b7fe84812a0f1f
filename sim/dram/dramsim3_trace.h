// sim/dram/dramsim3_trace.h: reads DRAMsim3's text traces: a line is
//
//     0x1f40 READ 100            byte address, READ or WRITE, the earliest clock
//
// Empty lines are passed over.
//
// Units     clocks of the memory; lines of 64 bytes, in which the address lies.
// Threads   one owner.
// Errors    kInvalidArgument: "file:line: what is wrong". kIoError: the file can't be read.
// Source    the simulator's specification, section 4.2.
#pragma once

#include <fstream>
#include <optional>
#include <string>

#include "sim/dram/timing.h"
#include "weft/status.h"

namespace weft::sim {

struct TraceRequest {
  uint64_t line = 0;
  bool is_write = false;
  Clock clock = 0;  // not before
};

class Dramsim3Trace {
 public:
  // Lines from `lines` on are an error: there is no such memory.
  static Result<Dramsim3Trace> Open(const std::string& path, uint64_t lines);

  // None at the end. REQUIRES: it gave no error before
  Result<std::optional<TraceRequest>> Next();

 private:
  Dramsim3Trace(std::ifstream in, std::string path, uint64_t lines)
      : in_(std::move(in)), path_(std::move(path)), lines_(lines) {}

  std::ifstream in_;
  std::string path_;
  uint64_t lines_;
  std::string text_;  // of the line
  uint64_t number_ = 0;
  Clock last_clock_ = 0;
};

}  // namespace weft::sim
