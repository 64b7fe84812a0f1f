// sim/generator/workload_options.h: a simulation's records, as a command line asks for them:
// generated, or a trace in a folder.
//
// Threads   one at a time.
// Errors    kInvalidArgument: an option has a wrong value. Also ramcloud_source.h's and
//           file_trace.h's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/generator/ramcloud_source.h"
#include "sim/trace/trace_source.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::sim {

// An empty value or 0 stands for the source's own default.
struct WorkloadOptions {
  // ramcloud; fixedk: the same with one size, exactly k objects in each bucket, and only gets.
  std::string source = "ramcloud";
  std::string mix;   // "1"; fixedk: "fixed:128"
  std::string util;  // "natural"; fixedk: "exact:4"
  std::string pop = "uniform";
  int other_per_op = -1;  // below 0: 8; fixedk: 0
  int cores = 8;
  int64_t ops = 2'000'000;  // of all cores; a trace has its own
  uint64_t buckets = uint64_t{1} << 20;
  uint64_t log_mib = 1024;
  int key_bytes = 23;
  uint32_t instr_per_op = 5000;
  uint32_t key_lead = 20;
  bool put_key = true;
  bool bucket_pf = true;
  std::string obj_pf = "lt300";
  std::string swpf = "nonblocking";  // or "asload"
  bool len_dep = true;
};

// `options` must outlive the parsing; its values are the defaults.
void AddWorkload(CLI::App* app, WorkloadOptions* options);

// All of them by name; for a trace only which one, and the others are "".
nlohmann::ordered_json ConfigOf(const WorkloadOptions& options);

// `memory_bytes`: addresses are below it.
Result<std::unique_ptr<TraceSource>> MakeSource(const WorkloadOptions& options, uint64_t seed,
                                                uint64_t memory_bytes = uint64_t{16} << 30);

// Makes sources like MakeSource(). It keeps the last store that it has built, because the next
// workload may need the same one.
class SourceMaker {
 public:
  Result<std::unique_ptr<TraceSource>> Make(const WorkloadOptions& options, uint64_t seed,
                                            uint64_t memory_bytes);

 private:
  std::string key_;  // what store_ was built from
  BuiltStore store_;
};

}  // namespace weft::sim
