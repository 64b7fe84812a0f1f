#include "processor/job_thread.h"

#include <utility>

#include "base/thread.h"

namespace weft::processor {

JobThread::JobThread(const char* name, std::function<Status(const task::QueryJob& query)> run)
    : run_(std::move(run)), thread_([this, name] {
        base::SetThreadName(name);
        Run();
      }) {}

JobThread::~JobThread() {
  {
    base::MutexLock lock(&mutex_);
    stopping_ = true;
    work_.NotifyAll();
  }
  thread_.join();
}

void JobThread::Take(Job* job) {
  job->Begin();
  base::MutexLock lock(&mutex_);
  waiting_.push_back(job);
  work_.NotifyOne();
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
