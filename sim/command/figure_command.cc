#include "sim/command/figure_command.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "bench/harness/machine.h"
#include "sim/figure/catalogue.h"
#include "sim/figure/output.h"
#include "sim/figure/setting.h"
#include "sim/run/idle_options.h"

namespace weft::sim {
namespace {

constexpr int kSeeds = 5;

void AddManyRuns(CLI::App* app, ManyRunsOptions* options) {
  options->base.run.epoch_clocks = 0;
  AddRun(app, &options->base.run);
  AddPrefetch(app, &options->base.prefetch);
  app->add_option("--over", options->over,
                  "OPTION=VALUE,VALUE,...: run with each value of an option; several options give "
                  "each combination");
  app->add_flag("--one-at-a-time", options->one_at_a_time,
                "vary one option at a time and keep the others, besides a run with all as given");
  app->add_option("--jobs", options->jobs, "number of parallel runs; 0: one for each CPU")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  app->add_option("--seeds", options->seeds,
                  "runs of each, with seeds from --seed on; 0: five; a recorded trace is run once")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
}

// Small enough for a minute, where nothing else is given: an eighth of store and L2.
void MakeQuick(const FigureOptions& options, RunOptions* run) {
  const Given& given = options.runs.base.run.given;
  const auto set = [&](const char* option, auto* value, auto quick) {
    if (!given.contains(option)) *value = quick;
  };
  set("buckets", &run->workload.buckets, uint64_t{1} << 17);
  set("log-mib", &run->workload.log_mib, 128);
  set("ops", &run->workload.ops, 3000);
  set("l2-kb", &run->l2_kb, 512);
  set("fast-forward", &run->fast_forward, 20'000);
}

// On a terminal after each run, into a file after each twentieth of all.
void ShowProgress(size_t done, size_t all) {
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  if (!is_terminal && done * 20 / all == (done - 1) * 20 / all) return;
  fmt::print(stderr, "{}{} of {} runs{}", is_terminal ? "\r" : "", done, all,
             !is_terminal || done == all ? "\n" : "");
  std::fflush(stderr);
}

Runner MakeRunner(const ManyRunsOptions& options, int seeds_by_default) {
  const int cpus = static_cast<int>(bench::UsableCpus().size());
  return Runner({.jobs = options.jobs == 0 ? std::max(1, cpus) : options.jobs,
                 .seeds = options.seeds == 0 ? seeds_by_default : options.seeds,
                 .first_seed = options.base.run.seed,
                 .on_progress = ShowProgress});
}

std::vector<std::string> NamesOf(const std::vector<std::string>& asked) {
  std::vector<std::string> names;
  for (const std::string& name : asked) {
    const std::vector<std::string> group = name == "all"      ? PaperFigures()
                                           : name == "other"  ? OtherFigures()
                                           : name == "traces" ? TraceFigures()
                                                              : std::vector<std::string>{name};
    for (const std::string& each : group) {
      if (std::find(names.begin(), names.end(), each) == names.end()) names.push_back(each);
    }
  }
  return names;
}

// Two cases of the same text do the same.
std::string EffectOf(const Case& of) {
  nlohmann::ordered_json key = nlohmann::ordered_json::parse(KeyOf(of));
  for (const IdleOption& option : IdleOptions(of.run, of.prefetch)) key.erase(option.key);
  return key.dump();
}

Result<std::vector<std::string>> KeysOf(const std::vector<std::string>& names,
                                        const FigureBase& base) {
  std::vector<std::string> keys;
  for (const std::string& name : names) {
    const Result<FigureSpec> spec = MakeFigure(name, base);
    if (!spec) return spec.error();
    for (const Case& of : CasesOf(spec.value())) keys.push_back(EffectOf(of));
  }
  return keys;
}

// The base with other values of one option, as its command line and --over take them; none of them
// is run.
Result<std::vector<Setting>> OtherValuesOf(const std::string& option, const Case& base) {
  constexpr std::pair<const char*, const char*> kWords[] = {
      {"preset", "ddr3-1333-2gb-x8-sg15,ddr4-3200-8gb-x8"},
      {"map", "rank-il,row-il"},
      {"policy", "frfcfs,fcfs"},
      {"page", "open,closed"},
      {"writes", "unified,buffer"},
      {"refresh", "all,bank"},
      {"refresh-drain", "true,false"},
      {"no-refresh", "true,false"},
      {"power-down", "true,false"},
      {"currents", "sg15-dramsim2,mt41j256m8-revM"},
      {"compat", "dramsim2"},
      {"noc", "free,busy"},
      {"dest", "llc,mcbuf"},
      {"filter", "none,oracle"},
      {"demand-first", "true,false"},
      {"source", "ramcloud,fixedk"},
      {"mix", "1,2"},
      {"util", "exact:3,exact:5"},
      {"pop", "uniform,zipf:0.5"},
      {"put-key", "0,1"},
      {"bucket-pf", "0,1"},
      {"obj-pf", "off,all"},
      {"swpf", "nonblocking,asload"},
      {"len-dep", "0,1"},
      {"pacu", "off,insitu"},
      {"pscu", "exact,runtime"},
      {"size-mode", "value,raw"}};
  const auto* const words = std::find_if(std::begin(kWords), std::end(kWords),
                                         [&](const auto& each) { return each.first == option; });
  const char* const values = words == std::end(kWords) ? "3,5" : words->second;  // all are numbers
  return SettingsOf(base, {option + "=" + values}, false);
}

// kInvalidArgument: none of the figures differs with the setting's option: all of them set it by
// themselves, or have no use for it. Of a value that is the base's, others tell.
Status RefuseWithoutEffect(const std::vector<std::string>& names, const FigureBase& base,
                           const std::vector<Setting>& settings) {
  const Result<std::vector<std::string>> before = KeysOf(names, base);
  if (!before) return before.error();
  for (const Setting& setting : settings) {
    if (setting.name.empty()) continue;  // the base
    std::vector<Setting> tried = {setting};
    if (KeyOf(setting.of) == KeyOf(base.of)) {
      const std::string option = setting.name.substr(0, setting.name.find('='));
      const Result<std::vector<Setting>> others = OtherValuesOf(option, base.of);
      if (!others) return others.error();
      tried = others.value();
    }
    bool has_effect = false;
    for (const Setting& each : tried) {
      FigureBase changed = base;
      changed.of = each.of;
      const Result<std::vector<std::string>> after = KeysOf(names, changed);
      if (!after) return after.error();
      has_effect |= before.value() != after.value();
    }
    if (!has_effect) {
      return {Code::kInvalidArgument,
              fmt::format("{}: figure {} sets it by itself", setting.name, fmt::join(names, ", "))};
    }
  }
  return Status::Ok();
}

// What is given of the options of `weft-sim run`, an option at a time, as changes of `defaults`.
std::vector<Setting> GivenSettings(const FigureOptions& options) {
  std::vector<Setting> given;
  for (const std::string& text : options.given()) {
    const Result<std::vector<Setting>> settings = SettingsOf(options.defaults, {text}, false);
    if (settings) given.push_back(settings.value().front());
  }
  return given;
}

struct Planned {
  std::string setting;
  FigureSpec spec;
};

// --seed and --seeds, where no run draws by them.
Status RefuseSeeds(const ManyRunsOptions& options, const std::vector<Case>& cases) {
  const bool draws = std::any_of(cases.begin(), cases.end(),
                                 [](const Case& of) { return DependsOnSeed(of.run, of.prefetch); });
  if (draws) return Status::Ok();
  const auto refuse = [](const char* option) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} changes nothing: {}", option, kReplayedTheSame));
  };
  if (options.seeds > 1) return refuse("--seeds");  // 1 says what is so
  if (options.base.run.given.contains("seed")) return refuse("--seed");
  return Status::Ok();
}

Status RefuseIdleOf(const std::vector<Case>& cases) {
  std::vector<RunWithUnit> runs;
  runs.reserve(cases.size());
  for (const Case& of : cases) runs.push_back({of.run, of.prefetch});
  return RefuseIdle(runs);
}

// Runs all that they need and does what is to be done with it.
Status Finish(const ManyRunsOptions& options, int seeds_by_default, std::vector<Planned> planned) {
  const Given& given = options.base.run.given;
  if (given.contains("cmd-trace")) {
    return {Code::kInvalidArgument, "--cmd-trace works only with weft-sim run"};
  }
  if (given.contains("epoch")) {
    return {Code::kInvalidArgument, "--epoch works only with weft-sim run"};
  }
  std::vector<Case> cases;
  for (const Planned& plan : planned) {
    for (Case& of : CasesOf(plan.spec)) cases.push_back(std::move(of));
  }
  Status status = RefuseSeeds(options, cases);
  if (status.ok()) status = RefuseIdleOf(cases);
  if (!status.ok()) return status;
  const auto started = std::chrono::steady_clock::now();
  Runner runner = MakeRunner(options, seeds_by_default);
  status = runner.Run(cases);
  if (!status.ok()) return status;
  std::vector<Finished> finished;
  for (Planned& plan : planned) {
    Figure figure = FigureOf(plan.spec, runner);
    std::vector<JudgedClaim> claims = ClaimsOf(plan.spec, figure);
    finished.push_back({.setting = std::move(plan.setting),
                        .spec = std::move(plan.spec),
                        .figure = std::move(figure),
                        .claims = std::move(claims)});
  }
  std::fputs(MarkdownOf(finished, options.command_line).c_str(), stdout);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
  fmt::print(
      "{} runs, {:.1f} M requests of DRAM, {:.1f} M commands checked, and none breaks a rule; "
      "{:.0f} s\n",
      runner.runs(), static_cast<double>(runner.requests()) * 1e-6,
      static_cast<double>(runner.commands_checked()) * 1e-6, wall.count());
  for (const std::string& note : runner.notes()) fmt::print(stderr, "weft-sim: {}\n", note);
  const std::string& out = options.base.run.out;
  return out.empty() ? Status::Ok() : WriteFigures(out, finished, options.command_line);
}

// Of one --over it adds the base, which may be among the values. `settings`: one at a time.
Status RefuseOneAtATime(const ManyRunsOptions& options, const std::vector<Setting>& settings) {
  if (!options.one_at_a_time || options.over.size() > 1) return Status::Ok();
  constexpr const char* kRefused = "--one-at-a-time changes nothing: there is";
  if (options.over.empty()) return {Code::kInvalidArgument, fmt::format("{} no --over", kRefused)};
  const std::string base = KeyOf(settings.front().of);
  const auto same = std::find_if(settings.begin() + 1, settings.end(),
                                 [&](const Setting& setting) { return KeyOf(setting.of) == base; });
  if (same == settings.end()) return Status::Ok();
  return {Code::kInvalidArgument,
          fmt::format("{} only one --over, and its {} is the given value", kRefused, same->name)};
}

// Of combinations, values that others of the same option take the place of, so that none of them
// is run.
Status RefuseReplaced(const ManyRunsOptions& options) {
  if (options.one_at_a_time) return Status::Ok();
  Given over;
  for (const std::string& text : options.over) {
    const std::string option = text.substr(0, text.find('='));
    if (options.base.run.given.contains(option)) {
      return {Code::kInvalidArgument,
              fmt::format("--{0} changes nothing: all runs have values of --over {0}", option)};
    }
    if (!over.insert(option).second) {
      return {Code::kInvalidArgument,
              fmt::format("--over {0} changes nothing: a later --over {0} replaces it", option)};
    }
  }
  return Status::Ok();
}

// Which mixes, and which traces, of figures that have none.
Status RefuseOfOtherFigures(const FigureOptions& options, const std::vector<std::string>& names,
                            FigureBase base) {
  const std::string of_figures = fmt::format(" changes nothing: figure {}", fmt::join(names, ", "));
  if (!options.mixes.empty()) {
    base.mixes = {1};
    const Result<std::vector<std::string>> of_one = KeysOf(names, base);
    if (!of_one) return of_one.error();
    base.mixes = {2};
    const Result<std::vector<std::string>> of_another = KeysOf(names, base);
    if (!of_another) return of_another.error();
    if (of_one.value() == of_another.value()) {
      return {Code::kInvalidArgument, "--mixes" + of_figures + " has no mixes"};
    }
  }
  const std::vector<std::string> of_traces = TraceFigures();
  const bool has_traces = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(of_traces.begin(), of_traces.end(), name) != of_traces.end();
  });
  if (options.traces.empty() || has_traces) return Status::Ok();
  return {Code::kInvalidArgument, "--trace" + of_figures + " plays no traces"};
}

// Options that would be ignored, given or of --over.
Status RefuseIgnored(const FigureOptions& options, const std::vector<std::string>& names,
                     const Case& base, FigureBase figure_base) {
  figure_base.of = base;
  const Result<std::vector<Setting>> over = SettingsOf(base, options.runs.over, true);
  if (!over) return over.error();
  Status status = RefuseReplaced(options.runs);
  if (status.ok()) status = RefuseWithoutEffect(names, figure_base, over.value());
  if (status.ok()) status = RefuseOneAtATime(options.runs, over.value());
  if (status.ok()) status = RefuseOfOtherFigures(options, names, figure_base);
  if (!status.ok() || !options.given) return status;
  figure_base.of = options.defaults;
  return RefuseWithoutEffect(names, figure_base, GivenSettings(options));
}

}  // namespace

void AddFigure(CLI::App* app, FigureOptions* options) {
  RunOptions& run = options->runs.base.run;
  run.workload.ops = 20'000;
  run.fast_forward = 100'000;
  app->add_option("NAME", options->names,
                  "5a, 5b, 5c, 6, 7, 8, 9 or all; load, memory, map, lines, zipf, insitu or other; "
                  "trace-size, trace-entries, trace-accuracy, trace-units, trace-energy or traces")
      ->required();
  AddManyRuns(app, &options->runs);
  app->add_option("--mixes", options->mixes, "only these mixes of figures 6 to 9: 1,6,12")
      ->delimiter(',')
      ->check(CLI::Range(1, 12));
  app->add_option("--trace", options->traces, "folder of a recorded trace, for figures of traces");
  app->add_flag("--quick", options->is_quick,
                "small defaults: an eighth of store and L2, few operations, one seed, mixes 1, 4, "
                "8 and 12");
  options->given = [app] {
    std::vector<std::string> texts;
    for (const CLI::Option* option : app->get_options()) {
      if (option->count() == 1 && !option->get_lnames().empty() && !option->results().empty()) {
        texts.push_back(option->get_lnames().front() + "=" + option->results().front());
      }
    }
    return texts;
  };
  options->defaults = options->runs.base;
}

void AddSweep(CLI::App* app, ManyRunsOptions* options) {
  options->base.run.workload.ops = 20'000;
  options->base.run.fast_forward = 100'000;
  AddManyRuns(app, options);
}

Status RunFigureCommand(const FigureOptions& options) {
  Case base = options.runs.base;
  FigureBase figure_base;
  figure_base.traces = options.traces;
  if (options.is_quick) {
    MakeQuick(options, &base.run);
    figure_base.mixes = {1, 4, 8, 12};
  }
  if (!options.mixes.empty()) figure_base.mixes = options.mixes;
  const Result<std::vector<Setting>> settings =
      SettingsOf(base, options.runs.over, options.runs.one_at_a_time);
  if (!settings) return settings.error();
  const std::vector<std::string> names = NamesOf(options.names);
  const Status status = RefuseIgnored(options, names, base, figure_base);
  if (!status.ok()) return status;
  std::vector<Planned> planned;
  for (const Setting& setting : settings.value()) {
    figure_base.of = setting.of;
    for (const std::string& name : names) {
      Result<FigureSpec> spec = MakeFigure(name, figure_base);
      if (!spec) return spec.error();
      planned.push_back({setting.name, std::move(spec.value())});
    }
  }
  return Finish(options.runs, options.is_quick ? 1 : kSeeds, std::move(planned));
}

Status RunSweepCommand(const ManyRunsOptions& options) {
  const Result<std::vector<Setting>> settings =
      SettingsOf(options.base, options.over, options.one_at_a_time);
  if (!settings) return settings.error();
  Status status = RefuseReplaced(options);
  if (status.ok()) status = RefuseOneAtATime(options, settings.value());
  if (!status.ok()) return status;
  const bool has_unit =
      std::any_of(settings.value().begin(), settings.value().end(),
                  [](const Setting& setting) { return setting.of.prefetch.pacu != "off"; });
  FigureSpec spec{.name = "sweep",
                  .title = "sweep",
                  .x_name = {},
                  .quantity = has_unit ? Quantity::kLatency : Quantity::kItself,
                  .points = {}};
  for (const Setting& setting : settings.value()) {
    const bool is_base = setting.name.empty();
    spec.points.push_back(
        {.series = is_base ? "as given" : setting.name, .x = "gain", .at = 0, .of = setting.of});
  }
  return Finish(options, kSeeds, {{.setting = {}, .spec = std::move(spec)}});
}

}  // namespace weft::sim
