#include "pipeline/disk_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "pipeline/disk_test_kit.h"
#include "tier/disk_files_test_kit.h"

namespace weft::pipeline {
namespace {

using cache::StoreMode;

class DiskTurnTest : public ::testing::Test {
 protected:
  void Open(CacheOptions cache = {}) {
    client_.reset();
    tier_.reset();
    store_ = cache::OpenStore(cache);
    auto opened =
        tier::DiskTier::Open({.dir = "/data", .file_system = &files_.faulty}, store_.get());
    ASSERT_TRUE(opened) << opened.error().ToString();
    tier_ = std::move(opened.value());
    client_ = std::make_unique<DiskClient>(store_.get(), tier_.get());
  }
  void Kill() {
    client_.reset();
    files_.Crash(base::CrashKind::kProcessEnd, [this] { tier_.reset(); });
  }
  void TearDown() override {
    client_.reset();
    tier_.reset();
  }

  tier::DiskTestFiles files_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<tier::DiskTier> tier_;
  std::unique_ptr<DiskClient> client_;
};

TEST_F(DiskTurnTest, EveryCommandSeesWhatMemoryLacks) {
  Open();
  DiskClient& client = *client_;
  EXPECT_EQ(client.Set("key", "7"), Outcome::kStored);
  const uint64_t cas = client.Gets("key").cas;
  client.Evict("key");
  EXPECT_EQ(client.Value("key"), "7");
  EXPECT_TRUE(client.IsInMemory("key")) << "what was read is kept";
  client.Evict("key");
  EXPECT_EQ(client.Gets("key").cas, cas) << "the version is the item's, wherever it is";
  client.Evict("key");
  EXPECT_EQ(client.Put(StoreMode::kAdd, "key", "x"), Outcome::kNotStored);
  client.Evict("key");
  EXPECT_EQ(client.Count("key", 5).reply.number, 12u);
  client.Evict("key");
  EXPECT_EQ(client.Put(StoreMode::kAppend, "key", "0"), Outcome::kStored);
  client.Evict("key");
  EXPECT_EQ(client.Value("key"), "120");
  client.Evict("key");
  EXPECT_EQ(client.Delete("key"), Outcome::kDeleted);
  EXPECT_EQ(client.Delete("key"), Outcome::kMiss);
  EXPECT_EQ(client.Put(StoreMode::kReplace, "key", "x"), Outcome::kNotStored);
  EXPECT_EQ(client.Put(StoreMode::kAdd, "key", "y"), Outcome::kStored);
  EXPECT_EQ(client.Value("key"), "y");
}

TEST_F(DiskTurnTest, CasHoldsOverAKill) {
  Open();
  client_->Set("same", "1");
  client_->Set("changed", "1");
  const uint64_t same = client_->Gets("same").cas;
  const uint64_t changed = client_->Gets("changed").cas;
  client_->Set("changed", "2");
  Kill();
  Open();
  const auto swap = [&](std::string_view key, uint64_t cas) {
    cache::Command command = cache::Client::Of(cache::Verb::kStore, key);
    command.value = "3";
    command.compare_cas = true;
    command.cas_expected = cas;
    return client_->Run(command).reply.outcome;
  };
  EXPECT_EQ(swap("changed", changed), Outcome::kExists);
  EXPECT_EQ(swap("same", same), Outcome::kStored);
  EXPECT_EQ(swap("same", same), Outcome::kExists);
  EXPECT_EQ(swap("absent", same), Outcome::kMiss);
  EXPECT_GT(client_->Gets("same").cas, std::max(same, changed));
}

TEST_F(DiskTurnTest, OneReaderWinsAStaleItemAndThatLasts) {
  Open();
  client_->Set("key", "x");
  cache::Command mark = cache::Client::Of(cache::Verb::kDelete, "key");
  mark.invalidate = true;
  EXPECT_EQ(client_->Run(mark).reply.outcome, Outcome::kDeleted);
  cache::Command read = cache::Client::Of(cache::Verb::kRead, "key");
  read.hand_out_win = true;
  const auto marks = [&] {
    const cache::Reply reply = client_->Run(read).reply;
    return std::string(reply.stale ? "X" : "") + (reply.won ? "W" : "") +
           (reply.win_taken ? "Z" : "");
  };
  EXPECT_EQ(marks(), "XW");
  EXPECT_EQ(marks(), "XZ");
  client_->Evict("key");
  EXPECT_EQ(marks(), "XZ");
  Kill();
  Open();
  EXPECT_EQ(marks(), "XZ");
}

TEST_F(DiskTurnTest, PlainSetWaitsForNothing) {
  Open();
  for (int i = 0; i < 100; i++) client_->Set("key" + std::to_string(i), "value");
  EXPECT_EQ(client_->waits(), 0u);
}

// A set that finds no memory, where nothing may go: what the key held goes from the disk, too.
TEST_F(DiskTurnTest, WhatARefusedSetWasToReplaceIsGone) {
  CacheOptions options;
  options.memory_bytes = 4 << 20;
  options.evict = false;
  Open(options);
  for (const char* key : {"cleared", "kept", "cold"}) client_->Set(key, "old");
  const std::string value(5000, 'v');
  client_->Evict("cold");
  for (int i = 0, refused = 0; refused < 20; i++) {
    const Outcome outcome = client_->Set("filler" + std::to_string(i), value);
    refused = outcome == Outcome::kStored ? 0 : refused + 1;
  }
  cache::Command command = cache::Client::Of(cache::Verb::kStore, "kept");
  command.value = value;
  EXPECT_EQ(client_->Run(command).reply.outcome, Outcome::kNoMemory);
  command.clears_when_full = true;
  for (const char* key : {"cleared", "cold", "absent"}) {
    command.key = key;
    EXPECT_EQ(client_->Run(command).reply.outcome, Outcome::kNoMemory) << key;
    EXPECT_EQ(client_->Value(key), "(none)") << key;
  }
  EXPECT_EQ(client_->Value("kept"), "old");
  Kill();
  Open();
  EXPECT_EQ(client_->Value("kept"), "old");
  EXPECT_EQ(client_->Value("cleared"), "(none)");
  EXPECT_EQ(client_->Value("cold"), "(none)");
}

TEST_F(DiskTurnTest, FlushTakesMemoryAndDiskAtOnce) {
  Open();
  client_->Set("evicted", "x");
  client_->Set("kept", "x");
  client_->Evict("evicted");
  client_->Flush();
  EXPECT_EQ(client_->Value("evicted"), "(none)");
  EXPECT_EQ(client_->Value("kept"), "(none)");
  EXPECT_EQ(client_->Put(StoreMode::kAdd, "kept", "y"), Outcome::kStored);
  client_->Evict("kept");
  EXPECT_EQ(client_->Value("kept"), "y");
}

TEST_F(DiskTurnTest, EndedItemIsAbsentWhereverItIs) {
  Open();
  client_->Set("key", "x", base::NowSeconds() + 1);
  client_->Evict("key");
  EXPECT_EQ(client_->Value("key"), "x");
  client_->Evict("key");
  while (client_->Value("key") == "x") client_->Evict("key");
  EXPECT_EQ(client_->Put(StoreMode::kAdd, "key", "y"), Outcome::kStored);
  EXPECT_EQ(client_->Set("past", "x", cache::kExpiredAtOnce), Outcome::kStored);
  client_->Evict("past");
  EXPECT_EQ(client_->Value("past"), "(none)");
}

TEST_F(DiskTurnTest, AnswerThatIsOutOfDateIsNotTaken) {
  Open();
  client_->Set("key", "old");
  client_->Evict("key");
  const cache::Command read = cache::Client::Of(cache::Verb::kRead, "key");
  client_->Begin(nullptr, false);
  client_->Add(read);
  client_->RunBatch();
  ASSERT_TRUE(client_->turn().waiting(0));
  auto answers = client_->turn().TakeLookup(0);
  tier_->Answer(answers.get());

  DiskClient other(store_.get(), tier_.get());
  other.Set("key", "new");
  other.Evict("key");
  client_->Begin(answers.get(), false);
  client_->Add(read);
  client_->RunBatch();
  EXPECT_TRUE(client_->turn().waiting(0));
  // It can't go on like this for ever: whoever insists is answered at once.
  client_->Begin(answers.get(), true);
  client_->Add(read);
  client_->RunBatch();
  EXPECT_FALSE(client_->turn().waiting(0));
  EXPECT_EQ(client_->answer().value, "new");
}

// Otherwise one key that others change has the whole batch read from disk by the worker itself.
TEST_F(DiskTurnTest, WhoeverInsistsHasOnlyWhatIsOutOfDateLookedUpAtOnce) {
  Open();
  for (const char* key : {"changing", "cold"}) {
    client_->Set(key, "old");
    client_->Evict(key);
  }
  const cache::Command changing = cache::Client::Of(cache::Verb::kRead, "changing");
  client_->Begin(nullptr, false);
  client_->Add(changing);
  client_->RunBatch();
  auto answers = client_->turn().TakeLookup(0);
  tier_->Answer(answers.get());
  DiskClient other(store_.get(), tier_.get());
  other.Set("changing", "new");
  other.Evict("changing");
  client_->Begin(answers.get(), true);
  client_->Add(changing);
  client_->Add(cache::Client::Of(cache::Verb::kRead, "cold"));
  client_->RunBatch();
  ASSERT_TRUE(client_->turn().waiting(0));
  const auto asked = client_->turn().TakeLookup(0);
  ASSERT_EQ(asked->asked().size(), 1u);
  EXPECT_EQ(asked->asked()[0].key, "cold");
}

// They may do so in every group that the query comes into.
TEST_F(DiskTurnTest, WhoeverInsistsIsAnsweredBesideNeighboursThatChangeTheStripe) {
  Open();
  client_->Set("cold", "value");
  client_->Evict("cold");
  const auto stripe = [&](std::string_view key) { return tier::Stripes::Of(store_->HashOf(key)); };
  std::string neighbour;
  for (int i = 0; neighbour.empty() || stripe(neighbour) != stripe("cold"); i++)
    neighbour = "n" + std::to_string(i);
  const cache::Command cold = cache::Client::Of(cache::Verb::kRead, "cold");
  cache::Command change = cache::Client::Of(cache::Verb::kStore, neighbour);
  change.value = "x";
  client_->Begin(nullptr, false);
  client_->Add(cold);
  client_->RunBatch();
  auto answers = client_->turn().TakeLookup(0);
  tier_->Answer(answers.get());
  for (const bool insists : {false, true}) {
    client_->Begin(nullptr, false);
    const uint32_t source = client_->AddSource(answers.get(), insists);
    client_->Add(change);
    client_->Add(cold, source);
    client_->RunBatch();
    EXPECT_EQ(client_->turn().waiting(source), !insists);
  }
  EXPECT_EQ(client_->answer().value, "value");
}

TEST_F(DiskTurnTest, OwnChangeOfTheBatchOutdatesAnAnswer) {
  Open();
  client_->Set("a", "old");
  client_->Evict("a");
  client_->Begin(nullptr, false);
  client_->Add(cache::Client::Of(cache::Verb::kDelete, "a"));
  client_->Add(cache::Client::Of(cache::Verb::kRead, "a"));
  client_->RunBatch();
  auto answers = client_->turn().TakeLookup(0);
  ASSERT_EQ(answers->asked().size(), 2u) << "what follows is looked up as well";
  tier_->Answer(answers.get());
  client_->Begin(answers.get(), false);
  client_->Add(cache::Client::Of(cache::Verb::kDelete, "a"));
  client_->Add(cache::Client::Of(cache::Verb::kRead, "a"));
  client_->RunBatch();
  EXPECT_TRUE(client_->turn().waiting(0)) << "the delete is done, the read must look again";
  EXPECT_EQ(client_->Value("a"), "(none)");
}

TEST_F(DiskTurnTest, FailedWriteIsTakenBack) {
  Open();
  client_->Set("key", "old");
  files_.faulty.FillDiskAfter(0);
  client_->Set("key", "new");
  EXPECT_TRUE(client_->turn().failed(0));
  files_.faulty.Heal();
  EXPECT_EQ(client_->Value("key"), "old");
  EXPECT_EQ(client_->Set("key", "newer"), Outcome::kIoError);
  EXPECT_EQ(client_->Delete("key"), Outcome::kIoError);
  EXPECT_EQ(client_->Put(StoreMode::kAdd, "other", "x"), Outcome::kIoError);
  EXPECT_EQ(client_->Value("key"), "old");
  EXPECT_EQ(client_->Value("other"), "(none)");
}

TEST_F(DiskTurnTest, FailedSyncFailsWhoChangedSomething) {
  Open();
  client_->Set("key", "old");
  files_.faulty.SetHook([](const base::FileCall& call) {
    return call.kind == base::FileCallKind::kSync ? Status(Code::kIoError, "injected") : Status();
  });
  client_->Set("key", "new");
  EXPECT_TRUE(client_->turn().failed(0));
  EXPECT_EQ(client_->Set("key", "newer"), Outcome::kIoError);
}

TEST_F(DiskTurnTest, UnreadableItemIsAnErrorForEveryCommand) {
  Open();
  const std::string value(100'000, 'v');
  client_->Set("aside", value);  // shares a block with the state, which the start reads
  client_->Set("key", value);
  Open();  // what was written is in a table now
  files_.faulty.SetHook([](const base::FileCall& call) {
    const bool is_read = call.kind == base::FileCallKind::kReadAt ||
                         call.kind == base::FileCallKind::kNewRandomAccessFile;
    return is_read ? Status(Code::kIoError, "injected") : Status();
  });
  EXPECT_EQ(client_->Value("key"), "(error)");
  EXPECT_EQ(client_->Gets("key").outcome, Outcome::kIoError);
  EXPECT_EQ(client_->Put(StoreMode::kAdd, "key", "x"), Outcome::kIoError);
  EXPECT_EQ(client_->Delete("key"), Outcome::kIoError);
  EXPECT_EQ(client_->Count("key", 1).reply.outcome, Outcome::kIoError);
  files_.faulty.Heal();
  EXPECT_TRUE(client_->Value("key") == value);
}

// Adds done by threads at once, while other stores push the counters out of memory, are all there
// in the end, in memory and on disk.
TEST_F(DiskTurnTest, NoIncrementIsLostToEviction) {
  constexpr int kThreads = 3;
  constexpr int kCounters = 5;
  const uint32_t rounds = cache::Rounds(3000) / kCounters * kCounters;
  CacheOptions options;
  options.memory_bytes = 2u << 20;
  options.object_bytes_max = 64u << 10;
  options.append_lanes = 1;
  Open(options);
  for (int i = 0; i < kCounters; i++) client_->Set("counter" + std::to_string(i), "0");
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([this, t, rounds] {
      DiskClient client(store_.get(), tier_.get());
      std::mt19937 random(static_cast<unsigned>(cache::TestSeed()) * 10 + static_cast<unsigned>(t));
      for (uint32_t i = 0; i < rounds; i++) {
        const std::string key = "counter" + std::to_string(i % kCounters);
        ASSERT_EQ(client.Count(key, 1).reply.outcome, Outcome::kNumber);
        if (random() % 8 == 0) client.Evict(key);
        if (random() % 4 == 0)
          client.Set("filler" + std::to_string(random()), std::string(random() % 20'000, 'f'));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const uint64_t each = uint64_t{kThreads} * rounds / kCounters;
  for (int i = 0; i < kCounters; i++) {
    EXPECT_EQ(client_->Value("counter" + std::to_string(i)), std::to_string(each));
  }
  Kill();
  Open(options);
  for (int i = 0; i < kCounters; i++) {
    EXPECT_EQ(client_->Value("counter" + std::to_string(i)), std::to_string(each));
  }
}

// Whatever order the threads' stores took effect in, the disk has the one that memory has.
TEST_F(DiskTurnTest, DiskAndMemoryAgreeOnTheLastWriter) {
  constexpr int kThreads = 3;
  constexpr int kKeys = 4;
  Open();
  for (uint32_t round = 0; round < cache::Rounds(60); round++) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; t++) {
      threads.emplace_back([this, t, round] {
        DiskClient client(store_.get(), tier_.get());
        for (int i = 0; i < 50; i++) {
          const std::string key = "key" + std::to_string((i + t) % kKeys);
          if (i % 7 == t) {
            client.Delete(key);
          } else {
            client.Set(key, std::to_string(t * 1'000'000 + static_cast<int>(round) * 1000 + i));
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < kKeys; i++) {
      const std::string key = "key" + std::to_string(i);
      const std::string in_memory = client_->Value(key);
      client_->Evict(key);
      ASSERT_EQ(client_->Value(key), in_memory) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace weft::pipeline
