#include "server/watch_hub.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weft::server {
namespace {

using protocol::kWatchDeletions;
using protocol::kWatchEvictions;
using protocol::kWatchFetchers;

// A hub whose workers are this thread.
class WatchHubTest : public ::testing::Test {
 protected:
  void Open(WatchHub::Options options) {
    hub_ = std::make_unique<WatchHub>(options);
    for (uint32_t i = 0; i < options.workers; i++) hub_->post(i)->set_wake([this] { wakes_++; });
  }
  std::shared_ptr<Watcher> Join(uint32_t classes, uint64_t connection = 1) {
    auto watcher = hub_->Join(classes, hub_->post(0), connection);
    return watcher ? std::move(*watcher) : nullptr;
  }
  void Get(std::string_view key, uint32_t worker = 0) {
    WatchEvent event;
    event.status = WatchStatus::kFound;
    hub_->post(worker)->Note(event, key);
  }
  // The lines of `watcher` once one of them names `key`.
  static std::string LinesUpTo(Watcher& watcher, const std::string& key) {
    std::string text;
    while (text.find("key=" + key + " ") == text.npos) {
      std::string more(watcher.lines.readable(), '\0');
      watcher.lines.Read(more.data(), more.size());
      text += more;
      if (more.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return text;
  }
  void WaitUntilDrained() {
    for (WatchHub::Counts counts = hub_->Count();
         counts.watcher_sent + counts.watcher_skipped < counts.worker_written;
         counts = hub_->Count())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::atomic<uint64_t> wakes_{0};
  std::unique_ptr<WatchHub> hub_;
};

size_t Count(const std::string& text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) count++;
  return count;
}

TEST_F(WatchHubTest, EachIsToldOfWhatItAskedFor) {
  Open({.workers = 2});
  EXPECT_EQ(hub_->classes(), 0u);
  const auto gets = Join(kWatchFetchers, 5);
  const auto both = Join(kWatchFetchers | kWatchEvictions, 6);
  const auto deletions = Join(kWatchDeletions, 7);
  EXPECT_EQ(hub_->classes(), kWatchFetchers | kWatchEvictions | kWatchDeletions);
  EXPECT_EQ(hub_->Connections(), (std::vector<uint64_t>{5, 6, 7}));
  Get("one");
  cache::Evicted evicted;
  evicted.key = "two";
  hub_->post(1)->Note(evicted);
  Get("other", 1);
  Get("end");
  while (hub_->Count().watcher_sent < 7) std::this_thread::yield();
  EXPECT_EQ(Count(LinesUpTo(*gets, "end"), "type=item_get"), 3u);
  const std::string lines = LinesUpTo(*both, "end");
  EXPECT_EQ(Count(lines, "type=item_get"), 3u);
  EXPECT_EQ(Count(lines, "type=eviction key=two fetch=no ttl=-1 "), 1u);
  EXPECT_EQ(deletions->lines.readable(), 0u);
  EXPECT_GT(wakes_, 0u);
  hub_->Leave(both.get());
  EXPECT_EQ(hub_->classes(), kWatchFetchers | kWatchDeletions);
  hub_->Leave(gets.get());
  hub_->Leave(deletions.get());
  EXPECT_EQ(hub_->classes(), 0u);
  EXPECT_EQ(hub_->Count().watchers, 0u);
}

TEST_F(WatchHubTest, WhatWasBeforeItIsNotForIt) {
  Open({});
  const auto first = Join(kWatchFetchers);
  hub_->Leave(first.get());
  for (int i = 0; i < 100; i++) Get("before");
  const auto second = Join(kWatchFetchers);
  Get("behind");
  EXPECT_EQ(Count(LinesUpTo(*second, "behind"), "\n"), 1u);
}

TEST_F(WatchHubTest, WhoDoesNotReadIsNotWokenForIt) {
  Open({.workers = 2});
  std::atomic<uint64_t> stopped_wakes{0};
  hub_->post(0)->set_wake([&] { stopped_wakes++; });
  const auto stopped = Join(kWatchFetchers);
  auto reading = hub_->Join(kWatchDeletions, hub_->post(1), 2);
  ASSERT_TRUE(reading);
  // A round of the thread at least, in which the other one has lines.
  const auto round = [&](int i) {
    WatchEvent event;
    event.type = WatchType::kDeleted;
    const std::string key = "gone" + std::to_string(i);
    hub_->post(1)->Note(event, key);
    LinesUpTo(**reading, key);
  };
  Get("one");
  while (stopped_wakes == 0) std::this_thread::yield();
  for (int i = 0; i < 50; i++) round(i);
  EXPECT_EQ(stopped_wakes, 1u);
  // What it takes shows that it goes on, with what is left.
  char text[10];
  stopped->lines.Read(text, sizeof text);
  while (stopped_wakes == 1) std::this_thread::yield();
  Get("two");
  while (stopped_wakes == 2) std::this_thread::yield();
  hub_->End();
}

TEST_F(WatchHubTest, OnlySoManyWatch) {
  Open({});
  std::vector<std::shared_ptr<Watcher>> watchers;
  for (size_t i = 0; i < WatchHub::kWatchersMax; i++) watchers.push_back(Join(0, i));
  auto refused = hub_->Join(0, hub_->post(0), 99);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kRetryLater);
  hub_->Leave(watchers.back().get());
  EXPECT_NE(Join(0), nullptr);
}

TEST_F(WatchHubTest, AFullRingOfEventsDropsThem) {
  Open({.worker_bytes = 0});  // then the least there is
  // Nobody drains it before somebody watches.
  for (int i = 0; i < 1000; i++) Get("key");
  const WatchHub::Counts counts = hub_->Count();
  EXPECT_GT(counts.worker_written, 10u);
  EXPECT_EQ(counts.worker_written + counts.worker_dropped, 1000u);
  const auto watcher = Join(kWatchFetchers);
  while (hub_->Count().worker_written == counts.worker_written) Get("room");
  EXPECT_NE(LinesUpTo(*watcher, "room"), "");
}

TEST_F(WatchHubTest, ASlowOneIsToldHowMuchItMissed) {
  Open({.worker_bytes = size_t{1} << 20, .watcher_bytes = 0});
  const auto slow = Join(kWatchFetchers);
  for (int i = 0; i < 500; i++) Get("key");
  WaitUntilDrained();
  const WatchHub::Counts counts = hub_->Count();
  EXPECT_EQ(counts.watcher_sent + counts.watcher_skipped, 500u);
  EXPECT_GT(counts.watcher_skipped, 100u);
  std::string before(slow->lines.readable(), '\0');
  slow->lines.Read(before.data(), before.size());
  EXPECT_EQ(Count(before, "\n"), counts.watcher_sent);
  Get("end");
  const std::string behind = LinesUpTo(*slow, "end");
  EXPECT_TRUE(behind.starts_with("skipped=" + std::to_string(counts.watcher_skipped) + "\nts="))
      << behind;
  EXPECT_EQ(Count(behind, "\n"), 2u) << behind;
}

TEST_F(WatchHubTest, WorkersAndWatchersComeAndGo) {
  constexpr uint32_t kWorkers = 3;
  Open({.workers = kWorkers});
  std::atomic<bool> stop{false};
  std::vector<std::thread> workers;
  for (uint32_t i = 0; i < kWorkers; i++)
    workers.emplace_back([&, i] {
      while (!stop)
        if (hub_->post(i)->IsWatched(kWatchFetchers)) Get("key" + std::to_string(i), i);
    });
  for (int round = 0; round < 20; round++) {
    const auto watcher = Join(kWatchFetchers);
    const std::string line = LinesUpTo(*watcher, "key" + std::to_string(round % kWorkers));
    EXPECT_TRUE(line.starts_with("ts=")) << line;
    hub_->Leave(watcher.get());
  }
  stop = true;
  for (std::thread& worker : workers) worker.join();
}

TEST_F(WatchHubTest, LongTextsAreCut) {
  Open({});
  const auto watcher = Join(kWatchFetchers);
  Get(std::string(10'000, 'x'));
  const std::string cut(kWatchTextBytesMax, 'x');
  EXPECT_EQ(Count(LinesUpTo(*watcher, cut), "\n"), 1u);
}

}  // namespace
}  // namespace weft::server
