#include "processor/cpu_processor.h"

#include "processor/job_thread.h"

namespace weft::processor {
namespace {

class CpuProcessor final : public Processor {
 public:
  explicit CpuProcessor(uint32_t prefetch_bytes) : prefetch_bytes_(prefetch_bytes) {
    description_.name = "cpu";
    description_.hardware = "a thread of this process";
    description_.memory = MemoryModel::kCoupled;
    description_.units = 1;
    description_.tasks = kRunSearch | kRunCompare | kRunRead | kRunInsert | kRunDelete;
    description_.steals = true;
  }

  const Description& description() const override { return description_; }
  cache::PageSource* pages() override { return cache::SystemPages(); }

  Status Start(Job* job) override { return thread_.Take(job); }

 private:
  Status Run(const task::QueryJob& query) const {
    for (uint32_t set = 0; set < task::SetCount(query); set++) {
      if (task::ClaimSet(query, set))
        task::RunQueries(query, task::SetBegin(query, set), task::SetEnd(query, set),
                         prefetch_bytes_);
    }
    return Status::Ok();
  }

  const uint32_t prefetch_bytes_;
  Description description_;  // constant after construction
  JobThread thread_{"weft-tasks", [this](const task::QueryJob& query) { return Run(query); }};
};

}  // namespace

std::unique_ptr<Processor> NewCpuProcessor(uint32_t prefetch_bytes) {
  return std::make_unique<CpuProcessor>(prefetch_bytes);
}

}  // namespace weft::processor
