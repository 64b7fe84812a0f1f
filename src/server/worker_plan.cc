// A worker's batches under way on devices: sent off, resumed, answered. See worker.h.
#include <algorithm>

#include "base/check.h"
#include "server/worker.h"

namespace weft::server {

Status Worker::OpenPlan() {
  if (options_.planner == nullptr && options_.plan.stages().size() == 1) return Status::Ok();
  pipeline::PlanRunner::Options options;
  options.any_plan = options_.planner != nullptr;
  options.steal = options_.steal;
  options.on_ready = [this] { loop_->Wake(); };
  options.session = session_.get();
  auto runner =
      pipeline::PlanRunner::Create(store_, &times_, options_.plan, options_.devices, options);
  if (!runner) return runner.error();
  runner_ = std::move(runner.value());
  stage_.set_before_room([this] { runner_->LeaveEpochs(); });
  works_.resize(options.batches);
  for (Work& work : works_) {
    work.scratch.resize(protocol::kScratchBytes);
    work.keeps = true;
  }
  return Status::Ok();
}

// Answers the batches of connections that were resumed. All of `ready` may be entered anew then,
// but for those that are being closed, and those that have just been stopped: these would find no
// room again, and would never be seen to wait for it, or they wait for an answer.
std::span<net::Connection* const> Worker::AnswerLanded(std::span<net::Connection* const> ready) {
  fresh_.clear();
  for (net::Connection* connection : ready) PeerOf(*connection).stopped = false;
  for (net::Connection* connection : ready) {
    const Peer& peer = PeerOf(*connection);
    if (peer.under_way != nullptr && !pipeline::PlanRunner::IsReady(peer.under_way->run)) {
      connection->Hold();  // ResumeLanded brings it back
      continue;
    }
    if (peer.under_way != nullptr) Land(peer.under_way);
    if (!peer.closing && !peer.stopped) fresh_.push_back(connection);
  }
  return fresh_;
}

// Batches that begin from now on go by the plan that is in force, or by one stage once the device
// has been given up.
void Worker::FollowPlanner() {
  if (options_.planner == nullptr) return;
  const planner::Decision& decision = options_.planner->Current(options_.number);
  const bool is_lost = !options_.devices.front()->usable();
  if (decision.number == decision_ && is_lost == is_device_lost_) return;
  decision_ = decision.number;
  is_device_lost_ = is_lost;
  device_batch_min_ = std::max(decision.device_batch_min, options_.device_batch_min);
  const planner::Candidate& chosen = decision.candidate;
  const Status status = is_lost ? runner_->SetPlan(pipeline::Plan::OneStageCpu(), false)
                                : runner_->SetPlan(chosen.plan, chosen.steal && options_.steal);
  WEFT_CHECK(status.ok());  // every plan of the planner's goes together with its device
  if (options_.watch != nullptr && options_.number == 0)
    options_.watch->NotePlan(runner_->plan().ToText());
}

// What the next batch goes into. While all are under way the one-stage plan serves: the CPU does
// what the device has no time for.
Worker::Work* Worker::FreeWork() {
  if (runner_ == nullptr || runner_->plan().stages().size() == 1) return &own_;
  // Who watches is told what each query found, which no device says.
  if (IsWatched(protocol::kWatchQueries)) return &own_;
  pipeline::BatchRun* const run = runner_->Free();
  if (run == nullptr) return &own_;
  Work& work = works_[run->number()];
  work.run = run;
  work.batch = &run->batch();
  return &work;
}

// False: no device works on it, and it was answered at once. A connection that waits for it comes
// back with what it has sent; one without a query has nothing to come back with, and nothing to
// wait for.
bool Worker::SendOff(Work* work) {
  runner_->Begin(work->run);
  if (runner_->IsReady(work->run)) {
    work_ = work;
    runner_->Finish(work->run, *this);
    SettleAll(work);
    NoteDone(*work);
    return false;
  }
  work->since = latency_.began_ticks();
  for (Source& source : work->sources) {
    if (source.queries == 0) {
      work_ = work;
      Settle(&source);
      source.connection = nullptr;
      continue;
    }
    PeerOf(*source.connection).under_way = work;
    source.connection->ExpectBytes(0);
    source.connection->Hold();
  }
  return true;
}

// Batches whose last stage is next: their connections come with the next turn.
void Worker::ResumeLanded() {
  if (runner_ == nullptr || runner_->under_way() == 0) return;
  runner_->Advance();
  for (Work& work : works_) {
    if (work.run == nullptr || !runner_->IsReady(work.run)) continue;
    bool anybody = false;
    for (Source& source : work.sources) {
      if (source.connection == nullptr) continue;
      source.connection->Resume();
      anybody = true;
    }
    if (!anybody) Land(&work);
  }
}

// REQUIRES: its connections are in the turn's batch, for they were resumed together.
void Worker::Land(Work* work) {
  WEFT_DCHECK(pipeline::PlanRunner::IsReady(work->run));
  work_ = work;
  for (Source& source : work->sources) {
    if (source.connection == nullptr) continue;
    if (PeerOf(*source.connection).since == 0) PeerOf(*source.connection).since = work->since;
    WEFT_DCHECK(source.connection->readable().size() >= source.entering.parsed_bytes);
    PeerOf(*source.connection).under_way = nullptr;
  }
  runner_->Finish(work->run, *this);
  SettleAll(work);
  NoteDone(*work);
}

// It is being closed. What its batch under way points at, the batch keeps.
void Worker::ForgetConnection(net::Connection& connection) {
  Work* const work = PeerOf(connection).under_way;
  if (work == nullptr) return;
  for (Source& source : work->sources) {
    if (source.connection == &connection) source.connection = nullptr;
  }
}

}  // namespace weft::server
