// flush_all over the durable tier, while others are at work on what it takes: once it is answered,
// nothing of before may come back, neither from memory nor from disk, nor what was made of it.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "pipeline/disk_test_kit.h"
#include "tier/disk_files_test_kit.h"

namespace weft::pipeline {
namespace {

using cache::Command;
using cache::StoreMode;
using cache::Verb;

// A flush, in a thread of its own, that stands still while it syncs its floor.
class FlushUnderWay {
 public:
  // Returns when it has come to the sync.
  FlushUnderWay(tier::DiskTestFiles* files, DiskClient* client) : files_(files) {
    files->faulty.SetHook([this](const base::FileCall& call) {
      if (call.kind == base::FileCallKind::kSync && !in_sync_.exchange(true)) {
        in_sync_.notify_all();
        go_on_.wait(false);
      } else if (call.kind == base::FileCallKind::kAppend && in_sync_ && !written_.exchange(true)) {
        written_.notify_all();
      }
      return Status();
    });
    thread_ = std::thread([this, client] {
      client->Flush();
      done_ = true;
    });
    in_sync_.wait(false);
  }
  ~FlushUnderWay() {
    GoOn();
    thread_.join();
    files_->faulty.Heal();
  }

  // Until somebody else has written, who then waits for the sync.
  void WaitForWrite() { written_.wait(false); }
  void GoOn() {
    go_on_ = true;
    go_on_.notify_all();
  }
  bool done() const { return done_; }

 private:
  tier::DiskTestFiles* const files_;
  std::atomic<bool> in_sync_{false};
  std::atomic<bool> written_{false};
  std::atomic<bool> go_on_{false};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// Runs many commands as one batch, which is written at once.
class BatchClient : public DiskClient {
 public:
  using DiskClient::DiskClient;

  // What the disk says of the keys of these.
  std::unique_ptr<tier::Lookup> LookUp(const std::vector<Command>& commands) {
    Begin(nullptr, false);
    for (const Command& command : commands) Add(command);
    RunBatch();
    std::unique_ptr<tier::Lookup> answers = turn().TakeLookup(0);
    turn().tier().Answer(answers.get());
    return answers;
  }
  std::vector<Outcome> RunAll(const std::vector<Command>& commands, tier::Lookup* brought) {
    outcomes_.clear();
    Begin(brought, true);
    for (const Command& command : commands) Add(command);
    RunBatch();
    return outcomes_;
  }

  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) override {
    for (uint32_t i = begin; i < end; i++) {
      if (batch.state(i) == QueryState::kDone && batch.kind(i) == QueryKind::kCommand)
        outcomes_.push_back(batch.reply(i).outcome);
    }
    DiskClient::Write(batch, begin, end, session);
  }

 private:
  std::vector<Outcome> outcomes_;
};

class DiskFlushTest : public ::testing::Test {
 protected:
  void Open() {
    Close();
    store_ = cache::OpenStore();
    // Nobody but a flush syncs.
    tier::TierOptions options{.dir = "/data", .file_system = &files_.faulty, .sync_ms = 3'600'000};
    auto opened = tier::DiskTier::Open(options, store_.get());
    ASSERT_TRUE(opened) << opened.error().ToString();
    tier_ = std::move(opened.value());
    client_ = std::make_unique<BatchClient>(store_.get(), tier_.get());
    flusher_ = std::make_unique<DiskClient>(store_.get(), tier_.get());
  }
  void Close() {
    client_.reset();
    flusher_.reset();
    tier_.reset();
  }
  void TearDown() override { Close(); }

  // Runs the commands while a flush syncs its floor; returns when that is done.
  std::vector<Outcome> RunDuringAFlush(const std::vector<Command>& commands,
                                       tier::Lookup* brought = nullptr) {
    std::vector<Outcome> outcomes;
    FlushUnderWay flush(&files_, flusher_.get());
    std::thread thread([&] { outcomes = client_->RunAll(commands, brought); });
    flush.WaitForWrite();
    EXPECT_FALSE(flush.done());
    flush.GoOn();
    thread.join();
    return outcomes;
  }

  // What is there: in memory, else on disk; and on disk.
  std::string Everywhere(std::string_view key) {
    const std::string seen = client_->Value(key);
    client_->Evict(key);
    const std::string on_disk = client_->Value(key);
    return seen == on_disk ? seen : seen + ", on disk " + on_disk;
  }

  tier::DiskTestFiles files_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<tier::DiskTier> tier_;
  std::unique_ptr<BatchClient> client_;
  std::unique_ptr<DiskClient> flusher_;
};

// Each makes something of an item and keeps the key: it was there, so the change came before the
// flush, and goes with it.
struct Change {
  const char* name;
  std::function<void(Command*)> fill;
  Outcome outcome;
};

const Change kChanges[] = {
    {"incr", [](Command* c) { c->verb = Verb::kArithmetic; }, Outcome::kNumber},
    {"decr",
     [](Command* c) {
       c->verb = Verb::kArithmetic;
       c->decrement = true;
     },
     Outcome::kNumber},
    {"append",
     [](Command* c) {
       c->verb = Verb::kStore;
       c->store_mode = StoreMode::kAppend;
     },
     Outcome::kStored},
    {"prepend",
     [](Command* c) {
       c->verb = Verb::kStore;
       c->store_mode = StoreMode::kPrepend;
     },
     Outcome::kStored},
    {"replace",
     [](Command* c) {
       c->verb = Verb::kStore;
       c->store_mode = StoreMode::kReplace;
     },
     Outcome::kStored},
    {"cas",
     [](Command* c) {
       c->verb = Verb::kStore;
       c->compare_cas = true;  // of the version that was told before
     },
     Outcome::kStored},
    {"touch", [](Command* c) { c->verb = Verb::kTouch; }, Outcome::kTouched},
    {"gat", [](Command* c) { c->update_expiry = true; }, Outcome::kHit},
    {"mg R",
     [](Command* c) {
       c->hand_out_win = true;
       c->recache = true;
       c->recache_s = 1 << 30;
     },
     Outcome::kHit},
    {"md I",
     [](Command* c) {
       c->verb = Verb::kDelete;
       c->invalidate = true;
     },
     Outcome::kDeleted},
    {"md x",
     [](Command* c) {
       c->verb = Verb::kDelete;
       c->drop_value = true;
     },
     Outcome::kDeleted},
};

TEST_F(DiskFlushTest, WhatIsMadeOfAnItemGoesWithIt) {
  Open();
  const cache::Expiry expiry = base::NowSeconds() + 100'000;
  std::vector<std::string> keys;
  for (const char* where : {" in memory", " on disk"})
    for (const Change& change : kChanges) keys.push_back(change.name + std::string(where));
  std::vector<Command> commands, of_disk;
  for (size_t i = 0; i < keys.size(); i++) {
    ASSERT_EQ(client_->Set(keys[i], "7", expiry), Outcome::kStored);
    Command command = cache::Client::Of(Verb::kRead, keys[i]);
    command.value = "8";
    command.expiry = expiry;
    command.cas_expected = client_->Gets(keys[i]).cas;
    kChanges[i % std::size(kChanges)].fill(&command);
    commands.push_back(command);
    if (i < std::size(kChanges)) continue;
    client_->Evict(keys[i]);
    of_disk.push_back(command);
  }
  const auto answers = client_->LookUp(of_disk);
  const std::vector<Outcome> outcomes = RunDuringAFlush(commands, answers.get());
  ASSERT_EQ(outcomes.size(), commands.size());
  for (size_t i = 0; i < keys.size(); i++)
    EXPECT_EQ(outcomes[i], kChanges[i % std::size(kChanges)].outcome) << keys[i];
  for (const std::string& key : keys) EXPECT_EQ(Everywhere(key), "(none)") << key;
  Open();
  for (const std::string& key : keys) EXPECT_EQ(Everywhere(key), "(none)") << key;
}

// A set may come before or after the flush, for memory and disk alike, and what is made of it too.
TEST_F(DiskFlushTest, WhatIsStoredMeanwhileIsThereOrNot) {
  Open();
  ASSERT_EQ(client_->Set("key", "old"), Outcome::kStored);
  std::vector<Command> commands;
  for (const char* key : {"key", "new", "new"})
    commands.push_back(cache::Client::Of(Verb::kStore, key));
  for (Command& command : commands) command.value = "1";
  commands.back().store_mode = StoreMode::kAppend;
  EXPECT_EQ(RunDuringAFlush(commands), std::vector<Outcome>(3, Outcome::kStored));
  const std::string key = Everywhere("key"), other = Everywhere("new");
  EXPECT_TRUE(key == "(none)" || key == "1") << key;
  EXPECT_TRUE(other == "(none)" || other == "11") << other;
  EXPECT_EQ(client_->Set("key", "after"), Outcome::kStored);
  Open();
  EXPECT_EQ(Everywhere("key"), "after");
  EXPECT_EQ(Everywhere("new"), other);
}

// As DiskTurn::Read and Bring do it: an item is found alive, with its stripe held, and is entered
// into the cache. Between the two a flush may not be carried out.
TEST_F(DiskFlushTest, AnItemIsNotEnteredBehindAFlushThatHasTakenIt) {
  for (const bool something_in_memory : {false, true}) {
    Open();
    ASSERT_EQ(client_->Set("key", "old"), Outcome::kStored);
    client_->Evict("key");
    Open();  // nothing is in memory, not even dead
    if (something_in_memory) client_->Set("other", "old");

    const auto session = store_->NewSession();
    tier::Asked asked;
    asked.key = "key";
    asked.hash = store_->HashOf("key");
    const uint32_t stripe = tier::Stripes::Of(asked.hash);
    {
      FlushUnderWay flush(&files_, flusher_.get());
      tier_->stripes().Lock(stripe);
      session->Begin();
      tier_->AnswerLocked(&asked);
      tier::Item item;
      ASSERT_TRUE(tier::DecodeItem(asked.bytes, &item));
      ASSERT_FALSE(tier_->IsEnded(item, session->now_s()));
      flush.GoOn();
      while (!flush.done() && !tier_->stripes().closed()) std::this_thread::yield();
      cache::ObjectSpec spec;
      spec.key = asked.key;
      spec.head = item.value;
      spec.has_cas = true;
      spec.cas = item.version;
      EXPECT_NE(store_->Load(*session, spec, asked.hash), 0u);
      session->End();
      tier_->stripes().Unlock(stripe);
    }
    EXPECT_FALSE(client_->IsInMemory("key"));
    EXPECT_EQ(Everywhere("key"), "(none)");
  }
}

// Threads that only read, and make something of what they find, are at it all the while.
TEST_F(DiskFlushTest, NothingComesBackUnderLoad) {
  constexpr int kKeys = 8;
  Open();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++) {
    threads.emplace_back([this, t, &stop] {
      DiskClient client(store_.get(), tier_.get());
      for (int i = t; !stop; i++) {
        const std::string key = "key" + std::to_string(i % kKeys);
        switch (i / kKeys % 4) {
          case 0: client.Count(key, 1); break;
          case 1: client.Put(StoreMode::kAppend, key, "0"); break;
          case 2: client.Evict(key); break;
          case 3: client.Value(key); break;
        }
      }
    });
  }
  for (uint32_t round = 0; round < cache::Rounds(200); round++) {
    for (int i = 0; i < kKeys; i++) client_->Set("key" + std::to_string(i), "1");
    flusher_->Flush();
    for (int i = 0; i < kKeys; i++) {
      const std::string key = "key" + std::to_string(i);
      const std::string seen = Everywhere(key);
      EXPECT_EQ(seen, "(none)") << key << ", round " << round;
      if (seen != "(none)") stop = true;
    }
    if (stop) break;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weft::pipeline
