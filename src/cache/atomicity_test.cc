// Threads that work on the same keys: every command is atomic for its key.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

constexpr int kThreadsAtOnce = 6;

void OnThreads(Store* store, const std::function<void(int, Client&)>& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreadsAtOnce; t++) {
    threads.emplace_back([&, t] {
      Client client(store);
      work(t, client);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Atomicity, IncrementsAddUp) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("n", "0");
  const uint32_t rounds = Rounds(10000);
  OnThreads(store.get(), [&](int, Client& c) {
    for (uint32_t i = 0; i < rounds; i++)
      ASSERT_EQ(c.Count("n", 3).reply.outcome, Outcome::kNumber);
  });
  EXPECT_EQ(client.Value("n"), std::to_string(uint64_t{kThreadsAtOnce} * rounds * 3));
}

TEST(Atomicity, OneAddOfManyWins) {
  const auto store = OpenStore();
  const uint32_t rounds = Rounds(3000);
  std::vector<std::atomic<int>> winners(rounds);
  OnThreads(store.get(), [&](int t, Client& c) {
    for (uint32_t i = 0; i < rounds; i++) {
      const std::string key = "k" + std::to_string(i);
      const Outcome outcome = c.Put(StoreMode::kAdd, key, std::to_string(t)).reply.outcome;
      if (outcome == Outcome::kStored)
        winners[i].fetch_add(1 + 100 * t);
      else {
        ASSERT_EQ(outcome, Outcome::kNotStored);
      }
      ASSERT_NE(c.Value(key), "(none)");
    }
  });
  Client client(store.get());
  for (uint32_t i = 0; i < rounds; i++) {
    ASSERT_EQ(winners[i] % 100, 1);
    ASSERT_EQ(client.Value("k" + std::to_string(i)), std::to_string(winners[i] / 100));
  }
  EXPECT_EQ(store->Stats().items, rounds);
}

TEST(Atomicity, OneCompareAndSwapOfAVersionWins) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("n", "0");
  const uint32_t rounds = Rounds(3000);
  std::atomic<uint64_t> wins{0};
  OnThreads(store.get(), [&](int t, Client& c) {
    for (uint32_t i = 0; i < rounds; i++) {
      const Answer answer = c.Gets("n");
      ASSERT_EQ(answer.reply.outcome, Outcome::kHit);
      const std::string next = std::to_string(std::stoull(answer.value) + 1);
      const Outcome outcome = c.Cas("n", next, answer.reply.cas);
      if (outcome == Outcome::kStored)
        wins++;
      else {
        ASSERT_EQ(outcome, Outcome::kExists);
      }
      if (t == 0 && i % 16 == 0) {  // a touch changes no version
        ASSERT_EQ(c.Touch("n", base::NowSeconds() + 1000 + i), Outcome::kTouched);
      }
    }
  });
  EXPECT_EQ(client.Value("n"), std::to_string(wins.load()));
  EXPECT_GT(wins.load(), rounds / 2);
}

TEST(Atomicity, TouchNeverSpoilsAVersionThatWasShown) {
  const auto store = OpenStore();
  Client client(store.get());
  const uint32_t rounds = Rounds(3000);
  for (int t = 0; t < kThreadsAtOnce; t++) client.Set("k" + std::to_string(t / 2), "v");
  std::atomic<uint64_t> stored{0};
  OnThreads(store.get(), [&](int t, Client& c) {
    // Pairs of threads: one swaps, one touches the same key; nobody else writes it.
    const std::string key = "k" + std::to_string(t / 2);
    for (uint32_t i = 0; i < rounds; i++) {
      if (t % 2 == 0) {
        ASSERT_EQ(c.Touch(key, base::NowSeconds() + 10 + i % 1000), Outcome::kTouched);
        continue;
      }
      const Answer answer = c.Gets(key);
      ASSERT_EQ(c.Cas(key, "v", answer.reply.cas), Outcome::kStored) << "round " << i;
      stored++;
    }
  });
  EXPECT_EQ(stored.load(), uint64_t{kThreadsAtOnce / 2} * rounds);
}

TEST(Atomicity, AppendsAllArriveWhole) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("k", "");
  const uint32_t rounds = Rounds(1000);
  OnThreads(store.get(), [&](int t, Client& c) {
    for (uint32_t i = 0; i < rounds; i++) {
      const std::string piece = {static_cast<char>('a' + t), static_cast<char>('A' + t), '.'};
      const StoreMode mode = i % 2 == 0 ? StoreMode::kAppend : StoreMode::kPrepend;
      ASSERT_EQ(c.Put(mode, "k", piece).reply.outcome, Outcome::kStored);
    }
  });
  const std::string value = client.Value("k");
  ASSERT_EQ(value.size(), size_t{kThreadsAtOnce} * rounds * 3);
  std::map<std::string, uint32_t> pieces;
  for (size_t i = 0; i < value.size(); i += 3) pieces[value.substr(i, 3)]++;
  EXPECT_EQ(pieces.size(), size_t{kThreadsAtOnce});
  for (const auto& [piece, count] : pieces) EXPECT_EQ(count, rounds) << piece;
}

TEST(Atomicity, OneDeleteOfManyRemoves) {
  const auto store = OpenStore();
  const uint32_t rounds = Rounds(3000);
  std::atomic<int64_t> stored{0}, deleted{0};
  OnThreads(store.get(), [&](int t, Client& c) {
    std::mt19937_64 random(TestSeed() * 16 + t);
    for (uint32_t i = 0; i < rounds; i++) {
      const std::string key = "k" + std::to_string(random() % 4);
      if (random() % 2 == 0) {
        stored += c.Put(StoreMode::kAdd, key, "v").reply.outcome == Outcome::kStored;
      } else {
        deleted += c.Delete(key) == Outcome::kDeleted;
      }
    }
  });
  EXPECT_EQ(stored - deleted, static_cast<int64_t>(store->Stats().items));
  EXPECT_GT(deleted.load(), 10);
}

TEST(Atomicity, StaleObjectHasOneWinner) {
  const auto store = OpenStore();
  const uint32_t rounds = Rounds(500);
  for (uint32_t i = 0; i < rounds; i++) {
    Client client(store.get());
    client.Set("k" + std::to_string(i), "v");
    Command invalidate = Client::Of(Verb::kDelete, "k");
    const std::string key = "k" + std::to_string(i);
    invalidate.key = key;
    invalidate.invalidate = true;
    client.Run(invalidate);
  }
  std::vector<std::atomic<int>> winners(rounds);
  OnThreads(store.get(), [&](int, Client& c) {
    for (uint32_t i = 0; i < rounds; i++) {
      const std::string key = "k" + std::to_string(i);
      Command read = Client::Of(Verb::kRead, key);
      read.hand_out_win = true;
      winners[i] += c.Run(read).reply.won;
    }
  });
  for (uint32_t i = 0; i < rounds; i++) ASSERT_EQ(winners[i], 1);
}

TEST(Atomicity, FlushedCounterStartsAgainFromNothing) {
  const auto store = OpenStore();
  const uint32_t rounds = Rounds(2000);
  // "n" counts since the last flush: after a flush nobody may see a number of before.
  std::atomic<uint64_t> wrong{0};
  std::atomic<bool> stop{false};
  std::thread flusher([&] {
    Client client(store.get());
    for (uint32_t i = 0; i < rounds; i++) {
      const std::string epoch = std::to_string(i) + ":";
      client.Set("flushed", epoch);
      client.Flush();
      // The appenders go on with what they find. What was there before the flush may not come back.
      const std::string value = client.Value("flushed");
      if (value != "(none)" && value.find(epoch) != std::string::npos) wrong++;
      client.Delete("flushed");
    }
    stop = true;
  });
  std::vector<std::thread> appenders;
  for (int t = 0; t < 3; t++) {
    appenders.emplace_back([&] {
      Client client(store.get());
      while (!stop) {
        client.Put(StoreMode::kAppend, "flushed", ".");
        client.Touch("flushed", base::NowSeconds() + 1000);
      }
    });
  }
  flusher.join();
  for (std::thread& thread : appenders) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
}

// A flush that was put off falls due for several threads at once: whatever one of them stores after
// it has asked stays.
TEST(Atomicity, WhatIsStoredOnceAFlushFellDueStays) {
  const auto store = OpenStore();
  const uint32_t due_s = base::NowSeconds() + 1'000'000;
  const uint32_t rounds = Rounds(5000);
  std::barrier all(kThreadsAtOnce);
  std::atomic<uint64_t> lost{0};
  OnThreads(store.get(), [&](int t, Client& c) {
    const std::string key = "k" + std::to_string(t);
    for (uint32_t i = 0; i < rounds; i++) {
      if (t == 0) c.Flush(due_s);
      all.arrive_and_wait();
      store->FlushIfDue(due_s);
      c.Set(key, std::to_string(i));
      all.arrive_and_wait();
      lost += c.Value(key) != std::to_string(i);
    }
  });
  EXPECT_EQ(lost.load(), 0u);
}

}  // namespace
}  // namespace weft::cache
