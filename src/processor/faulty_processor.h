// processor/faulty_processor.h: a processor that fails when it is told to, for drills.
//
// Wraps a coupled one. A job that fails has been run in part first, as on a device that dies in the
// middle: some of its queries are done, some were stopped in the midst of their change.
//
// Threads   as Processor.
#pragma once

#include <memory>
#include <string_view>

#include "processor/processor.h"

namespace weft::processor {

struct Faults {
  uint64_t fail_every = 0;    // every so many jobs one fails; 0: none
  uint64_t lose_at = 0;       // this job and all after it find the device lost; 0: never
  uint64_t hang_at = 0;       // this job and all after it never end; 0: never
  uint64_t memory_bytes = 0;  // no more than so much memory is given out; 0: no limit
  uint64_t pause_us = 0;      // a failing job lies so long before it ends, microseconds
  bool refuses = false;       // failing jobs are refused by Start instead

  // "fail=10,lose=100,hang=50,memory=1048576,pause=200,refuse": what is left out keeps its default.
  // kInvalidArgument names what it does not know.
  static Result<Faults> Parse(std::string_view text);
};

std::unique_ptr<Processor> NewFaultyProcessor(std::unique_ptr<Processor> processor,
                                              const Faults& faults);

}  // namespace weft::processor
