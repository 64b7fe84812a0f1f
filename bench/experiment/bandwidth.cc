#include "bench/experiment/bandwidth.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "bench/drive/each_target.h"
#include "bench/experiment/cores.h"
#include "bench/experiment/ratios.h"
#include "bench/harness/machine.h"
#include "bench/harness/report.h"
#include "bench/meter/hog_process.h"

namespace weft::bench {
namespace {

constexpr int kTriads = 3;
constexpr auto kHogStarts = std::chrono::milliseconds(50);  // one that slept looks every 20
constexpr int kThreadsMax = 4;  // paper 002's: so many can take all there is

struct Layout {
  std::vector<int> load_cpus;
  std::vector<int> hog_cpus;
  std::vector<int> all_cpus;
  bool has_cores = true;  // one each

  int threads() const { return static_cast<int>(load_cpus.size()); }
};

Result<Layout> LayoutOf(int asked, const Cores& cores) {
  const int cpus = static_cast<int>(cores.cpus.size());
  if (cpus < 2) return Status(Code::kUnsupported, "a hog beside a store needs at least two CPUs");
  const int threads = asked > 0 ? asked : std::min(kThreadsMax, std::max(1, cores.count / 2));
  if (2 * threads > cpus)
    return Status(
        Code::kInvalidArgument,
        fmt::format(
            "--threads {}: together with as many threads of the hog they exceed the {} CPUs",
            threads, cpus));
  Layout layout;
  const auto first = cores.cpus.begin();
  layout.load_cpus.assign(first, first + threads);
  layout.hog_cpus.assign(first + threads, first + 2 * threads);
  layout.all_cpus.assign(first, first + 2 * threads);
  layout.has_cores = 2 * threads <= cores.count;
  return layout;
}

// The best of several, as STREAM has it: other work can only take from it.
Result<double> BestTriad(const TriadOptions& options) {
  double best = 0;
  for (int i = 0; i < kTriads; i++) {
    auto rate = MeasureTriad(options);
    if (!rate) return rate.error();
    best = std::max(best, *rate);
  }
  return best;
}

std::string GbText(double bytes_per_s) { return fmt::format("{:.2f} GB/s", bytes_per_s * 1e-9); }

std::string HogText(double share) {
  return share == 0 ? "no hog" : fmt::format("hog at {:g} %", 100 * share);
}

// A hog that is ready, and the runs beside it.
class Bandwidth {
 public:
  Status StartHog(const Layout& layout, uint64_t array_bytes);
  // `mix` while the hog takes its share.
  Status RunBeside(Driver* driver, const OperationMix& mix, const LoadOptions& load, double share);

  pid_t hog_pid() const { return hog_->pid(); }
  const std::set<std::string>& unavailable() const { return unavailable_; }

 private:
  Status Prepare(Driver* driver, const OperationMix& mix, double share);
  nlohmann::json NoteOf(double share, double hog_bytes_per_s, const Readings& readings);

  std::unique_ptr<HogProcess> hog_;
  int hog_threads_ = 0;
  double machine_ = 0;  // bytes a second
  std::string text_;    // of the last run
  std::set<std::string> unavailable_;
};

Status Bandwidth::StartHog(const Layout& layout, uint64_t array_bytes) {
  hog_threads_ = layout.threads();
  TriadOptions triad{.threads = 2 * hog_threads_, .cpus = layout.all_cpus};
  triad.array_bytes = array_bytes;
  auto machine = BestTriad(triad);
  if (!machine) return machine.error();
  triad.threads = hog_threads_;
  triad.cpus = layout.hog_cpus;
  auto full = BestTriad(triad);
  if (!full) return full.error();
  auto hog = HogProcess::Start(triad, *full);
  if (!hog) return hog.error();
  hog_ = std::move(*hog);
  machine_ = std::max(*machine, *full);  // the hog alone may get more than both
  fmt::print("memory: {} by {} threads; the hog's {} get {}{}\n", GbText(machine_),
             2 * hog_threads_, hog_threads_, GbText(*full),
             layout.has_cores ? "" : "; some share a core");
  return Status::Ok();
}

// The hog takes nothing before a run: what the store has left to do is not to be delayed.
Status Bandwidth::Prepare(Driver* driver, const OperationMix& mix, double share) {
  Status status = hog_->SetShare(0);
  if (status.ok()) status = driver->Prepare(mix);
  if (status.ok()) status = hog_->SetShare(share);
  if (!status.ok()) return status;
  std::this_thread::sleep_for(kHogStarts);
  return hog_->SetShare(share);  // counts from here
}

nlohmann::json Bandwidth::NoteOf(double share, double hog_bytes_per_s, const Readings& readings) {
  const double left = std::max(0.0, machine_ - hog_bytes_per_s);
  const Reading ipc = RatiosOf(readings, 0, 1).at("ipc_per_core");
  text_ =
      fmt::format("{}: it got {}, left {}", HogText(share), GbText(hog_bytes_per_s), GbText(left));
  if (ipc.available()) {
    text_ += fmt::format(", {} instructions a cycle", Short(ipc.value()));
  } else {
    unavailable_.insert("ipc: " + ipc.reason());
  }
  return {{"bandwidth",
           {{"hog_share", share},
            {"hog_threads", hog_threads_},
            {"machine_bytes_per_s", machine_},
            {"hog_bytes_per_s", hog_bytes_per_s},
            {"left_bytes_per_s", left},
            {"ipc", ToJson(ipc)}}},
          {"setting", HogText(share)}};
}

Status Bandwidth::RunBeside(Driver* driver, const OperationMix& mix, const LoadOptions& load,
                            double share) {
  Status status = Prepare(driver, mix, share);
  if (!status.ok()) return LeaveOutUnsupported(*driver, mix, status);
  auto figures = driver->Run(
      mix, load, [&](const LoadFigures&, const Readings& readings) -> Result<nlohmann::json> {
        auto got = hog_->BytesPerSecond();
        if (!got) return got.error();
        return NoteOf(share, *got, readings);
      });
  if (!figures) return figures.error();
  PrintBeside(text_);
  return Status::Ok();
}

}  // namespace

Status RunBandwidth(const BandwidthOptions& options) {
  MeasureOptions measure = options.experiment.measure;
  for (const double share : options.shares) {
    if (!(share >= 0 && share <= 1))
      return {Code::kInvalidArgument, fmt::format("a share of {:g} is not from 0 to 1", share)};
  }
  auto layout = LayoutOf(options.threads, CoresOf(UsableCpus()));
  if (!layout) return layout.error();
  auto mixes = ScaledMixes(options.experiment);
  if (!mixes) return mixes.error();
  Bandwidth bandwidth;
  Status status = bandwidth.StartHog(*layout, options.array_bytes);
  if (!status.ok()) return status;
  measure.load.threads = layout->threads();
  measure.load.cpus = layout->load_cpus;
  measure.meters.without = {bandwidth.hog_pid()};
  auto log = RunLog::Open(measure.log);
  if (!log) return log.error();
  log->PrintHead();
  status = ForEachTarget(measure, *mixes, &*log, [&](Driver* driver) {
    for (const double share : options.shares) {
      for (const OperationMix& mix : *mixes) {
        Status one = bandwidth.RunBeside(driver, mix, measure.load, share);
        if (!one.ok()) return one;
      }
    }
    return Status::Ok();
  });
  PrintUnavailable(bandwidth.unavailable());
  return status;
}

}  // namespace weft::bench
