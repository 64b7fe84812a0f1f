// The whole store: LevelDB's own benchmark's passes on every store, turn by turn.

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "bench/durable/options.h"
#include "bench/durable/passes.h"
#include "bench/store/place.h"
#include "bench/store/store_meter.h"

namespace weft::bench {
namespace {

// One pass of the list, and what its rows are called. A read after `compact` is another case than
// the same read before it.
struct Step {
  const Pass* pass;
  std::string name;
};

// What a pass took, with what the process used for it and for the work it left behind.
struct Turn {
  PassResult result;
  CpuSeconds cpu;          // until the store was quiet again
  double settle_s = 0;     // from the last operation until then
  double table_bytes = 0;  // written by flushes and compactions
  double given_bytes = 0;  // handed to the system to write, the log's too
};

// One store under measurement in one turn.
struct StoreInTurn {
  std::string name;
  std::string dir;
  std::unique_ptr<Store> store;
  std::optional<Ledger> ledger;
};

using Turns = std::map<std::pair<std::string, std::string>, std::vector<Turn>>;  // step, store

Result<std::vector<Step>> StepsOf(const std::vector<std::string>& names) {
  std::vector<std::string> list = names;
  if (list.empty()) {
    for (const Pass& pass : Passes()) list.push_back(pass.name);
    for (const char* name : {"readrandom", "multireadrandom", "readseq"}) list.push_back(name);
  }
  std::vector<Step> steps;
  bool compacted = false;
  for (const std::string& name : list) {
    const Pass* pass = FindPass(name);
    if (pass == nullptr) return Status(Code::kInvalidArgument, "unknown benchmark " + name);
    if (pass->writes) compacted = name == "compact";
    steps.push_back({pass, compacted && !pass->writes ? name + "-compacted" : name});
  }
  return steps;
}

// The stores that are here; tells of those that are not.
std::vector<std::string> StoresOf(const std::vector<std::string>& asked, const char* bench,
                                  Report& report) {
  std::vector<std::string> here;
  for (const std::string& name : asked.empty() ? StoreNames() : asked) {
    const std::string why = WhyUnavailable(name);
    if (why.empty()) {
      here.push_back(name);
    } else {
      report.Unavailable(fmt::format("{}, {}", bench, name), why);
    }
  }
  return here;
}

Result<StoreSettings> SettingsOf(const DurableOptions& options, const std::string& name,
                                 const std::string& compression) {
  StoreSettings settings = options.common;
  if (name == "leveldb-defaults") {
    settings.write_buffer_bytes = 4u << 20;
    settings.file_bytes = 2u << 20;
    settings.block_cache_bytes = 8u << 20;
    settings.bloom_bits = 0;
    settings.open_files = 1000;
    settings.rocksdb_level1_bytes = settings.level1_bytes;
  } else if (name != "common") {
    return Status(Code::kInvalidArgument, "unknown settings " + name);
  }
  if (compression != "none" && compression != "snappy")
    return Status(Code::kInvalidArgument, "unknown compression " + compression);
  settings.name = name;
  settings.compression =
      compression == "none" ? StoreCompression::kNone : StoreCompression::kSnappy;
  return settings;
}

std::string SettingsText(const StoreSettings& s) {
  return fmt::format(
      "{}: write buffer {} MiB, tables {} MiB, block cache {} MiB, bloom {} bits, level 1 {} MiB "
      "(RocksDB {}), compaction threads {}, outputs read back: {}, compression {}",
      s.name, s.write_buffer_bytes >> 20, s.file_bytes >> 20, s.block_cache_bytes >> 20,
      s.bloom_bits, s.level1_bytes >> 20, s.rocksdb_level1_bytes >> 20, s.background_threads,
      s.verify_compaction ? "weft" : "none", NameOf(s.compression));
}

// The stores side by side in one place with the same settings.
class Course {
 public:
  Course(const DurableOptions& options, const StoreSettings& settings, const Place& place,
         const std::vector<std::string>& stores, std::vector<Step> steps)
      : options_(options),
        settings_(settings),
        place_(place),
        steps_(std::move(steps)),
        records_(DurableRecords(options.value_bytes)) {
    for (const std::string& name : stores) contenders_.push_back({name, "", nullptr, {}});
  }

  Status Run() {
    for (int turn = 0; turn < options_.repetitions; ++turn) {
      for (size_t step = 0; step < steps_.size(); ++step) {
        if (const Status status = RunStep(turn, step); !status.ok()) return status;
      }
      for (StoreInTurn& contender : contenders_)
        if (const Status status = CheckAndRemove(&contender); !status.ok()) return status;
    }
    return Status::Ok();
  }
  const Turns& turns() const { return turns_; }
  const std::vector<Step>& steps() const { return steps_; }

 private:
  Status RunStep(int turn, size_t step);
  Result<Turn> RunTurn(StoreInTurn* contender, const Pass& pass, uint64_t seed);
  Status MakeReady(StoreInTurn* contender, const Pass& pass, uint64_t seed);
  Status CheckAndRemove(StoreInTurn* contender);
  PassInput InputOf(StoreInTurn* contender, uint64_t seed) const;

  const DurableOptions& options_;
  const StoreSettings& settings_;
  const Place& place_;
  const std::vector<Step> steps_;
  const RecordFormat records_;
  std::vector<StoreInTurn> contenders_;
  Turns turns_;
};

PassInput Course::InputOf(StoreInTurn* contender, uint64_t seed) const {
  PassInput input;
  input.store = contender->store.get();
  input.ledger = &*contender->ledger;
  input.records = &records_;
  input.reads = options_.reads;
  input.syncs = options_.syncs > 0 ? options_.syncs : std::max<uint64_t>(options_.keys / 1000, 10);
  input.tail_s = options_.tail_s;
  input.tail_load = options_.tail_load;
  input.seed = seed;
  return input;
}

// Opens the store again, which must give back all that was written, and throws it away.
Status Course::CheckAndRemove(StoreInTurn* contender) {
  if (!contender->store) return Status::Ok();
  Progress(fmt::format("durable: checking all of {}", contender->name));
  contender->store.reset();
  auto store = OpenStore(contender->name, settings_, contender->dir);
  if (!store) return store.error();
  const Status status = contender->ledger->Check(store->get(), records_);
  WaitUntilQuiet(kSettleLimitS);
  store->reset();
  place_.Fresh(contender->name);
  return status.ok()
             ? status
             : Status(status.code(), contender->name + ": " + std::string(status.message()));
}

// A fresh store for a pass that begins with one; a filled one for a pass that needs one.
Status Course::MakeReady(StoreInTurn* contender, const Pass& pass, uint64_t seed) {
  if (contender->store && !pass.fresh) return Status::Ok();
  if (const Status status = CheckAndRemove(contender); !status.ok()) return status;
  contender->dir = place_.Fresh(contender->name);
  auto store = OpenStore(contender->name, settings_, contender->dir);
  if (!store) return store.error();
  contender->store = std::move(*store);
  contender->ledger.emplace(options_.keys);
  if (pass.fresh) return Status::Ok();
  Progress(fmt::format("durable: filling {}", contender->name));
  const auto filled = FindPass("fillrandom")->run(InputOf(contender, seed ^ 1));
  WaitUntilQuiet(kSettleLimitS);
  return filled ? Status::Ok() : filled.error();
}

Result<Turn> Course::RunTurn(StoreInTurn* contender, const Pass& pass, uint64_t seed) {
  if (const Status status = MakeReady(contender, pass, seed); !status.ok()) return status;
  const double table_bytes = contender->store->Figures().table_bytes_written;
  const uint64_t given = BytesGivenToWrite();
  const CpuSeconds cpu = CpuOfThisProcess();
  auto result = pass.run(InputOf(contender, seed));
  if (!result) return result.error();
  Turn turn;
  turn.result = std::move(*result);
  turn.settle_s = WaitUntilQuiet(kSettleLimitS);
  turn.cpu = CpuOfThisProcess() - cpu;
  turn.given_bytes = static_cast<double>(BytesGivenToWrite() - given);
  turn.table_bytes = contender->store->Figures().table_bytes_written - table_bytes;
  if (turn.result.afterwards) turn.result.more.update(turn.result.afterwards());
  place_.Sync();
  return turn;
}

Status Course::RunStep(int turn, size_t step) {
  const Step& now = steps_[step];
  const uint64_t seed = base::Mix(options_.seed + static_cast<uint64_t>(turn) * 1000 + step) >> 16;
  for (size_t i = 0; i < contenders_.size(); ++i) {
    StoreInTurn& contender =
        contenders_[(i + step + static_cast<size_t>(turn)) % contenders_.size()];
    const std::string label =
        fmt::format("durable/{} {} {} {} {}/{} {}", now.name, place_.name(), settings_.name,
                    NameOf(settings_.compression), turn + 1, options_.repetitions, contender.name);
    Progress(label);
    auto took = RunTurn(&contender, *now.pass, seed);
    if (!took)
      return Status(took.error().code(),
                    fmt::format("{}, {}: {}", now.name, contender.name, took.error().message()));
    Progress(fmt::format("{}: {} {}", label, Short(took->result.figure), now.pass->unit));
    turns_[{now.name, contender.name}].push_back(std::move(*took));
  }
  return Status::Ok();
}

// Rows

struct Target {
  const char* step;
  const char* peer;
  double value;
  Goal goal = Goal::kAtLeast;
};

std::optional<Target> TargetOf(const std::string& subject, const std::string& step,
                               const std::string& peer) {
  using defaults::kTargetReadLevelDb;
  using defaults::kTargetReadRocksDb;
  using defaults::kTargetScanLevelDb;
  using defaults::kTargetTail;
  using defaults::kTargetWrite4LevelDb;
  using defaults::kTargetWriteLevelDb;
  using defaults::kTargetWriteRocksDb;
  static const std::vector<Target> table = {
      {"fillrandom", "leveldb", kTargetWriteLevelDb},
      {"fillrandom", "rocksdb", kTargetWriteRocksDb},
      {"overwrite", "leveldb", kTargetWriteLevelDb},
      {"overwrite", "rocksdb", kTargetWriteRocksDb},
      {"fillrandom4", "leveldb", kTargetWrite4LevelDb},
      {"overwrite4", "leveldb", kTargetWrite4LevelDb},
      {"readrandom", "leveldb", kTargetReadLevelDb},
      {"readrandom", "rocksdb", kTargetReadRocksDb},
      {"readrandom-compacted", "leveldb", kTargetReadLevelDb},
      {"readrandom-compacted", "rocksdb", kTargetReadRocksDb},
      {"readseq", "leveldb", kTargetScanLevelDb},
      {"readseq-compacted", "leveldb", kTargetScanLevelDb},
      {"tail", "leveldb", kTargetTail, Goal::kAtMost},
  };
  if (subject != "weft") return std::nullopt;
  for (const Target& target : table)
    if (step == target.step && peer == target.peer) return target;
  return std::nullopt;
}

Samples FiguresOf(const std::vector<Turn>& turns) {
  Samples samples;
  for (const Turn& turn : turns) samples.Add(turn.result.figure);
  return samples;
}

nlohmann::json DetailsOfSide(const std::vector<Turn>& turns) {
  Samples cpu_us, user_s, system_s, settle_s, drained, amplification, given;
  nlohmann::json more = nlohmann::json::array();
  double found = 0;
  for (const Turn& turn : turns) {
    const auto operations = static_cast<double>(turn.result.operations);
    const auto user_bytes = static_cast<double>(turn.result.user_bytes);
    user_s.Add(turn.cpu.user);
    system_s.Add(turn.cpu.system);
    settle_s.Add(turn.settle_s);
    if (operations > 0) {
      cpu_us.Add(turn.cpu.total * 1e6 / operations);
      drained.Add(operations / (turn.result.seconds + turn.settle_s));
      found += static_cast<double>(turn.result.found) / operations;
    }
    if (user_bytes > 0) {
      amplification.Add(turn.table_bytes / user_bytes);
      given.Add(turn.given_bytes / user_bytes);
    }
    if (!turn.result.more.empty()) more.push_back(turn.result.more);
  }
  nlohmann::json details = {{"user_cpu_s", user_s.Median()},
                            {"system_cpu_s", system_s.Median()},
                            {"settle_s", settle_s.Median()}};
  if (!cpu_us.empty()) {
    details["cpu_us_per_op"] = cpu_us.Median();
    details["per_s_with_settling"] = drained.Median();
    details["found_share"] = found / static_cast<double>(turns.size());
  }
  if (!amplification.empty()) {
    details["write_amplification_tables"] = amplification.Median();
    details["write_amplification_all"] = given.Median();
  }
  if (!more.empty()) details["turns"] = more;
  return details;
}

nlohmann::json DetailsOfRun(const DurableOptions& options, const StoreSettings& settings,
                            const Place& place) {
  return {{"keys", options.keys},
          {"key_bytes", kDurableKeyBytes},
          {"value_bytes", options.value_bytes},
          {"reads", options.reads},
          {"place", place.name()},
          {"settings", SettingsText(settings)},
          {"repetitions", options.repetitions}};
}

class RowMaker {
 public:
  RowMaker(const DurableOptions& options, const StoreSettings& settings, const Place& place,
           const Turns& turns)
      : options_(options), settings_(settings), place_(place), turns_(turns) {}

  // `subject` against `peer`; nothing where there is no peer.
  Row Make(const Step& step, const std::string& subject, const std::string& peer) const {
    Row row = Begin(step.name, step.pass->unit);
    const auto& ours = turns_.at({step.name, subject});
    row.subject = {StoreTitle(subject), FiguresOf(ours)};
    row.judged_name = subject;
    row.judged = row.subject.samples.Median();
    row.details[subject] = DetailsOfSide(ours);
    if (peer.empty()) return row;
    const auto& theirs = turns_.at({step.name, peer});
    row.details[peer] = DetailsOfSide(theirs);
    row.SetPeer(fmt::format("{} / {}", subject, peer), {StoreTitle(peer), FiguresOf(theirs)});
    if (const auto target = TargetOf(subject, step.name, peer)) {
      row.target = options_.target ? options_.target : target->value;
      row.goal = target->goal;
    }
    return row;
  }

  // Batched lookups of a store against its own single ones.
  Row MultiGetOverGets(const std::string& suffix, const std::string& store) const {
    Row row = Begin("multiget-over-gets" + suffix, "op/s");
    row.subject = {StoreTitle(store) + " MultiGet",
                   FiguresOf(turns_.at({"multireadrandom" + suffix, store}))};
    row.SetPeer("MultiGet / Get",
                {StoreTitle(store) + " Get", FiguresOf(turns_.at({"readrandom" + suffix, store}))});
    if (store == "weft") row.target = options_.target.value_or(defaults::kTargetDurableMultiGet);
    return row;
  }

 private:
  Row Begin(const std::string& name, const std::string& unit) const {
    Row row;
    row.bench = "durable";
    row.name = fmt::format("{}-{}-{}", name, place_.name(), NameOf(settings_.compression));
    if (settings_.name != "common") row.name += "-" + settings_.name;
    row.unit = unit;
    row.details = DetailsOfRun(options_, settings_, place_);
    return row;
  }

  const DurableOptions& options_;
  const StoreSettings& settings_;
  const Place& place_;
  const Turns& turns_;
};

// What a row's text has no room for: the cost, the debt left behind, the other percentiles.
void PrintNotes(const Row& row, const std::string& subject,
                const std::vector<std::string>& stores) {
  for (const std::string& store : stores) {
    if (!row.details.contains(store)) continue;
    const nlohmann::json& side = row.details[store];
    std::string text =
        fmt::format("      {}: CPU s {:.2f} user, {:.2f} system", store,
                    side["user_cpu_s"].get<double>(), side["system_cpu_s"].get<double>());
    if (side.contains("cpu_us_per_op")) {
      const auto mine = side["cpu_us_per_op"].get<double>();
      text += fmt::format(", {:.2f} us/op", mine);
      if (store != subject && row.details[subject].contains("cpu_us_per_op"))
        text += fmt::format(" ({:.2f} of {}'s)",
                            mine / row.details[subject]["cpu_us_per_op"].get<double>(), subject);
    }
    if (side.contains("write_amplification_tables"))
      text += fmt::format(", settled in {:.1f} s, write amplification {:.2f} (with log {:.2f})",
                          side["settle_s"].get<double>(),
                          side["write_amplification_tables"].get<double>(),
                          side["write_amplification_all"].get<double>());
    fmt::print("{}\n", text);
    if (!side.contains("turns")) continue;
    for (const nlohmann::json& turn : side["turns"]) {
      std::string more = "        ";
      for (const auto& [name, value] : turn.items())
        more += fmt::format("{} {}  ", name, Short(value.get<double>()));
      fmt::print("{}\n", more);
    }
  }
}

void AddRows(const RowMaker& maker, const Course& course, const std::vector<std::string>& stores,
             Report& report) {
  std::vector<std::string> done;
  const auto take = [&done](const std::string& name) {
    const bool first = std::find(done.begin(), done.end(), name) == done.end();
    if (first) done.push_back(name);
    return first;
  };
  for (const Step& step : course.steps()) {
    if (!take(step.name)) continue;
    if (stores.size() == 1) {
      Row row = maker.Make(step, stores[0], "");
      report.Add(row);
      PrintNotes(row, stores[0], stores);
    }
    for (size_t peer = 1; peer < stores.size(); ++peer) {
      const Row row = maker.Make(step, stores[0], stores[peer]);
      report.Add(row);
      PrintNotes(row, stores[0],
                 peer == 1 ? std::vector{stores[0], stores[peer]} : std::vector{stores[peer]});
    }
  }
  for (const std::string suffix : {"", "-compacted"}) {
    const auto has = [&](const std::string& name) {
      return course.turns().count({name + suffix, stores[0]}) > 0;
    };
    if (has("readrandom") && has("multireadrandom"))
      report.Add(maker.MultiGetOverGets(suffix, stores[0]));
  }
}

}  // namespace

Status RunDurable(const DurableOptions& options, Report& report) {
  auto steps = StepsOf(options.benchmarks);
  if (!steps) return steps.error();
  const std::vector<std::string> stores = StoresOf(options.stores, "durable", report);
  if (stores.empty()) return Status(Code::kUnsupported, "no store can be measured here");
  using List = std::vector<std::string>;
  const List places = options.places.empty() ? List{"memory", "disk"} : options.places;
  const List compressions = options.compressions.empty() ? List{"none"} : options.compressions;
  const List all_settings = options.settings.empty() ? List{"common"} : options.settings;
  for (const std::string& where : places) {
    for (const std::string& settings_name : all_settings) {
      for (const std::string& compression : compressions) {
        auto settings = SettingsOf(options, settings_name, compression);
        if (!settings) return settings.error();
        auto place = Place::Make(where);
        if (!place) return place.error();
        fmt::print("durable, {}: {} keys of {} B with {} B; {}\n", where, options.keys,
                   kDurableKeyBytes, options.value_bytes, SettingsText(*settings));
        Course course(options, *settings, *place, stores, *steps);
        if (const Status status = course.Run(); !status.ok()) return status;
        AddRows(RowMaker(options, *settings, *place, course.turns()), course, stores, report);
      }
    }
  }
  return Status::Ok();
}

}  // namespace weft::bench
