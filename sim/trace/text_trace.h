// sim/trace/text_trace.h: traces of other simulators, and of paper 004's table 1, as text.
//
//     dramsim3       0x1f40 READ 100               byte address, READ or WRITE, clock
//     ramulator2-o3  12 8000 [8064]                plain instructions, address read, written; all
//                                                  decimal
//     ramulator2-ls  LD 0x1f40                     LD or ST, address, decimal unless it has 0x
//     csv            15767034,0x40f3a1,R,0x1f40,8  instructions so far, this one's address, R or W,
//                                                  address, bytes; a first line of names may be
//                                                  there
//
// All are of one core and know neither operations nor an index. Reading: each `op_accesses`
// accesses are made an operation, the index is a bucket above all addresses, and instruction
// addresses are dropped. If a format has no bytes, an access is of a whole line. Writing: marks are
// dropped, software prefetches become reads, and instruction addresses are 0.
//
// ramulator2-o3 has no write without a read: one goes with the read before it, or if that has a
// write already, with a read of its own line.
//
// Units     bytes, instructions; a clock is `instructions_per_clock`.
// Threads   one at a time.
// Errors    kInvalidArgument: "file:line: what is wrong". kIoError: the file can't be read or
//           written. Those of the source that is written.
// Source    DRAMsim3, README; Ramulator 2, SimpleO3Trace and LoadStoreTrace; paper 004, table 1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sim/trace/trace_source.h"
#include "weft/status.h"

namespace weft::sim {

enum class TextFormat { kDramsim3, kRamulator2O3, kRamulator2LoadStore, kCsv };

inline constexpr std::string_view kTextFormats = "dramsim3, ramulator2-o3, ramulator2-ls, csv";

// kInvalidArgument: none of them.
Result<TextFormat> ParseTextFormat(std::string_view name);

struct TextOptions {
  uint32_t instructions_per_clock = 24;  // 4 a cycle of 4 GHz, and a DDR3-1333's clock
  uint32_t op_accesses = 1;
  uint64_t memory_bytes = uint64_t{16} << 30;  // addresses are below it
};

// kInvalidArgument: a 0 that can't be one.
Status Validate(const TextOptions& options);

// REQUIRES (both): Validate(options).ok()
Result<std::unique_ptr<TraceSource>> ReadTextTrace(const std::string& path, TextFormat format,
                                                   const TextOptions& options);
// The accesses of one core. REQUIRES: 0 <= core < source.cores()
Status WriteTextTrace(TraceSource& source, int core, const std::string& path, TextFormat format,
                      const TextOptions& options);

}  // namespace weft::sim
