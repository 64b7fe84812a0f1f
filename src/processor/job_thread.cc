#include "processor/job_thread.h"

#include <utility>

#include "base/thread.h"

namespace weft::processor {

JobThread::JobThread(const char* name, std::function<Status(const task::QueryJob& query)> run)
    : name_(name), run_(std::move(run)) {}

JobThread::~JobThread() {
  std::thread thread;
  {
    base::MutexLock lock(&mutex_);
    stopping_ = true;
    work_.NotifyAll();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

Status JobThread::Take(Job* job) {
  base::MutexLock lock(&mutex_);
  if (!thread_.joinable()) {
    auto thread = base::StartThread([this] {
      base::SetThreadName(name_.c_str());
      Run();
    });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
  }
  job->Begin();
  waiting_.push_back(job);
  work_.NotifyOne();
  return Status::Ok();
}

void JobThread::Run() {
  for (;;) {
    Job* job = nullptr;
    {
      base::MutexLock lock(&mutex_);
      while (waiting_.empty() && !stopping_) work_.Wait(&mutex_);
      if (waiting_.empty()) return;
      job = waiting_.front();
      waiting_.pop_front();
    }
    job->Finish(run_(job->query));
  }
}

}  // namespace weft::processor
