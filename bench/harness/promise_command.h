// bench/harness/promise_command.h: what the subcommands that check a promise share: options, a
// report, and the exit status of --strict.
//
// Each folder has an `Arguments` of its own, with what the command line says to it; its member
// `common` is what all share.
//
// Threads   one at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "bench/harness/command_group.h"
#include "bench/harness/defaults.h"
#include "bench/harness/report.h"
#include "bench/harness/unheeded.h"

namespace weft::bench {

struct CommonArguments {
  std::string json;
  bool strict = false;
  int repetitions = 0;  // 0: the benchmark's own number
  double seconds = 0;   // 0: likewise
  double warmup = -1;   // below 0: likewise
  uint64_t seed = defaults::kSeed;
  double target = 0;  // 0: defaults.h
};

// `common` must outlive the parsing; its values are the defaults.
void AddCommon(CLI::App* app, CommonArguments* common);
// --quick, where it takes less of everything.
void AddQuick(CLI::App* app, bool* quick);
inline constexpr const char* kQuickTakesLess = "--quick uses less";
// Of the common ones, what a subcommand has no use for: an option that does nothing misleads.
void LeaveOut(CLI::App* app, std::initializer_list<const char*> names);

// `given` if it is above 0, `otherwise` if not.
inline int Or(int given, int otherwise) { return given > 0 ? given : otherwise; }

// What a benchmark takes of the common ones: as many of them as its options have members for.
// `repetitions`: unless the command line says how many.
template <typename Options>
void SetCommon(const CommonArguments& common, int repetitions, Options* options) {
  options->repetitions = Or(common.repetitions, repetitions);
  options->seed = common.seed;
  if constexpr (requires { options->target; })
    if (common.target > 0) options->target = common.target;
  if constexpr (requires { options->run_s; }) {
    if (common.seconds > 0) options->run_s = common.seconds;
    if (common.warmup >= 0) options->warmup_s = common.warmup;
  }
}

Result<Report> OpenReport(const CommonArguments& common, const std::string& command_line);
// The exit status where every figure was taken: 1 with --strict and a target that was missed.
int ExitStatusOf(const CommonArguments& common, const Report& report);

// A subcommand with the common options and those of `declare`, which may leave some out. The first
// of `rules` that holds refuses its option.
template <typename Arguments>
Subcommand PromiseCommand(std::string name, std::string help,
                          void (*declare)(CLI::App* app, Arguments* arguments),
                          Status (*measure)(const Arguments& arguments, Report& report),
                          UnheededRules<Arguments> rules = {}) {
  const auto arguments = std::make_shared<Arguments>();
  return {std::move(name), std::move(help),
          [arguments, declare](CLI::App* app) {
            AddCommon(app, &arguments->common);
            declare(app, arguments.get());
          },
          [arguments, held = std::move(rules)](const CLI::App& app) {
            return UnheededOf(app, *arguments, held);
          },
          [arguments, measure](const std::string& command_line) -> Result<int> {
            auto report = OpenReport(arguments->common, command_line);
            if (!report) return report.error();
            Status status = measure(*arguments, *report);
            if (!status.ok()) return status;
            return ExitStatusOf(arguments->common, *report);
          }};
}

}  // namespace weft::bench
