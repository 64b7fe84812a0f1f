#include "sim/trace/op_planner.h"

#include <algorithm>

#include <fmt/format.h>

namespace weft::sim {

OpPlanner::OpPlanner(RamcloudStore* store, int64_t ops) : store_(store) {
  const StoreOptions& options = store->options();
  for (int core = 0; core < options.cores; ++core) {
    const uint64_t seed = bench::Mix(bench::Mix(options.seed) + 100 + static_cast<uint64_t>(core));
    const int64_t left = ops / options.cores + (core < ops % options.cores);
    cores_.push_back({bench::Random(seed), left, {}});
  }
  double end = 0;
  for (size_t cls = 0; cls < options.mix.classes.size(); ++cls) {
    classes_end_.push_back(end += options.mix.classes[cls].reads);
    classes_end_.push_back(end += options.mix.classes[cls].writes);
    if (options.popularity.law != KeyPopularity::Law::kUniform) {
      samplers_.emplace_back(options.popularity.theta, std::max<uint64_t>(1, store->KeysOf(cls)));
    }
  }
  // Rounding may leave a rest above the last share that isn't 0: it is that one's.
  const double all = end;
  for (double& share : classes_end_) {
    if (share >= all) share = 2;
  }
}

Status OpPlanner::PlanOne(int number, Core& core) {
  const double unit = core.random.Unit();
  size_t drawn = 0;
  while (classes_end_[drawn] <= unit) ++drawn;
  const size_t cls = drawn / 2;
  const uint64_t rank =
      samplers_.empty() ? core.random.Below(store_->KeysOf(cls)) : samplers_[cls].Rank(core.random);
  const uint32_t key = store_->KeyOfRank(cls, rank);
  const RamcloudStore::Place place = store_->Find(key);
  PlannedOp op{.type = drawn % 2 == 0 ? OpType::kGet : OpType::kPut,
               .value_bytes = static_cast<uint16_t>(store_->options().mix.classes[cls].value_bytes),
               .entry_bytes = static_cast<uint16_t>(store_->EntryBytesOf(cls)),
               .line = place.line,
               .tag = place.tag,
               .slot = place.slot,
               .addr = place.addr};
  if (op.type == OpType::kPut) {
    const std::optional<uint64_t> at = store_->Put(number, key);
    if (!at) {
      const StoreShape& shape = store_->shape();
      return {Code::kNoMemory,
              fmt::format("core {}: the log of {} bytes is full, {} operations before the core's "
                          "end: fewer operations or puts, or more memory",
                          number, shape.log_limit - shape.log_base, core.left)};
    }
    op.new_addr = *at;
  }
  --core.left;
  core.planned.push_back(op);
  return Status::Ok();
}

Result<std::optional<PlannedOp>> OpPlanner::Next(int core) {
  Core& asked = cores_[static_cast<size_t>(core)];
  while (asked.planned.empty()) {
    if (asked.left == 0) return std::optional<PlannedOp>();
    for (size_t number = 0; number < cores_.size(); ++number) {
      if (cores_[number].left == 0) continue;
      Status status = PlanOne(static_cast<int>(number), cores_[number]);
      if (!status.ok()) return status;
    }
  }
  const PlannedOp op = asked.planned.front();
  asked.planned.pop_front();
  return std::optional<PlannedOp>(op);
}

}  // namespace weft::sim
