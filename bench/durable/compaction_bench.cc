// Compactions alone: our executor on the tables that LevelDB left, and on runs as RocksDB left
// them, against the compactions of those two.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "bench/durable/ledger.h"
#include "bench/durable/merge.h"
#include "bench/durable/options.h"
#include "bench/store/place.h"
#include "bench/store/store_meter.h"

namespace weft::bench {
namespace {

// Keys for a length of values: about as many bytes each time.
uint64_t KeysFor(uint32_t value_bytes) {
  if (value_bytes <= 100) return 3'000'000;
  return value_bytes <= 256 ? 2'000'000 : 1'000'000;
}

// One of those that are compared: what it is called in rows, and one run of it.
struct Rival {
  std::string name;
  std::string title;
  std::function<Result<MergeTiming>()> run;
  std::vector<MergeTiming> timings = {};
};

// Where a contender of ours has its tables.
enum class Tables { kInFiles, kDirect, kInMemory };

const char* TablesText(Tables tables) {
  switch (tables) {
    case Tables::kInFiles: return "";
    case Tables::kDirect: return ", by direct I/O";
    case Tables::kInMemory: return ", tables in its memory";
  }
  return "";
}

// One length of values, compression and place.
class MergeCase {
 public:
  MergeCase(const CompactionOptions& options, const Place& place, uint32_t value_bytes,
            StoreCompression compression)
      : options_(options),
        place_(place),
        records_(DurableRecords(value_bytes)),
        name_(fmt::format("{}B-{}-{}", value_bytes, NameOf(compression), place.name())),
        keys_(static_cast<uint64_t>(static_cast<double>(KeysFor(value_bytes)) * options.scale)) {
    settings_.compression = compression;
    settings_.file_bytes = options.table_bytes;
    // A smaller tree has the same shape.
    if (options.scale < 1)
      settings_.write_buffer_bytes = static_cast<uint64_t>(
          static_cast<double>(settings_.write_buffer_bytes) * std::max(options.scale, 0.02));
    pass_.keys = pass_.writes = keys_;
    pass_.seed = options.seed;
  }

  Status Prepare();
  Status Run();
  void AddRows(Report& report) const;

 private:
  bool Wanted(const std::string& store) const {
    const auto& list = options_.stores;
    return (list.empty() || std::find(list.begin(), list.end(), store) != list.end()) &&
           WhyUnavailable(store).empty();
  }
  // For devices, which are not divided among threads.
  int ThreadsMax() const {
    const auto& threads = options_.threads;
    return threads.empty() ? 1 : *std::max_element(threads.begin(), threads.end());
  }
  Status Write(Store* store, double share);
  Result<StoreFigures> Fill(const std::string& name, const StoreSettings& settings,
                            const std::string& dir);
  Status PrepareLevelDb();
  Status PrepareRocksDb();
  Status PrepareRuns();
  void AddStore(const std::string& name, const StoreSettings& settings, const std::string& filled);
  void AddOurs(const std::string& name, const MergeInput* input, bool verify, int threads,
               const std::string& device = "cpu", Tables tables = Tables::kInFiles);
  Result<InputInMemory*> InMemory(const MergeInput* input, const std::string& device);
  void AddCopy(const std::string& name, const MergeInput* input);
  void AddAllOfOurs(const std::string& name, const MergeInput* input);
  const Rival* Find(const std::string& name) const;
  void AddRow(Report& report, const std::string& subject, const std::string& peer,
              double target) const;

  const CompactionOptions& options_;
  const Place& place_;
  const RecordFormat records_;
  const std::string name_;
  const uint64_t keys_;
  StoreSettings settings_;
  WritePass pass_;
  uint64_t distinct_ = 0;
  MergeInput tree_;  // LevelDB's tables
  MergeInput runs_;
  std::map<std::pair<const MergeInput*, std::string>, std::unique_ptr<InputInMemory>> in_memory_;
  std::vector<Rival> rivals_;
  Samples machine_scaling_;  // two threads over one, once a turn
};

// The first writes of the pass, all of them where `share` is 1. Again: the keys are the same.
Status MergeCase::Write(Store* store, double share) {
  IdStream ids(pass_, 0);
  std::string value(records_.value_bytes_max(), '\0');
  const auto writes = static_cast<uint32_t>(static_cast<double>(pass_.writes) * share);
  for (uint32_t i = 0; i < writes; ++i) {
    const uint32_t id = ids.Next();
    records_.WriteValue(id, i, value.data());
    const Status status = store->Put(RecordKey(records_, id), value, false);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

// Fills a store, and opens it once more so that nothing is left in its log. LevelDB goes on by
// itself, at times until all is in one level: then some more is written.
Result<StoreFigures> MergeCase::Fill(const std::string& name, const StoreSettings& settings,
                                     const std::string& dir) {
  Progress(fmt::format("compaction {}: filling {}", name_, name));
  double share = 1;
  for (int round = 0; round < 8; ++round) {
    {
      auto store = OpenStore(name, settings, dir);
      if (!store) return store.error();
      if (const Status status = Write(store->get(), share); !status.ok()) return status;
      WaitUntilQuiet(kSettleLimitS);
    }
    auto store = OpenStore(name, settings, dir);
    if (!store) return store.error();
    WaitUntilQuiet(kSettleLimitS);
    StoreFigures figures = (*store)->Figures();
    if (name != "leveldb") return figures;
    const auto input = TablesOfLevelDb(dir, figures.tables);
    if (!input || input.value().runs.size() > 1) return figures;
    share = 0.04;
  }
  return Status(Code::kUnsupported, name + " left nothing to compact");
}

void MergeCase::AddStore(const std::string& name, const StoreSettings& settings,
                         const std::string& filled) {
  const auto run = [this, name, settings, filled]() -> Result<MergeTiming> {
    const std::string copy = place_.Fresh(name + "-copy");
    std::error_code error;
    std::filesystem::copy(filled, copy, std::filesystem::copy_options::recursive, error);
    if (error) return Status::FromErrno("copy " + filled, error.value());
    auto timing = MergeInStore(name, settings, copy);
    place_.Fresh(name + "-copy");
    return timing;
  };
  rivals_.push_back({name, StoreTitle(name), run});
}

void MergeCase::AddOurs(const std::string& name, const MergeInput* input, bool verify, int threads,
                        const std::string& device, Tables tables) {
  const auto run = [=, this]() -> Result<MergeTiming> {
    MergeSettings settings;
    if (tables == Tables::kInMemory) {
      auto memory = InMemory(input, device);
      if (!memory) return memory.error();
      settings.memory = *memory;
    }
    settings.direct = tables == Tables::kDirect;
    settings.store = settings_;
    settings.verify_outputs = verify;
    settings.threads = threads;
    settings.device = device;
    return MergeOurs(*input, settings, place_.Fresh("outputs"), distinct_);
  };
  rivals_.push_back({name,
                     fmt::format("weft{}, {} thread{}{}{}", device == "cpu" ? "" : " on " + device,
                                 threads, threads == 1 ? "" : "s", TablesText(tables),
                                 verify ? ", outputs read back" : ""),
                     run});
}

// Loaded once for all rounds.
Result<InputInMemory*> MergeCase::InMemory(const MergeInput* input, const std::string& device) {
  std::unique_ptr<InputInMemory>& loaded = in_memory_[{input, device}];
  if (loaded == nullptr) {
    auto made = InputInMemory::Load(*input, device, settings_.file_bytes);
    if (!made) return made.error();
    loaded = std::move(*made);
  }
  return loaded.get();
}

// What those that use direct I/O are held against.
void MergeCase::AddCopy(const std::string& name, const MergeInput* input) {
  rivals_.push_back({name + "-copied", fmt::format("a copy, {} threads", ThreadsMax()), [=, this] {
                       return CopyDirect(*input, ThreadsMax(), place_.Fresh("outputs"));
                     }});
}

// By one thread and by two; then as the options ask for. Without reading back, which is the CPU's
// work; of devices with it, too, by as many threads as are asked for.
void MergeCase::AddAllOfOurs(const std::string& name, const MergeInput* input) {
  AddOurs(name + "-verified", input, true, 1);
  AddOurs(name, input, false, 1);
  AddOurs(name + "-2-threads", input, true, 2);
  const bool direct = options_.direct && HasDirectIo(*input);
  if (direct) AddCopy(name, input);
  for (const int threads : options_.threads) {
    AddOurs(fmt::format("{}-unverified-{}-threads", name, threads), input, false, threads);
    if (direct)
      AddOurs(fmt::format("{}-direct-{}-threads", name, threads), input, false, threads, "cpu",
              Tables::kDirect);
  }
  for (const std::string& device : options_.devices) {
    AddOurs(fmt::format("{}-{}", name, device), input, false, ThreadsMax(), device);
    AddOurs(fmt::format("{}-verified-{}", name, device), input, true, ThreadsMax(), device);
    AddOurs(fmt::format("{}-in-memory-{}", name, device), input, false, ThreadsMax(), device,
            Tables::kInMemory);
    AddOurs(fmt::format("{}-in-memory-verified-{}", name, device), input, true, ThreadsMax(),
            device, Tables::kInMemory);
    if (direct)
      AddOurs(fmt::format("{}-direct-{}", name, device), input, false, ThreadsMax(), device,
              Tables::kDirect);
  }
}

Status MergeCase::PrepareLevelDb() {
  const std::string dir = place_.Fresh("leveldb");
  auto figures = Fill("leveldb", settings_, dir);
  if (!figures) return figures.error();
  AddStore("leveldb", settings_, dir);
  if (!Wanted("weft")) return Status::Ok();
  auto tree = TablesOfLevelDb(dir, figures->tables);
  if (!tree) return tree.error();
  tree_ = std::move(*tree);
  AddAllOfOurs("tree", &tree_);
  return Status::Ok();
}

Status MergeCase::PrepareRocksDb() {
  StoreSettings settings = settings_;
  settings.automatic_compaction = false;
  const std::string dir = place_.Fresh("rocksdb");
  auto figures = Fill("rocksdb", settings, dir);
  if (!figures) return figures.error();
  AddStore("rocksdb", settings, dir);
  return Status::Ok();
}

Status MergeCase::PrepareRuns() {
  Progress(fmt::format("compaction {}: writing runs", name_));
  RunShape shape;
  shape.keys = keys_;
  shape.run_bytes = settings_.write_buffer_bytes;
  shape.seed = options_.seed;
  shape.compression = settings_.compression;
  auto runs = WriteRuns(place_.Fresh("runs"), shape, records_);
  if (!runs) return runs.error();
  runs_ = std::move(*runs);
  AddAllOfOurs("runs", &runs_);
  return Status::Ok();
}

Status MergeCase::Prepare() {
  Ledger ledger(keys_);
  ledger.End(pass_);
  distinct_ = ledger.DistinctKeys();
  Status status;
  if (Wanted("leveldb")) status = PrepareLevelDb();
  if (status.ok() && Wanted("rocksdb")) status = PrepareRocksDb();
  if (status.ok() && Wanted("weft")) status = PrepareRuns();
  return status;
}

Status MergeCase::Run() {
  for (int turn = 0; turn < options_.repetitions; ++turn) {
    machine_scaling_.Add(MachineTwoThreadsOverOne());
    for (size_t i = 0; i < rivals_.size(); ++i) {
      Rival& rival = rivals_[(i + static_cast<size_t>(turn)) % rivals_.size()];
      auto timing = rival.run();
      if (!timing)
        return Status(timing.error().code(),
                      fmt::format("{}: {}", rival.name, timing.error().message()));
      place_.Sync();
      rival.timings.push_back(*timing);
      Progress(fmt::format("compaction {} {}/{} {}: {} MiB/s", name_, turn + 1,
                           options_.repetitions, rival.name, Short(timing->PerSecond())));
    }
  }
  return Status::Ok();
}

const Rival* MergeCase::Find(const std::string& name) const {
  const auto at = std::find_if(rivals_.begin(), rivals_.end(),
                               [&](const Rival& rival) { return rival.name == name; });
  return at == rivals_.end() ? nullptr : &*at;
}

// Medians, in seconds, of a device's; those that come after each other first.
std::vector<std::pair<const char*, double>> PhasesOf(const Rival& rival) {
  using compaction::PhaseTimes;
  const std::pair<const char*, uint64_t PhaseTimes::*> all[] = {
      {"wait", &PhaseTimes::wait_us},         {"unpack", &PhaseTimes::unpack_us},
      {"sort", &PhaseTimes::sort_us},         {"pack", &PhaseTimes::pack_us},
      {"load", &PhaseTimes::load_us},         {"upload", &PhaseTimes::upload_us},
      {"download", &PhaseTimes::download_us}, {"write", &PhaseTimes::write_us}};
  std::vector<std::pair<const char*, double>> phases;
  for (const auto& [name, time] : all) {
    Samples samples;
    for (const MergeTiming& timing : rival.timings)
      samples.Add(static_cast<double>(timing.phases.*time) * 1e-6);
    phases.emplace_back(name, samples.Median());
  }
  return phases;
}

bool HasPhases(const Rival& rival) { return rival.timings[0].phases.unpack_us != 0; }

nlohmann::json DetailsOf(const Rival& rival) {
  Samples wall, per_cpu, user, system;
  for (const MergeTiming& timing : rival.timings) {
    wall.Add(timing.wall_s);
    per_cpu.Add(timing.input_mib / timing.cpu.total);
    user.Add(timing.cpu.user);
    system.Add(timing.cpu.system);
  }
  nlohmann::json details = {{"input_mib", rival.timings[0].input_mib},
                            {"wall_s", wall.Median()},
                            {"input_mib_per_cpu_s", per_cpu.Median()},
                            {"user_cpu_s", user.Median()},
                            {"system_cpu_s", system.Median()}};
  if (HasPhases(rival)) {
    for (const auto& [phase, seconds] : PhasesOf(rival)) details["phase_s"][phase] = seconds;
    details["direct_mib"] = rival.timings[0].direct_mib;
  }
  return details;
}

Samples RatesOf(const Rival& rival) {
  Samples rates;
  for (const MergeTiming& timing : rival.timings) rates.Add(timing.PerSecond());
  return rates;
}

// `target` 0: for information.
void MergeCase::AddRow(Report& report, const std::string& subject, const std::string& peer,
                       double target) const {
  const Rival* ours = Find(subject);
  const Rival* theirs = Find(peer);
  if (ours == nullptr) return;
  Row row;
  row.bench = "compaction";
  row.name = fmt::format("{}-{}", subject, name_);
  row.unit = "input MiB/s";
  row.subject = {ours->title, RatesOf(*ours)};
  row.judged_name = subject;
  row.judged = row.subject.samples.Median();
  row.details = {{"keys", keys_},
                 {"value_bytes", records_.value_bytes_max()},
                 {"table_bytes", settings_.file_bytes},
                 {"tables_tree", tree_.tables},
                 {"tables_runs", runs_.tables},
                 {"runs_tree", tree_.runs.size()},
                 {subject, DetailsOf(*ours)}};
  if (theirs != nullptr) {
    row.SetPeer(subject + " / " + peer, {theirs->title, RatesOf(*theirs)});
    row.details[peer] = DetailsOf(*theirs);
    if (target > 0) row.target = options_.target.value_or(target);
  }
  std::string note = "      input MiB a CPU second:";
  for (const Rival* rival : {ours, theirs}) {
    if (rival == nullptr) continue;
    const nlohmann::json of = DetailsOf(*rival);
    note += fmt::format(" {} {:.0f} ({:.0f} MiB, {:.3f} s user, {:.3f} s system)", rival->name,
                        of["input_mib_per_cpu_s"].get<double>(), rival->timings[0].input_mib,
                        of["user_cpu_s"].get<double>(), of["system_cpu_s"].get<double>());
  }
  if (target == defaults::kTargetCompactionThreads) {
    row.details["machine_2_threads_over_1"] = machine_scaling_.all();
    note += fmt::format("; two threads that only copy: {:.2f} of one", machine_scaling_.Median());
  }
  report.Add(std::move(row));
  fmt::print("{}\n", note);
  if (!HasPhases(*ours)) return;
  note = "      ms:";
  for (const auto& [phase, seconds] : PhasesOf(*ours))
    note += fmt::format(" {} {:.1f}", phase, seconds * 1e3);
  fmt::print("{}\n", note);
}

void MergeCase::AddRows(Report& report) const {
  using defaults::kTargetCompaction;
  using defaults::kTargetCompactionThreads;
  if (Find("runs") == nullptr) return AddRow(report, "leveldb", "rocksdb", 0);
  AddRow(report, "tree-verified", "leveldb", kTargetCompaction);
  AddRow(report, "tree", "leveldb", kTargetCompaction);
  AddRow(report, "runs-verified", "rocksdb", kTargetCompaction);
  AddRow(report, "runs", "rocksdb", kTargetCompaction);
  AddRow(report, "tree-2-threads", "tree-verified", kTargetCompactionThreads);
  AddRow(report, "runs-2-threads", "runs-verified", kTargetCompactionThreads);
  for (const auto& [input, peer] : {std::pair("tree", "leveldb"), std::pair("runs", "rocksdb")}) {
    const std::string copy = std::string(input) + "-copied";
    if (options_.direct && Find(input) != nullptr && Find(copy) == nullptr)
      report.Unavailable(fmt::format("compaction by direct I/O, {}-{}", input, name_),
                         "the file system has none");
    for (const int threads : options_.threads) {
      AddRow(report, fmt::format("{}-unverified-{}-threads", input, threads), peer, 0);
      if (options_.direct)
        AddRow(report, fmt::format("{}-direct-{}-threads", input, threads), copy, 0);
    }
    for (const std::string& device : options_.devices) {
      AddRow(report, fmt::format("{}-{}", input, device), peer, 0);
      for (const char* how : {"verified", "in-memory", "in-memory-verified"})
        AddRow(report, fmt::format("{}-{}-{}", input, how, device), peer, 0);
      if (options_.direct) AddRow(report, fmt::format("{}-direct-{}", input, device), copy, 0);
    }
  }
}

}  // namespace

Status RunCompaction(const CompactionOptions& options, Report& report) {
  for (const char* peer : {"leveldb", "rocksdb"}) {
    const std::string why = WhyUnavailable(peer);
    if (!why.empty()) report.Unavailable(fmt::format("compaction, {}", peer), why);
  }
  using List = std::vector<std::string>;
  const List places = options.places.empty() ? List{"memory"} : options.places;
  const List compressions =
      options.compressions.empty() ? List{"none", "snappy"} : options.compressions;
  const std::vector<uint32_t> lengths =
      options.value_bytes.empty() ? std::vector<uint32_t>{100, 256, 1000} : options.value_bytes;
  for (const std::string& where : places) {
    for (const uint32_t length : lengths) {
      for (const std::string& compression : compressions) {
        auto place = Place::Make(where);
        if (!place) return place.error();
        MergeCase merge(
            options, *place, length,
            compression == "none" ? StoreCompression::kNone : StoreCompression::kSnappy);
        Status status = merge.Prepare();
        if (status.ok()) status = merge.Run();
        if (!status.ok()) return status;
        merge.AddRows(report);
      }
    }
  }
  return Status::Ok();
}

}  // namespace weft::bench
