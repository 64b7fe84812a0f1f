// The whole store while other work takes a share of the CPUs: YCSB's fill and A on every store,
// with what each second brought.

#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/drive/load.h"
#include "bench/durable/checked_target.h"
#include "bench/durable/contention_charts.h"
#include "bench/durable/ledger.h"
#include "bench/durable/options.h"
#include "bench/harness/cpu_load.h"
#include "bench/meter/gpu_meter.h"
#include "bench/store/place.h"
#include "bench/store/store_meter.h"
#include "bench/workload/builtin_mixes.h"

namespace weft::bench {
namespace {

constexpr double kContendedSettleLimitS = 600;

// One under measurement: a store, and what weft compacts on.
struct Contender {
  std::string name;  // "weft-cuda:0"
  std::string store;
  std::string device = "cpu";
  std::string Title() const {
    return StoreTitle(store) + (device == "cpu" ? "" : " compacting on " + device);
  }
};

std::vector<Contender> ContendersOf(const ContentionOptions& options, Report& report) {
  std::vector<Contender> contenders;
  for (const std::string& store : options.stores.empty() ? StoreNames() : options.stores) {
    const std::string why = WhyUnavailable(store);
    if (!why.empty()) {
      report.Unavailable("contention, " + store, why);
      continue;
    }
    contenders.push_back({store, store});
    if (store != "weft") continue;
    for (const std::string& device : options.devices)
      contenders.push_back({"weft-" + device, store, device});
  }
  return contenders;
}

// What rows are about.
struct Judged {
  const char* name;
  const char* unit;
  double (*figure)(const ContentionRun&);
  Goal goal;
  double target;  // compacting on a device, with most of the CPUs taken
};
constexpr Judged kJudged[] = {
    {"A", "op/s", OperationsPerSecond, Goal::kAtLeast, defaults::kTargetContention},
    {"A-p99-update", "us", UpdateP99Us, Goal::kAtMost, defaults::kTargetContentionP99}};
constexpr int kMostTaken = 80;

// The shares that can be taken here.
std::vector<int> SharesOf(const ContentionOptions& options, Report& report) {
  const std::string why = CpuLoad::WhyUnavailable();
  std::vector<int> shares;
  for (const int taken : options.taken) {
    if (taken == 0 || why.empty()) {
      shares.push_back(taken);
    } else {
      report.Unavailable(fmt::format("contention, {} % taken", taken), why);
    }
  }
  return shares;
}

// A of so many records, and its Zipf's ranks.
OperationMix YcsbA(uint64_t records, uint32_t value_bytes) {
  OperationMix mix = BuiltinMix("ycsb-a").value();
  mix.record.key_bytes = SizeDistribution::Fixed(kDurableKeyBytes);
  mix.record.value_bytes = SizeDistribution::Fixed(value_bytes);
  mix.records = mix.keys.ranks = records;
  return mix;
}

// Reads the machine's meters slice by slice.
class Meters {
 public:
  explicit Meters(double slice_s) : slice_ns_(static_cast<uint64_t>(slice_s * 1e9)) {
    auto gpu = GpuMeter::Open(0);
    if (gpu) {
      gpu_ = std::move(*gpu);
    } else {
      why_no_gpu_ = gpu.error().message();
    }
  }
  void Start() {
    used_.clear();
    last_ns_ = base::NowNs();
    due_ns_ = last_ns_ + slice_ns_;
    last_cpu_ = CpuOfThisProcess();
  }
  // Does nothing before a slice is over.
  void Read() {
    const uint64_t now_ns = base::NowNs();
    if (now_ns < due_ns_) return;
    due_ns_ += slice_ns_;
    const CpuSeconds cpu = CpuOfThisProcess();
    const double seconds = static_cast<double>(now_ns - last_ns_) * 1e-9;
    used_.push_back({(cpu - last_cpu_).total / seconds * 100,
                     gpu_ == nullptr ? std::nullopt : gpu_->BusyPercent()});
    last_ns_ = now_ns;
    last_cpu_ = cpu;
  }
  const std::vector<UsedSlice>& used() const { return used_; }
  const std::string& why_no_gpu() const { return why_no_gpu_; }

 private:
  const uint64_t slice_ns_;
  std::unique_ptr<GpuMeter> gpu_;
  std::string why_no_gpu_;
  std::vector<UsedSlice> used_;
  uint64_t last_ns_ = 0, due_ns_ = 0;
  CpuSeconds last_cpu_;
};

class Contention {
 public:
  Contention(const ContentionOptions& options, const Place& place, Report& report)
      : options_(options),
        place_(place),
        report_(report),
        contenders_(ContendersOf(options, report)),
        shares_(SharesOf(options, report)),
        meters_(options.slice_s) {}

  Status Run() {
    for (int turn = 0; turn < options_.repetitions; ++turn) {
      for (const uint32_t value_bytes : options_.value_bytes) {
        for (const int taken : shares_) {
          for (size_t i = 0; i < contenders_.size(); ++i) {
            const Contender& contender =
                contenders_[(i + static_cast<size_t>(turn)) % contenders_.size()];
            auto run = RunOne(contender, value_bytes, taken, turn);
            if (!run && run.error().code() == Code::kUnsupported) {
              report_.Unavailable(fmt::format("contention, {} B, {} % taken, {}", value_bytes,
                                              taken, contender.name),
                                  std::string(run.error().message()));
              continue;
            }
            if (!run)
              return {run.error().code(),
                      fmt::format("{}: {}", contender.name, run.error().message())};
            runs_[{value_bytes, taken, contender.name}].push_back(std::move(*run));
          }
        }
      }
    }
    return Status::Ok();
  }
  void AddRows() const;
  Status WriteCharts() const;

 private:
  using Key = std::tuple<uint32_t, int, std::string>;

  Result<ContentionRun> RunOne(const Contender& contender, uint32_t value_bytes, int taken,
                               int turn);
  Result<ContentionRun> RunOpen(Store* store, CheckedTarget* target, const OperationMix& mix,
                                int turn);
  Samples FiguresOf(const Key& key, double (*figure)(const ContentionRun&)) const;
  void AddRowsOf(uint32_t value_bytes, int taken, const Contender& subject) const;
  Row MakeRow(const Key& key, const Judged& judged, const Contender& subject,
              const Contender& peer) const;

  const ContentionOptions& options_;
  const Place& place_;
  Report& report_;
  const std::vector<Contender> contenders_;
  const std::vector<int> shares_;  // percent
  std::map<Key, std::vector<ContentionRun>> runs_;
  Meters meters_;
};

Result<ContentionRun> Contention::RunOne(const Contender& contender, uint32_t value_bytes,
                                         int taken, int turn) {
  const std::string label = fmt::format("contention {} B, {} % taken, {} {}/{}", value_bytes, taken,
                                        contender.name, turn + 1, options_.repetitions);
  Progress(label);
  StoreSettings settings = options_.settings;
  settings.compaction_device = contender.device;
  const std::string dir = place_.Fresh(contender.store);
  auto store = OpenStore(contender.store, settings, dir);
  if (!store) return store.error();
  const OperationMix mix = YcsbA(options_.keys, value_bytes);
  const RecordFormat format = RecordFormat::Make(mix.record).value();
  CheckedTarget target(store->get(), format, mix.records, options_.threads);
  auto load = CpuLoad::Start(taken);
  if (!load) return load.error();
  auto run = RunOpen(store->get(), &target, mix, turn);
  if (!run) return run.error();
  if (Status status = (*load)->Check(); !status.ok()) return status;
  load->reset();
  // What "auto" chooses may be the CPU every time.
  const bool must_compact = contender.device != "cpu" && contender.device != "auto";
  if (must_compact && (*store)->Figures().compactions_by_device == 0)
    return Status(Code::kUnsupported, "nothing was compacted on " + contender.device);
  store->reset();
  store = OpenStore(contender.store, settings, dir);
  if (!store) return store.error();
  if (Status status = target.CheckAll(store->get()); !status.ok()) return status;
  store->reset();
  place_.Fresh(contender.store);
  place_.Sync();
  Progress(fmt::format("{}: A {} op/s", label, Short(OperationsPerSecond(*run))));
  return run;
}

Result<ContentionRun> Contention::RunOpen(Store* store, CheckedTarget* target,
                                          const OperationMix& mix, int turn) {
  ContentionRun run;
  const StoreFigures before = store->Figures();
  RecordSpace space;
  LoadOptions load{.threads = options_.threads,
                   .slice_s = options_.slice_s,
                   .missing_is_wrong = true,
                   .seed = options_.seed + static_cast<uint64_t>(turn)};
  auto filled = RunLoad(target, FillOf(mix), &space, load);
  if (!filled) return filled.error();
  run.fill = std::move(*filled);
  load.operations = options_.keys;
  meters_.Start();
  const CpuSeconds cpu = CpuOfThisProcess();
  auto a = RunLoad(target, mix, &space, load, {.meanwhile = [this] { meters_.Read(); }});
  if (!a) return a.error();
  run.a = std::move(*a);
  run.cpu_s = (CpuOfThisProcess() - cpu).total;
  run.used = meters_.used();
  run.settle_s = WaitUntilQuiet(kContendedSettleLimitS);
  const StoreFigures after = store->Figures();
  run.compacted_bytes = after.compaction_bytes_read + after.table_bytes_written -
                        before.compaction_bytes_read - before.table_bytes_written;
  run.compactions_by_device = after.compactions_by_device;
  run.compactions_left_to_cpu = after.compactions_left_to_cpu;
  return run;
}

Samples Contention::FiguresOf(const Key& key, double (*figure)(const ContentionRun&)) const {
  Samples samples;
  for (const ContentionRun& run : runs_.at(key)) samples.Add(figure(run));
  return samples;
}

Row Contention::MakeRow(const Key& key, const Judged& judged, const Contender& subject,
                        const Contender& peer) const {
  const auto& [value_bytes, taken, name] = key;
  const Key peer_key{value_bytes, taken, peer.name};
  Row row;
  row.bench = "contention";
  row.name = fmt::format("{}-{}B-{}%-taken-{}", judged.name, value_bytes, taken, place_.name());
  row.unit = judged.unit;
  row.goal = judged.goal;
  row.subject = {subject.Title(), FiguresOf(key, judged.figure)};
  row.SetPeer(subject.name + " / " + peer.name, {peer.Title(), FiguresOf(peer_key, judged.figure)});
  if (taken == kMostTaken && subject.device != "cpu" && peer.store != "weft")
    row.target = options_.target.value_or(judged.target);
  row.details = {{"keys", options_.keys},
                 {"value_bytes", value_bytes},
                 {"taken_percent", taken},
                 {"client_threads", options_.threads},
                 {"background_threads", options_.settings.background_threads},
                 {"slice_s", options_.slice_s},
                 {subject.name, ToJson(runs_.at(key).front())},
                 {peer.name, ToJson(runs_.at(peer_key).front())}};
  if (!meters_.why_no_gpu().empty()) row.details["gpu"] = "unavailable: " + meters_.why_no_gpu();
  return row;
}

void Contention::AddRows() const {
  for (const uint32_t value_bytes : options_.value_bytes) {
    for (const int taken : shares_) {
      for (const Contender& subject : contenders_) AddRowsOf(value_bytes, taken, subject);
      for (const Contender& contender : contenders_) {
        const auto runs = runs_.find({value_bytes, taken, contender.name});
        if (runs == runs_.end()) continue;
        fmt::print("      {}: {}\n", contender.name, TextOf(runs->second.front()));
      }
    }
  }
}

// Against every peer, and against weft on the CPU.
void Contention::AddRowsOf(uint32_t value_bytes, int taken, const Contender& subject) const {
  const Key key{value_bytes, taken, subject.name};
  if (subject.store != "weft" || !runs_.contains(key)) return;
  for (const Contender& peer : contenders_) {
    if (peer.name == subject.name || (peer.store == "weft" && peer.device != "cpu")) continue;
    if (!runs_.contains({value_bytes, taken, peer.name})) continue;
    for (const Judged& judged : kJudged) report_.Add(MakeRow(key, judged, subject, peer));
  }
}

Status Contention::WriteCharts() const {
  ContentionTable table;
  table.value_bytes = options_.value_bytes;
  table.taken = shares_;
  table.slice_s = options_.slice_s;
  for (const Contender& contender : contenders_) table.stores.push_back(contender.name);
  table.runs = runs_;
  return WriteContentionCharts(table, options_.plots);
}

}  // namespace

Status RunContention(const ContentionOptions& options, Report& report) {
  auto place = Place::Make(options.place);
  if (!place) return place.error();
  Contention contention(options, *place, report);
  if (Status status = contention.Run(); !status.ok()) return status;
  contention.AddRows();
  return options.plots.empty() ? Status::Ok() : contention.WriteCharts();
}

}  // namespace weft::bench
