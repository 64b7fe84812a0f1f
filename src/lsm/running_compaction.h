// lsm/running_compaction.h: the compaction threads' record of the work in hand.
//
// Threads   guarded by the store's mutex; a part's job and result belong to the thread that runs it
//           until it is done.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compaction/job.h"
#include "lsm/compaction_picker.h"
#include "lsm/db_impl.h"
#include "weft/db_events.h"

namespace weft::lsm {

struct DbImpl::ManualCompaction {
  int level = 0;
  // None: into the next level. Otherwise in place, tables with numbers below this.
  std::optional<uint64_t> rewrite_below;
  std::optional<std::string> begin;  // user keys; none: from the first, to the last
  std::optional<std::string> end;
  bool running = false;
  bool done = false;
  Status status;
};

struct DbImpl::JobPart {
  explicit JobPart(compaction::Job its_job) : job(std::move(its_job)) {}
  compaction::Job job;
  compaction::JobResult result;
  bool done = false;
};

struct DbImpl::RunningCompaction {
  std::unique_ptr<Compaction> compaction;
  uint64_t job = 0;  // VersionSet::BeginJob
  uint64_t begin_ns = 0;
  std::deque<JobPart> parts;  // they stay where they are
  CompactionEvent event;
  uint64_t keys_ended = 0;
  ManualCompaction* manual = nullptr;
  std::optional<std::string> next_begin;
};

}  // namespace weft::lsm
