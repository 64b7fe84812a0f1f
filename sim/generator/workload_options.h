// sim/generator/workload_options.h: a simulation's records, as a command line says: generated, or a
// trace in a folder.
//
// Threads   one at a time.
// Errors    kInvalidArgument: an option is no such. Those of ramcloud_source.h and
//           file_trace.h.
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

// A value that is empty or 0 is the source's own default.
struct WorkloadOptions {
  // ramcloud; fixedk: the same of one size, exactly k objects in each bucket, nothing but gets.
  std::string source = "ramcloud";
  std::string mix;   // "1"; fixedk: "fixed:128"
  std::string util;  // "natural"; fixedk: "exact:4"
  std::string pop = "uniform";
  int other_per_op = -1;  // below 0: 8; fixedk: 0
  int cores = 8;
  int64_t ops = 2'000'000;  // of all cores; a trace's are in it
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

// What is given must outlive the parsing; what it has is the default.
void AddWorkload(CLI::App* app, WorkloadOptions* options);

// All of them by name; of a trace only which, and the others are "".
nlohmann::ordered_json ConfigOf(const WorkloadOptions& options);

// `memory_bytes`: addresses are below it.
Result<std::unique_ptr<TraceSource>> MakeSource(const WorkloadOptions& options, uint64_t seed,
                                                uint64_t memory_bytes = uint64_t{16} << 30);

// Sources as of MakeSource(). It keeps the last store that it has built: the next workload may need
// the same one.
class SourceMaker {
 public:
  Result<std::unique_ptr<TraceSource>> Make(const WorkloadOptions& options, uint64_t seed,
                                            uint64_t memory_bytes);

 private:
  std::string key_;  // what store_ was built from
  BuiltStore store_;
};

}  // namespace weft::sim
