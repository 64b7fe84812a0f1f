#include "bench/experiment/efficiency.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "bench/drive/each_target.h"
#include "bench/experiment/cores.h"
#include "bench/experiment/ratios.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

constexpr uint64_t kOneThreadRecordsMax = 3'000'000;  // paper 002's

struct Part {
  int threads;
  std::string name;
};

// A machine of one CPU has one part: one.
std::vector<Part> PartsOf(const EfficiencyOptions& options, int cpus) {
  std::vector<Part> parts;
  for (const int asked : options.threads) {
    const int threads = asked == 0 ? cpus : asked;
    const auto is_same = [&](const Part& part) { return part.threads == threads; };
    if (std::any_of(parts.begin(), parts.end(), is_same)) continue;
    parts.push_back({threads, threads == 1      ? "one"
                              : threads == cpus ? "all"
                                                : std::to_string(threads)});
  }
  return parts;
}

// The share of all CPUs' time that the store and the client used; none where it is unknown.
std::optional<double> BusyOf(const LoadFigures& figures, const Readings& readings, size_t cpus) {
  const auto seconds_of = [&](const char* name) -> std::optional<double> {
    const auto at = readings.find(name);
    if (at == readings.end() || !at->second.available()) return std::nullopt;
    return at->second.value();
  };
  const auto store_s = seconds_of("cpu_s");
  if (!store_s || figures.seconds <= 0) return std::nullopt;
  // Of an embedded store the client's is in it.
  const double all_s = *store_s + seconds_of("client_cpu_s").value_or(0);
  return std::min(1.0, all_s / (figures.seconds * static_cast<double>(cpus)));
}

class Efficiency {
 public:
  Efficiency(const EfficiencyOptions& options, RunLog* log)
      : options_(options.experiment), cores_(CoresOf(UsableCpus())), log_(*log) {}

  Status RunPart(const Part& part);
  const std::set<std::string>& unavailable() const { return unavailable_; }

 private:
  Status RunMix(Driver* driver, const OperationMix& mix, const MeasureOptions& measure);

  const ExperimentOptions& options_;
  const Cores cores_;
  RunLog& log_;
  std::set<std::string> unavailable_;
};

Status Efficiency::RunMix(Driver* driver, const OperationMix& mix, const MeasureOptions& measure) {
  const double threads_on_a_core = ThreadsOnACore(measure.load.threads, cores_);
  Readings ratios;
  std::string text;
  auto was_run = RunOrLeaveOut(
      driver, mix, measure.load, [&](const LoadFigures& figures, const Readings& readings) {
        ratios = RatiosOf(readings, figures.operations, threads_on_a_core);
        nlohmann::json note = ToJson(ratios);
        note.update(measure.notes.at("efficiency"));
        note["threads_on_a_core"] = threads_on_a_core;
        const std::string found = ToText(ratios);
        if (const auto busy = BusyOf(figures, readings, cores_.cpus.size())) {
          note["busy"] = *busy;
          text = fmt::format("CPUs {:.0f} % busy{}", *busy * 100, found.empty() ? "" : ", ");
        }
        text += found;
        return nlohmann::json{{"efficiency", note}};
      });
  if (!was_run) return was_run.error();
  if (!text.empty()) PrintBeside(text);
  unavailable_.merge(WhyUnavailable(ratios));
  return Status::Ok();
}

Status Efficiency::RunPart(const Part& part) {
  MeasureOptions measure = options_.measure;
  measure.load.threads = part.threads;
  if (part.threads == 1) measure.load.cpus = {cores_.cpus.front()};
  measure.notes["efficiency"] = {{"threads", part.name}};
  fmt::print("{} thread{}\n", part.threads, part.threads == 1 ? "" : "s");
  auto mixes = ScaledMixes(options_, part.threads == 1 ? kOneThreadRecordsMax : kRecordsMax);
  if (!mixes) return mixes.error();
  log_.PrintHead();
  return ForEachTarget(measure, *mixes, &log_, [&](Driver* driver) {
    for (const OperationMix& mix : *mixes) {
      Status status = RunMix(driver, mix, measure);
      if (!status.ok()) return status;
    }
    return Status::Ok();
  });
}

}  // namespace

Status RunEfficiency(const EfficiencyOptions& options) {
  auto log = RunLog::Open(options.experiment.measure.log);
  if (!log) return log.error();
  Efficiency efficiency(options, &*log);
  Status first;
  for (const Part& part : PartsOf(options, static_cast<int>(UsableCpus().size()))) {
    Status status = efficiency.RunPart(part);
    if (status.code() == Code::kInvalidArgument) return status;
    if (first.ok()) first = status;
  }
  PrintUnavailable(efficiency.unavailable());
  return first;
}

}  // namespace weft::bench
