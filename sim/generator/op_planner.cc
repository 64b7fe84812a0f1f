#include "sim/generator/op_planner.h"

#include <algorithm>

#include <fmt/format.h>

namespace weft::sim {

OpPlanner::OpPlanner(RamcloudStore* store, int64_t ops) : store_(store) {
  const StoreOptions& options = store->options();
  for (int core = 0; core < options.cores; ++core) {
    const uint64_t seed = base::Mix(base::Mix(options.seed) + 100 + static_cast<uint64_t>(core));
    const int64_t left = ops / options.cores + (core < ops % options.cores);
    cores_.push_back({base::Random(seed), left, {}});
  }
  if (options.popularity.law == KeyPopularity::Law::kUniform) return;
  for (size_t cls = 0; cls < options.mix.sizes().size(); ++cls) {
    samplers_.emplace_back(options.popularity.theta, std::max<uint64_t>(1, store->KeysOf(cls)));
  }
}

Status OpPlanner::PlanOne(int number, Core& core) {
  const Mix::Drawn drawn = store_->options().mix.Draw(core.random.Next());
  const auto cls = static_cast<size_t>(drawn.size);
  const uint64_t rank =
      samplers_.empty() ? core.random.Below(store_->KeysOf(cls)) : samplers_[cls].Rank(core.random);
  const uint32_t key = store_->KeyOfRank(cls, rank);
  const RamcloudStore::Place place = store_->Find(key);
  PlannedOp op{.type = drawn.type,
               .value_bytes = static_cast<uint16_t>(store_->options().mix.sizes()[cls].value_bytes),
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
