// processor/job_thread.h: a thread that runs jobs one after the other, in the order they came in.
//
// Threads   Take: any. Its end waits for the jobs that it has taken.
// Errors    Take: kIoError where the system gives no thread, which is asked for with the first job.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "processor/processor.h"

namespace weft::processor {

class JobThread {
 public:
  // `run` carries a job out, on the thread.
  JobThread(const char* name, std::function<Status(const task::QueryJob& query)> run);
  ~JobThread();

  Status Take(Job* job) WEFT_EXCLUDES(mutex_);

 private:
  void Run();

  const std::string name_;
  const std::function<Status(const task::QueryJob& query)> run_;

  base::Mutex mutex_;
  base::CondVar work_;
  std::deque<Job*> waiting_ WEFT_GUARDED_BY(mutex_);
  bool stopping_ WEFT_GUARDED_BY(mutex_) = false;
  std::thread thread_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::processor
