// pipeline/disk_test_kit.h: a client of a store with a durable tier, a command a batch, which waits
// for the disk as a connection does. For tests.
//
// Threads   one at a time for a DiskClient.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cache/cache_test_kit.h"
#include "pipeline/cpu_stage.h"
#include "pipeline/disk_turn.h"

namespace weft::pipeline {

class DiskClient : public Sink {
 public:
  DiskClient(cache::Store* store, tier::DiskTier* tier)
      : store_(store),
        session_(store->NewSession()),
        turn_(tier, store),
        stage_(store, &times_, &turn_),
        batch_(Plan::OneStageCpu()) {
    WEFT_CHECK(session_ != nullptr);
  }

  cache::Answer Run(const cache::Command& command) {
    std::unique_ptr<tier::Lookup> answers;
    for (int vain = 0;; vain++) {  // Ends: the third time the stage looks up itself.
      Begin(answers.get(), vain >= 3);
      Add(command);
      stage_.Run(batch_, *session_, *this);
      if (!turn_.waiting(0)) break;
      answers = turn_.TakeLookup(0);
      turn_.tier().Answer(answers.get());
      waits_++;
    }
    return answer_;
  }

  // The pieces of Run, for tests that come in between.
  void Begin(tier::Lookup* brought, bool insists) {
    batch_.Clear();
    turn_.Clear();
    batch_.AddSource(int64_t{1} << 40);
    turn_.AddSource(brought, insists);
  }
  // Another connection's part in the batch that was begun; its number.
  uint32_t AddSource(tier::Lookup* brought, bool insists) {
    turn_.AddSource(brought, insists);
    return batch_.AddSource(int64_t{1} << 40);
  }
  // As the protocol does: a get without more is a plain read.
  void Add(cache::Command command, uint32_t source = 0) {
    command.hash = store_->HashOf(command.key);
    if (command.verb == cache::Verb::kRead && !command.want_cas && !command.update_expiry &&
        !command.hand_out_win) {
      batch_.AddRead(source, 0, command.key, command.hash);
    } else {
      batch_.AddCommand(source, 0, command);
    }
  }
  void RunBatch() { stage_.Run(batch_, *session_, *this); }
  DiskTurn& turn() { return turn_; }
  Batch& batch() { return batch_; }
  const cache::Answer& answer() const { return answer_; }

  Outcome Set(std::string_view key, std::string_view value, cache::Expiry expiry = 0) {
    return Put(cache::StoreMode::kSet, key, value, expiry);
  }
  Outcome Put(cache::StoreMode mode, std::string_view key, std::string_view value,
              cache::Expiry expiry = 0) {
    cache::Command command = cache::Client::Of(cache::Verb::kStore, key);
    command.store_mode = mode;
    command.value = value;
    command.expiry = expiry;
    return Run(command).reply.outcome;
  }
  // The value, "(none)" or "(error)".
  std::string Value(std::string_view key) {
    const cache::Answer answer = Run(cache::Client::Of(cache::Verb::kRead, key));
    if (answer.reply.outcome == Outcome::kIoError) return "(error)";
    return answer.reply.outcome == Outcome::kHit ? answer.value : "(none)";
  }
  cache::Reply Gets(std::string_view key) {
    cache::Command command = cache::Client::Of(cache::Verb::kRead, key);
    command.want_cas = true;
    return Run(command).reply;
  }
  Outcome Delete(std::string_view key) {
    return Run(cache::Client::Of(cache::Verb::kDelete, key)).reply.outcome;
  }
  cache::Answer Count(std::string_view key, uint64_t delta) {
    cache::Command command = cache::Client::Of(cache::Verb::kArithmetic, key);
    command.delta = delta;
    return Run(command);
  }
  void Flush() { WEFT_CHECK(turn_.tier().Flush(0, base::NowSeconds()).ok()); }
  // Takes the key out of memory alone, as an eviction does.
  void Evict(std::string_view key) {
    session_->Begin();
    store_->Execute(*session_, cache::Removal(key, store_->HashOf(key)));
    session_->End();
  }
  bool IsInMemory(std::string_view key) {
    cache::Command command = cache::Client::Of(cache::Verb::kRead, key);
    command.hash = store_->HashOf(key);
    session_->Begin();
    const bool hit = store_->Execute(*session_, command).outcome == Outcome::kHit;
    session_->End();
    return hit;
  }
  uint64_t waits() const { return waits_; }

  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) override {
    for (uint32_t i = begin; i < end; i++) {
      answer_ = {};
      if (batch.state(i) != QueryState::kDone) continue;
      if (batch.kind(i) == QueryKind::kCommand) {
        answer_.reply = batch.reply(i);
      } else if (batch.location(i) != 0) {
        answer_.reply.outcome = Outcome::kHit;
        answer_.reply.value = cache::ValueView(session.ObjectAt(batch.location(i)));
      } else {
        answer_.reply.miss = batch.miss(i);
      }
      answer_.value = std::string(answer_.reply.value);
      if (turn_.failed(0)) answer_.reply.outcome = Outcome::kIoError;
    }
  }
  void RunOther(Batch&, uint32_t, cache::Session&) override {}

 private:
  cache::Store* const store_;
  const std::unique_ptr<cache::Session> session_;
  TaskTimes times_;
  DiskTurn turn_;
  CpuStage stage_;
  Batch batch_;
  cache::Answer answer_;
  uint64_t waits_ = 0;
};

}  // namespace weft::pipeline
