#include "processor/cpu_processor.h"

#include <deque>
#include <thread>

#include "base/thread.h"

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
    thread_ = std::thread([this] { Run(); });
  }
  ~CpuProcessor() override {
    {
      base::MutexLock lock(&mutex_);
      stopping_ = true;
      work_.NotifyAll();
    }
    thread_.join();
  }

  const Description& description() const override { return description_; }
  cache::PageSource* pages() override { return cache::SystemPages(); }

  Status Start(Job* job) override {
    job->Begin();
    base::MutexLock lock(&mutex_);
    waiting_.push_back(job);
    work_.NotifyOne();
    return Status::Ok();
  }

 private:
  void Run() {
    base::SetThreadName("weft-tasks");
    for (;;) {
      Job* job = nullptr;
      {
        base::MutexLock lock(&mutex_);
        while (waiting_.empty() && !stopping_) work_.Wait(&mutex_);
        if (waiting_.empty()) return;
        job = waiting_.front();
        waiting_.pop_front();
      }
      const task::QueryJob query = job->query;
      for (uint32_t set = 0; set < task::SetCount(query); set++) {
        if (task::ClaimSet(query, set))
          task::RunQueries(query, task::SetBegin(query, set), task::SetEnd(query, set),
                           prefetch_bytes_);
      }
      job->Finish(Status::Ok());
    }
  }

  const uint32_t prefetch_bytes_;
  Description description_;  // constant after construction

  base::Mutex mutex_;
  base::CondVar work_;
  std::deque<Job*> waiting_ WEFT_GUARDED_BY(mutex_);
  bool stopping_ WEFT_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Processor> NewCpuProcessor(uint32_t prefetch_bytes) {
  return std::make_unique<CpuProcessor>(prefetch_bytes);
}

}  // namespace weft::processor
