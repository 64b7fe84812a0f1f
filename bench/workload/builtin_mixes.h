// bench/workload/builtin_mixes.h: the workloads that have a name.
//
//     ycsb-load, ycsb-a to ycsb-f   YCSB's core workloads: 1 M records, keys of 24 B, values of
//                                   1,000 B
//     K8-G50-U to K128-G100-S       the 24 of paper 000, section V: keys of 8, 16, 32, 128 B with
//                                   values of 8, 64, 256, 1,024; GETs are reads, SETs are updates.
//                                   S: permuted-zipf 0.99. Others of that form, too, as K16-G80-U
//     compaction-128, -256, -512, -1024   paper 001's: YCSB's A on 10 M records, keys of 16 B and
//                                   values of so many; compaction-128-load and so on: their fill
//
// Threads   pure.
// Errors    kNotFound: no such name; the message lists them.
// Source    B. Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC'10, table 2, and
//           YCSB's core workload files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/workload/mix.h"
#include "weft/status.h"

namespace weft::bench {

// Every name above, once.
std::vector<std::string> BuiltinMixNames();
Result<OperationMix> BuiltinMix(std::string_view name);

// As many records as fit `bytes` of memory in a store that spends 64 B a record besides key and
// value: memcached, redis and Weft's cache then evict none. One at least.
uint64_t RecordsThatFit(const RecordOptions& record, uint64_t bytes);
// The memory that paper 000 gives the 24.
inline constexpr uint64_t kInMemoryBytes = 1'908'000'000;

// A step of a run's order that removes all records.
inline constexpr std::string_view kClearStep = "clear";

// Names of mixes and kClearStep, in the order of paper 002: fill, A, B, C, F, D, clear, fill, E.
std::vector<std::string> YcsbOrder();

}  // namespace weft::bench
