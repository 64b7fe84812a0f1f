// pipeline/runner_test_kit.h: runs batches through a CpuStage and keeps what became of each query.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "cache/cache_test_kit.h"
#include "cache/object_writer.h"
#include "pipeline/cpu_stage.h"
#include "pipeline/reply_of.h"

namespace weft::pipeline {

using cache::Client;
using cache::Command;
using cache::OpenStore;
using cache::Verb;

inline constexpr int64_t kMuchRoom = int64_t{1} << 40;

// What became of one query, copied while it was there.
struct QueryResult {
  QueryState state = QueryState::kWaiting;
  cache::Reply reply;
  std::string value;
  uint64_t version = 0;  // of what a plain read found
};

// A batch and the results of its queries, in their order.
class Runner : public Sink {
 public:
  explicit Runner(cache::Store* store)
      : store_(store),
        session_(store->NewSession()),
        stage_(store, &times_),
        batch_(Plan::OneStageCpu()) {
    Clear();
  }

  Batch& batch() { return batch_; }
  const std::vector<QueryResult>& results() const { return results_; }
  const QueryResult& result(size_t i) const { return results_.at(i); }
  std::function<void(uint32_t)> other = [](uint32_t) {};
  // What MoreRoom adds at most, to all sources together.
  int64_t more_room = 0;

  void Clear() {
    batch_.Clear();
    source_ = batch_.AddSource(kMuchRoom);
  }
  void Read(std::string_view key) { Read(source_, key); }
  void Read(uint32_t source, std::string_view key) {
    batch_.AddRead(source, 0, key, store_->HashOf(key));
  }
  void Add(const Command& command) { Add(source_, command); }
  void Add(uint32_t source, Command command) {
    command.hash = store_->HashOf(command.key);
    batch_.AddCommand(source, 0, command);
  }
  void Set(std::string_view key, std::string_view value) { Set(source_, key, value); }
  void Set(uint32_t source, std::string_view key, std::string_view value) {
    Command command = Client::Of(Verb::kStore, key);
    command.value = value;
    Add(source, command);
  }
  void Other() { batch_.AddOther(source_, 0); }

  const std::vector<QueryResult>& Run() {
    results_.clear();
    stage_.Run(batch_, *session_, *this);
    EXPECT_EQ(results_.size(), batch_.size());
    Clear();
    return results_;
  }
  cache::Session& session() { return *session_; }
  // REQUIRES: a batch of the session.
  task::Found Find(std::string_view key) {
    return task::Find(session_->index(), session_->log(), cache::TaskKey(key, store_->HashOf(key)));
  }
  const TaskTimes& times() const { return times_; }

  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) override {
    EXPECT_EQ(begin, results_.size()) << "every query is written once and in its order";
    for (uint32_t i = begin; i < end; i++) {
      QueryResult result;
      result.state = batch.state(i);
      if (batch.kind(i) != QueryKind::kOther && batch.state(i) == QueryState::kDone)
        result.reply = ReplyOf(batch, i, session);
      result.value = std::string(result.reply.value);
      if (batch.kind(i) == QueryKind::kRead && result.reply.outcome == Outcome::kHit &&
          batch.result(i) != kResultRead)
        result.version = VersionFound(batch, i, session);
      results_.push_back(result);
    }
  }
  void RunOther(Batch&, uint32_t i, cache::Session&) override { other(i); }
  bool MoreRoom(Batch& batch, uint32_t source, int64_t bytes) override {
    const int64_t lacks = bytes - batch.room(source);
    if (lacks > more_room) return false;
    more_room -= lacks;
    batch.AddRoom(source, lacks);
    return true;
  }

 private:
  cache::Store* const store_;
  const std::unique_ptr<cache::Session> session_;
  TaskTimes times_;
  CpuStage stage_;
  Batch batch_;
  uint32_t source_ = 0;
  std::vector<QueryResult> results_;
};

}  // namespace weft::pipeline
