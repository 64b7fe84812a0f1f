#include "bench/harness/promise_command.h"

#include <CLI/CLI.hpp>

namespace weft::bench {

void AddCommon(CLI::App* app, CommonArguments* common) {
  app->add_option("--json", common->json, "append one JSON line a figure to this file");
  app->add_flag("--strict", common->strict, "exit with 1 if a target is missed");
  app->add_option("--repetitions", common->repetitions,
                  "turns of each side (default 5; memory, hit-ratio: 1)")
      ->check(CLI::Range(1, 100'000));
  app->add_option("--seconds", common->seconds,
                  "seconds of a turn (default 3 for servers, 1 embedded)")
      ->check(CLI::Range(0.001, 1e6));
  app->add_option("--warmup", common->warmup, "seconds before each turn that are not counted")
      ->check(CLI::Range(0.0, 1e6));
  app->add_option("--seed", common->seed, "seed of all random choices")->capture_default_str();
  app->add_option("--target", common->target,
                  "target instead of the project's own (bench/harness/defaults.h)")
      ->check(CLI::Range(1e-6, 1e6));
}

void AddQuick(CLI::App* app, bool* quick) {
  app->add_flag("--quick", *quick,
                "small run to check that everything works; its figures mean nothing");
}

void LeaveOut(CLI::App* app, std::initializer_list<const char*> names) {
  for (const char* name : names) app->remove_option(app->get_option(name));
}

Result<Report> OpenReport(const CommonArguments& common, const std::string& command_line) {
  const nlohmann::json context = {{"seed", common.seed}, {"command_line", command_line}};
  return Report::Open(common.json, context);
}

int ExitStatusOf(const CommonArguments& common, const Report& report) {
  return common.strict && report.short_count() > 0 ? 1 : 0;
}

}  // namespace weft::bench
