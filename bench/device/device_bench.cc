// The table in device memory, operation by operation: keys, index, objects and replies all lie on
// the device, nothing goes over the bus. Beside each figure stands what the same run measured of
// the bare memory traffic that the operation has at least.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/device/ceilings.h"
#include "bench/device/options.h"
#include "bench/device/session.h"

namespace weft::bench {
namespace {

struct ShapeTargets {
  DeviceShape shape;
  double read, insert;  // operations a second, at least; 0: none
};

const std::vector<ShapeTargets>& AllShapes() {
  static const std::vector<ShapeTargets> all = {
      {{"K8", 1, 1, 32}, defaults::kTargetDeviceReadK8, 0},
      {{"K16", 2, 8, 32}, defaults::kTargetDeviceReadK16, defaults::kTargetDeviceInsertK16},
      {{"K32", 4, 32, 64}, defaults::kTargetDeviceReadK32, 0},
  };
  return all;
}

// One operation: its samples and its ceiling's, in operations a second.
struct Measured {
  std::string name;
  Side weft, ceiling;
  std::optional<double> target;
  LoadCounts counts;
};

class ShapeBench {
 public:
  ShapeBench(const DeviceOptions& options, const ShapeTargets& what,
             const processor::DeviceFacts& facts, Report& report)
      : options_(options), what_(what), facts_(facts), report_(report) {}

  Status Run() {
    auto session = DeviceSession::Open(what_.shape, options_, facts_);
    if (!session) return session.error();
    session_ = std::move(*session);
    // Ceilings are of memory that holds what it will hold: zeros may read faster.
    LoadCounts unused;
    const auto filled = session_->Fill(0, false, &unused);
    if (!filled) return filled.error();
    Status status = MeasureCeilings();
    if (status.ok()) status = Fill(false);
    if (status.ok()) status = Fill(true);
    if (status.ok()) status = Reads("search", kRunSearch, &lines_, defaults::kTargetDeviceSearch);
    if (status.ok()) status = Reads("search+compare", kFinds, &walks_, {});
    if (status.ok())
      status = Reads("search+compare+read", kFinds | kRunRead, &walks_, TargetOf(what_.read));
    if (status.ok()) status = PlainReads();
    if (status.ok()) status = Mixed("mixed-95-5", 50);
    if (status.ok()) status = Mixed("mixed-50-50", 500);
    if (status.ok()) status = Deletes();
    return status;
  }

 private:
  static std::optional<double> TargetOf(double target) {
    if (target == 0) return std::nullopt;
    return target;
  }

  void Add(const Measured& measured) {
    Row row;
    row.bench = "device";
    row.name = std::string(what_.shape.name) + "/" + measured.name;
    row.unit = "op/s";
    row.subject = measured.weft;
    if (!measured.ceiling.samples.empty()) row.peer = measured.ceiling;
    row.judged_name = "op/s";
    row.judged = measured.weft.samples.Median();
    row.target = measured.target;
    row.details = session_->Details();
    row.details["hits"] = measured.counts.hits;
    row.details["misses"] = measured.counts.misses;
    row.details["stored"] = measured.counts.stored;
    row.details["deleted"] = measured.counts.deleted;
    row.details["refused"] = measured.counts.refused;
    row.details["wrong"] = measured.counts.wrong;
    report_.Add(std::move(row));
  }

  // A reply that is wrong, or a write that was refused, ends the benchmark without a figure.
  static Status Judge(const std::string& name, const LoadCounts& counts, bool may_refuse) {
    if (counts.wrong == 0 && (may_refuse || counts.refused == 0)) return Status::Ok();
    return {Code::kCorruption, fmt::format("{}: {} replies are wrong, {} writes refused", name,
                                           counts.wrong, counts.refused)};
  }

  template <typename Launch>
  Status Ceiling(const char* name, uint64_t count, Launch launch, Side* side) {
    side->name = name;
    for (int turn = -1; turn < options_.repetitions; turn++) {
      const uint64_t seed = options_.seed + static_cast<uint64_t>(turn + 1) * count;
      const Result<double> seconds = session_->Time([&] { return launch(seed); });
      if (!seconds) return seconds.error();
      if (turn >= 0) side->samples.Add(static_cast<double>(count) / seconds.value());
    }
    return Status::Ok();
  }

  Status MeasureCeilings() {
    const uint64_t count = options_.batch;
    const Region index = session_->index(), log = session_->log();
    uint64_t* const sink = session_->sink();
    const uint32_t bytes = session_->object_bytes(), align = what_.shape.align_bytes;
    Status status = Ceiling(
        "random lines", count,
        [&](uint64_t seed) { return ReadRandomLines(index, count, seed, sink, kStream); }, &lines_);
    if (status.ok())
      status = Ceiling(
          "bucket then object", count,
          [&](uint64_t seed) {
            return ReadBucketThenObject(index, log, bytes, align, count, seed, sink, kStream);
          },
          &walks_);
    if (status.ok())
      status = Ceiling(
          "random swaps", count,
          [&](uint64_t seed) { return SwapRandomWords(index, count, seed, sink, kStream); },
          &swaps_);
    return status;
  }

  // The table from empty to full. `any`: keys may repeat in a batch, for all the kernel knows.
  Status Fill(bool any) {
    Measured measured{any ? "insert-any" : "insert",
                      {"weft", {}},
                      swaps_,
                      any ? std::nullopt : TargetOf(what_.insert),
                      {}};
    for (int turn = 0; turn < options_.repetitions; turn++) {
      auto filled = session_->Fill(static_cast<uint64_t>(turn), any, &measured.counts);
      if (!filled) return filled.error();
      measured.weft.samples.Add(filled.value());
    }
    // Near the end some stores find no room: up to a hundredth of a percent is the policy's price.
    Status status = Judge(measured.name, measured.counts, true);
    const uint64_t all = session_->objects() * static_cast<uint64_t>(options_.repetitions);
    if (status.ok() && measured.counts.stored < all - all / 10'000)
      status = {Code::kCorruption, fmt::format("insert: only {} of {} objects were stored",
                                               measured.counts.stored, all)};
    if (status.ok() && measured.counts.stored != all)
      fmt::print("  {} stores found no room\n", all - measured.counts.stored);
    if (status.ok()) Add(measured);
    return status;
  }

  // Keys that found no room when the table was filled are misses now: as few as there were.
  Status JudgeReplies(const std::string& name, LoadCounts counts) const {
    const double allowed = session_->refused() == 0 ? 0 : 1e-4 * options_.batch;
    if (static_cast<double>(counts.wrong) <= allowed) counts.wrong = 0;
    if (static_cast<double>(counts.refused) <= allowed) counts.refused = 0;
    return Judge(name, counts, false);
  }

  // `launch(turn, &counts)` for each turn from `first` on; those before 0 warm up.
  template <typename Launch>
  Status Turns(Measured measured, int first, const Launch& launch) {
    for (int turn = first; turn < options_.repetitions; turn++) {
      LoadCounts counts;
      const Result<double> rate = launch(turn, &counts);
      if (!rate) return rate.error();
      const Status status = JudgeReplies(measured.name, counts);
      if (!status.ok()) return status;
      if (turn < 0) continue;
      measured.weft.samples.Add(rate.value());
      measured.counts = counts;
    }
    Add(measured);
    return Status::Ok();
  }

  Status Reads(const char* name, uint32_t tasks, const Side* ceiling,
               std::optional<double> target) {
    return Turns({name, {"weft", {}}, *ceiling, target, {}}, -1, [&](int turn, LoadCounts* counts) {
      return session_->Read(tasks, Seed(name, turn), counts);
    });
  }

  // The single-source tasks, one lane a query, as a measure of what tuning is worth.
  Status PlainReads() {
    return Turns({"read-plain", {"weft", {}}, walks_, {}, {}}, -1,
                 [&](int turn, LoadCounts* counts) {
                   return session_->ReadPlain(Seed("plain", turn), counts);
                 });
  }

  Status Mixed(const char* name, uint32_t write_permille) {
    return Turns({name, {"weft", {}}, walks_, {}, {}}, -1, [&](int turn, LoadCounts* counts) {
      return session_->Mix(write_permille, Seed(name, turn), counts);
    });
  }

  Status Deletes() {
    return Turns({"delete", {"weft", {}}, swaps_, {}, {}}, 0, [&](int turn, LoadCounts* counts) {
      return session_->Delete(static_cast<uint32_t>(turn), counts);
    });
  }

  uint64_t Seed(const std::string& name, int turn) const {
    return options_.seed + std::hash<std::string>()(name) + static_cast<uint64_t>(turn + 1);
  }

  const DeviceOptions& options_;
  const ShapeTargets& what_;
  const processor::DeviceFacts& facts_;
  Report& report_;
  std::unique_ptr<DeviceSession> session_;
  Side lines_, walks_, swaps_;
};

Status Bus(Report& report, const processor::DeviceFacts& facts) {
  constexpr uint64_t kBytes = 1ul << 30;
  const Result<BusRates> rates = MeasureBus(kBytes);
  if (!rates) return rates.error();
  const auto add = [&](const char* name, double rate) {
    Row row;
    row.bench = "device";
    row.name = name;
    row.unit = "B/s";
    row.subject = {"copies of 1 GiB, pinned", Samples({rate})};
    row.judged_name = "B/s";
    row.judged = rate;
    row.details["gpu"] = facts.name;
    report.Add(std::move(row));
  };
  add("bus/in", rates.value().in);
  add("bus/out", rates.value().out);
  add("bus/both", rates.value().both);
  return Status::Ok();
}

}  // namespace

Status RunDevice(const DeviceOptions& asked_for, Report& report) {
  DeviceOptions options = asked_for;
  options.batch = static_cast<uint32_t>(std::min<uint64_t>(options.batch, options.objects));
  Status status = processor::SetDevice(options.device);
  if (!status.ok()) return status;
  const Result<processor::DeviceFacts> facts = processor::FactsOfDevice(options.device);
  if (!facts) return facts.error();
  const Result<uint64_t> free_bytes = processor::FreeBytes();
  if (!free_bytes) return free_bytes.error();
  fmt::print("{}: {} multiprocessors, {:.1f} GiB, {:.1f} free, CUDA {}.{}\n", facts.value().name,
             facts.value().multiprocessors, std::ldexp(facts.value().memory_bytes, -30),
             std::ldexp(free_bytes.value(), -30), facts.value().driver / 1000,
             facts.value().driver % 1000 / 10);
  status = Bus(report, facts.value());
  for (const ShapeTargets& shape : AllShapes()) {
    const auto& asked = options.shapes;
    if (!asked.empty() && std::find(asked.begin(), asked.end(), shape.shape.name) == asked.end())
      continue;
    if (status.ok()) status = ShapeBench(options, shape, facts.value(), report).Run();
  }
  return status;
}

}  // namespace weft::bench
