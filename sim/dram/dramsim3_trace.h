// sim/dram/dramsim3_trace.h: reads DRAMsim3's text traces: a line is
//
//     0x1f40 READ 100            byte address, READ or WRITE, the earliest clock
//
// Empty lines are skipped.
//
// Units     clocks of the memory; lines of 64 bytes, in which the address lies.
// Threads   one owner.
// Errors    kInvalidArgument: "file:line: what is wrong". kIoError: the file can't be read.
// Source    the simulator's specification, section 4.2.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/text_lines.h"
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
  // Lines from `lines` on are an error: the memory has none of them.
  static Result<Dramsim3Trace> Open(const std::string& path, uint64_t lines);

  // None at the end. REQUIRES: it has given no error
  Result<std::optional<TraceRequest>> Next();
  // Another error in the request that Next gave last.
  Status Wrong(std::string_view what) const { return text_.Wrong(what); }

 private:
  Dramsim3Trace(std::ifstream in, const std::string& path, uint64_t lines)
      : in_(std::move(in)), text_(path), lines_(lines) {}

  std::ifstream in_;
  TextLines text_;
  uint64_t lines_;  // of the memory
  Clock last_clock_ = 0;
};

}  // namespace weft::sim
