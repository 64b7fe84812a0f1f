#include "sim/command/gen_command.h"

#include <CLI/CLI.hpp>

#include "sim/base/not_negative.h"
#include "sim/run/idle_options.h"
#include "sim/trace/file_trace.h"

namespace weft::sim {

void AddGen(CLI::App* app, GenOptions* options) {
  NoteGiven(app, &options->given);
  AddWorkload(app, &options->workload);
  app->add_option("--seed", options->seed, "seed of all random choices")
      ->capture_default_str()
      ->check(NotNegative());
  app->add_option("--memory-gib", options->memory_gib, "size of the memory in GiB")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app->add_option("--out", options->out, "folder for the trace")->required();
}

Status RunGen(const GenOptions& options) {
  const Status status = RefuseIdle(options.workload, options.given);
  if (!status.ok()) return status;
  const auto source = MakeSource(options.workload, options.seed, options.memory_gib << 30);
  if (!source) return source.error();
  return WriteTrace(*source.value(), options.out, UINT64_MAX);
}

}  // namespace weft::sim
