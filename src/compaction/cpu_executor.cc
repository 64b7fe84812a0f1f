// Compacts on the calling thread: merge, drop, cut, build.

#include "base/check.h"
#include "base/clock.h"
#include "compaction/drop_rule.h"
#include "compaction/job.h"
#include "compaction/key_prefix.h"
#include "compaction/merge.h"
#include "compaction/output_cut.h"
#include "compaction/output_tables.h"
#include "table/key_order.h"

namespace weft::compaction {

namespace {

constexpr uint64_t kEntriesBetweenBreaks = 1024;

bool IsCancelled(const JobHost& host) {
  return host.cancelled != nullptr && host.cancelled->load(std::memory_order_relaxed);
}

// Moves all entries of the merge into outputs, or drops them.
template <typename Order>
Status MoveEntries(const Job& job, const JobHost& host, Merge<Order>* merge, OutputTables* outputs,
                   JobResult* result) {
  DropRule drop_rule(job);
  OutputCut cut(job);
  std::string deletion;
  for (bool more = merge->Start(); more; more = merge->Next()) {
    if (result->entries_read++ % kEntriesBetweenBreaks == 0) {
      if (IsCancelled(host)) return {Code::kRetryLater, "compaction cancelled"};
      if (host.give_way != nullptr) host.give_way();
    }
    const std::string_view key = merge->key();
    if (cut.IsBefore(key) && outputs->is_open()) {
      Status status = outputs->Finish();
      if (!status.ok()) return status;
    }
    if (drop_rule.Drops(key)) {
      result->entries_dropped++;
      continue;
    }
    std::string_view kept = key;
    std::string_view value = merge->value();
    if (job.lifetime && DropRule::HasEnded(*job.lifetime, key, value)) [[unlikely]] {
      result->entries_ended++;
      if (drop_rule.DropsEnded(key, &deletion)) {
        result->entries_dropped++;
        continue;
      }
      kept = deletion;
      value = {};
    }
    Status status = outputs->Add(kept, value);
    if (!status.ok()) [[unlikely]]
      return status;
  }
  result->entries_unparsed = drop_rule.unparsed();
  if (!merge->status().ok()) return merge->status();
  return outputs->Finish();
}

// *outside_bounds: the job failed for keys that lack `prefix`.
template <typename Order>
JobResult RunOnce(const Job& job, const JobHost& host, const KeyPrefix& prefix, Order order,
                  bool* outside_bounds) {
  JobResult result;
  OutputTables outputs(job, host);
  Merge<Order> merge(job, prefix, order);
  result.status = MoveEntries(job, host, &merge, &outputs, &result);
  *outside_bounds = merge.keys_outside_bounds();
  if (result.status.ok()) {
    result.outputs = outputs.TakeTables();
  } else {
    outputs.RemoveAll();
  }
  result.bytes_read = merge.bytes_read();
  result.bytes_written = outputs.bytes_written();
  result.verify_us = outputs.verify_us();
  return result;
}

class CpuExecutor final : public Executor {
 public:
  const char* Name() const override { return "cpu"; }

  JobResult Run(const Job& job, const JobHost& host) override {
    WEFT_CHECK(job.files != nullptr && job.comparator != nullptr && host.new_output != nullptr);
    const uint64_t start_ns = base::NowNs();
    const uint64_t start_cpu_ns = base::ThreadCpuNs();
    JobResult result = RunInOrder(job, host);
    result.wall_us = (base::NowNs() - start_ns) / 1000;
    result.cpu_us = (base::ThreadCpuNs() - start_cpu_ns) / 1000;
    return result;
  }

 private:
  static JobResult RunInOrder(const Job& job, const JobHost& host) {
    bool outside_bounds = false;
    if (!job.comparator->is_bytewise()) {
      return RunOnce(job, host, KeyPrefix(), table::VirtualOrder{job.comparator}, &outside_bounds);
    }
    const table::InternalBytewiseOrder order;
    JobResult result = RunOnce(job, host, KeyPrefix(job), order, &outside_bounds);
    // Bounds that a repair made may leave out keys that are none. Rare: once more, without them.
    if (!outside_bounds) return result;
    return RunOnce(job, host, KeyPrefix(), order, &outside_bounds);
  }
};

}  // namespace

std::unique_ptr<Executor> NewCpuExecutor() { return std::make_unique<CpuExecutor>(); }

}  // namespace weft::compaction
