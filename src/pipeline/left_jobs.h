// pipeline/left_jobs.h: jobs that did not end in time, and what they may still touch.
//
// A device that hangs must not hold its worker up, nor be trusted to have stopped. So the worker
// goes on in other columns, and what the job was given is kept until the job is done, perhaps for
// ever. That is the job itself and its columns. A device that works on the store itself also keeps
// its batch's epoch. Otherwise the log would give the memory that the device reads to others. The
// store frees nothing then until the job ends; its reads go on.
//
// Threads   the worker's. The destructor keeps unfinished jobs for ever.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/pages.h"
#include "cache/store.h"
#include "processor/processor.h"

namespace weft::pipeline {

class LeftJobs {
 public:
  explicit LeftJobs(cache::Store* store) : store_(store) {}
  ~LeftJobs();

  // `job` null: it has ended after all. `place`: in the store's epochs; null: none must be kept.
  // `turn`: of its batch.
  void Add(std::unique_ptr<processor::Job> job, cache::Pages columns, cache::Epochs::Slot* place,
           uint64_t turn);
  // Releases what jobs held that are done by now and whose batches have ended: `is_under_way(turn)`
  // says which have not.
  template <typename IsUnderWay>
  void Reclaim(IsUnderWay is_under_way) {
    std::erase_if(jobs_, [&](Left& each) {
      return (each.job == nullptr || each.job->done()) && !is_under_way(each.turn) && LetGo(&each);
    });
  }
  bool empty() const { return jobs_.empty(); }

 private:
  struct Left {
    std::unique_ptr<processor::Job> job;
    cache::Pages columns;
    cache::Epochs::Slot* place;
    uint64_t turn;
  };

  bool LetGo(Left* left);

  cache::Store* const store_;
  std::vector<Left> jobs_;
};

}  // namespace weft::pipeline
