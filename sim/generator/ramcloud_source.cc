#include "sim/generator/ramcloud_source.h"

#include <fmt/format.h>

#include "base/check.h"
#include "sim/generator/refuse.h"

namespace weft::sim {
namespace {

constexpr uint32_t kKeyLeadMax = 5000;
constexpr int kOtherPerOpMax = 10'000;
constexpr uint32_t kInstrPerOpMax = 100'000'000;

Status ValidateOps(const RamcloudOptions& options) {
  if (options.ops < 1) return Refuse("no operations: only a trace has a number of its own");
  const OpShape& op = options.op;
  if (op.key_lead < 1 || op.key_lead > kKeyLeadMax) {
    return Refuse(fmt::format("a key {} instructions before its bucket: 1 to {} are possible",
                              op.key_lead, kKeyLeadMax));
  }
  if (op.other_per_op < 0 || op.other_per_op > kOtherPerOpMax) {
    return Refuse(fmt::format("{} other accesses an operation: 0 to {} are possible",
                              op.other_per_op, kOtherPerOpMax));
  }
  if (op.instr_per_op < 1 || op.instr_per_op > kInstrPerOpMax) {
    return Refuse(fmt::format("{} instructions an operation: 1 to {} are possible", op.instr_per_op,
                              kInstrPerOpMax));
  }
  return Status::Ok();
}

}  // namespace

Result<BuiltStore> RamcloudSource::Build(const RamcloudOptions& options) {
  Status status = ValidateOps(options);
  if (!status.ok()) return status;
  StoreOptions store_options = options.store;
  store_options.puts_max = options.ops / std::max(1, options.store.cores) + 1;
  Result<std::unique_ptr<RamcloudStore>> store = RamcloudStore::Build(store_options);
  if (!store) return store.error();
  BuiltStore built;
  built.initial_table = std::make_shared<const TableImage>(store.value()->InitialTable());
  built.store = std::move(store.value());
  return built;
}

std::unique_ptr<RamcloudSource> RamcloudSource::Of(const BuiltStore& built,
                                                   const RamcloudOptions& options) {
  // Its constructor is private.
  return std::unique_ptr<RamcloudSource>(new RamcloudSource(built, options));
}

Result<std::unique_ptr<RamcloudSource>> RamcloudSource::Make(const RamcloudOptions& options) {
  const Result<BuiltStore> built = Build(options);
  if (!built) return built.error();
  return Of(built.value(), options);
}

RamcloudSource::RamcloudSource(const BuiltStore& built, const RamcloudOptions& options)
    : store_(std::make_unique<RamcloudStore>(*built.store)),
      initial_table_(built.initial_table),
      planner_(store_.get(), options.ops) {
  for (int core = 0; core < cores(); ++core) {
    cores_.push_back({OpRecords(store_.get(), options.op, core), {}, 0});
  }
}

Result<bool> RamcloudSource::Next(int core, Record* record) {
  Core& asked = cores_[static_cast<size_t>(core)];
  if (asked.next == asked.records.size()) {
    Result<std::optional<PlannedOp>> op = planner_.Next(core);
    if (!op) return op.error();
    if (!op.value()) return false;
    asked.writer.Write(*op.value(), &asked.records);
    asked.next = 0;
  }
  *record = asked.records[asked.next++];
  return true;
}

Result<bool> RamcloudSource::NextMarks(int core, std::vector<Record>* marks) {
  Core& asked = cores_[static_cast<size_t>(core)];
  WEFT_CHECK(asked.next == asked.records.size());
  const Result<std::optional<PlannedOp>> op = planner_.Next(core);
  if (!op) return op.error();
  if (!op.value()) return false;
  asked.writer.WriteMarks(*op.value(), marks);
  return true;
}

}  // namespace weft::sim
