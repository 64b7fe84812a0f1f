#include "base/clock.h"
#include "bench/durable/merge.h"
#include "bench/store/store_meter.h"

namespace weft::bench {

Result<MergeTiming> MergeInStore(const std::string& name, const StoreSettings& settings,
                                 const std::string& dir) {
  auto store = OpenStore(name, settings, dir);
  if (!store) return store.error();
  WaitUntilQuiet(120);
  const double read_before = (*store)->Figures().compaction_bytes_read;
  const CpuSeconds cpu = CpuOfThisProcess();
  const uint64_t start = base::NowNs();
  const Status status = (*store)->CompactAll();
  MergeTiming timing;
  timing.wall_s = static_cast<double>(base::NowNs() - start) * 1e-9;
  timing.cpu = CpuOfThisProcess() - cpu;
  if (!status.ok()) return status;
  const double read = (*store)->Figures().compaction_bytes_read - read_before;
  timing.input_mib = read / (1 << 20);
  if (read <= 0) return Status(Code::kUnsupported, name + " had nothing to compact");
  return timing;
}

}  // namespace weft::bench
