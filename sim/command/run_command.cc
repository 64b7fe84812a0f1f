#include "sim/command/run_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "sim/run/idle_options.h"
#include "sim/run/report.h"
#include "sim/run/short_trace.h"

namespace weft::sim {
namespace {

using Json = nlohmann::ordered_json;

class Progress {
 public:
  explicit Progress(int64_t ops) : ops_(ops), is_shown_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (has_shown_) std::fputc('\n', stderr);
  }
  void Show(int64_t ops) {
    if (!is_shown_ || ops < next_) return;
    has_shown_ = true;
    next_ = ops + std::max<int64_t>(ops_ / 200, 1000);
    if (ops_ > 0) {
      fmt::print(stderr, "\r{} of {} operations", ops, ops_);
    } else {
      fmt::print(stderr, "\r{} operations", ops);
    }
    std::fflush(stderr);
  }

 private:
  const int64_t ops_;
  const bool is_shown_;
  bool has_shown_ = false;
  int64_t next_ = 0;
};

}  // namespace

Status RunOn(const RunOptions& options, const RunParts& parts) {
  CommandFiles commands;
  auto on_command = commands.Open(options.memory);
  if (!on_command) return on_command.error();
  Progress progress(options.workload.ops);
  const Result<RunResult> run = Simulate(options, parts,
                                         {.on_progress = [&](int64_t ops) { progress.Show(ops); },
                                          .on_command = std::move(on_command.value())});
  if (!run) return run.error();
  Status status = commands.Close();
  if (!status.ok()) return status;

  Json config = ConfigOf(options);
  config.update(parts.config);
  const Json figures = parts.unit_figures ? ToJson(parts.unit_figures()) : Json();
  std::fputs((Summary(config, run.value(), figures).dump(2) + "\n").c_str(), stdout);
  const std::string missing = MissingOps(options, run.value());
  if (!missing.empty()) fmt::print(stderr, "weft-sim: {}\n", missing);
  return options.out.empty() ? Status::Ok()
                             : WriteReport(options.out, config, run.value(), figures);
}

Status RunSource(const RunOptions& options, const PrefetchOptions& prefetch) {
  const Status status = RefuseIdle({{options, prefetch}});
  if (!status.ok()) return status;
  const Result<RunParts> parts = PartsOf(options, prefetch);
  if (!parts) return parts.error();
  return RunOn(options, parts.value());
}

}  // namespace weft::sim
