#include "lsm/flush_first.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>

namespace weft::lsm {
namespace {

void SleepMs(int ms) {
  const timespec pause{0, ms * 1'000'000L};
  nanosleep(&pause, nullptr);
}

// Threads that give way again and again, and how often each came back.
class Compactions {
 public:
  Compactions(FlushFirst* flush_first, int threads) : rounds_(static_cast<size_t>(threads)) {
    for (std::atomic<uint64_t>& rounds : rounds_) {
      threads_.emplace_back([this, flush_first, &rounds] {
        while (!stop_) {
          flush_first->GiveWay();
          rounds.fetch_add(1);
          std::this_thread::yield();
        }
      });
    }
  }
  ~Compactions() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  // How many come back within a while.
  int Moving() const {
    const std::vector<uint64_t> before(rounds_.begin(), rounds_.end());
    SleepMs(50);
    return CountBack(before, 1);
  }
  // Waits until so many came back twice: they gave way at least once after all that the caller did
  // before. This writes the counters, too, so that whoever counts on sees what was done before.
  void AwaitMoving(int threads) {
    std::vector<uint64_t> before;
    for (auto& rounds : rounds_) before.push_back(rounds.fetch_add(0));
    while (CountBack(before, 2) < threads) SleepMs(1);
  }

 private:
  int CountBack(const std::vector<uint64_t>& before, uint64_t times) const {
    int threads = 0;
    for (size_t i = 0; i < before.size(); i++) threads += rounds_[i] >= before[i] + times;
    return threads;
  }

  std::atomic<bool> stop_{false};
  std::vector<std::atomic<uint64_t>> rounds_;
  std::vector<std::thread> threads_;
};

TEST(FlushFirstTest, OneCompactionStandsStillWhileAFlushComputes) {
  FlushFirst flush_first(2, 2, false);
  Compactions compactions(&flush_first, 2);
  compactions.AwaitMoving(2);
  for (int round = 0; round < 3; round++) {
    FlushFirst::Turn turn(&flush_first);
    compactions.AwaitMoving(1);  // who comes back has found that the other one stands still
    EXPECT_LE(compactions.Moving(), 1);
    turn.End();
    compactions.AwaitMoving(2);
  }
}

TEST(FlushFirstTest, NobodyWaitsWhereThereAreProcessorsForAllOrFlushesArePaced) {
  FlushFirst enough(2, 4, false);
  FlushFirst paced(2, 2, true);
  for (FlushFirst* flush_first : {&enough, &paced}) {
    FlushFirst::Turn turn(flush_first);
    Compactions compactions(flush_first, 2);
    compactions.AwaitMoving(2);
  }
}

TEST(FlushFirstTest, OneStandsStillWhereTurnsFollowEachOther) {
  FlushFirst flush_first(2, 2, false);
  Compactions compactions(&flush_first, 2);
  for (int round = 0; round < 200; round++) {
    // Who waited for the last turn may not have noticed its end.
    { FlushFirst::Turn turn(&flush_first); }
    FlushFirst::Turn turn(&flush_first);
    if (round % 20 == 0) {
      compactions.AwaitMoving(1);
      EXPECT_LE(compactions.Moving(), 1);
    }
  }
  compactions.AwaitMoving(2);
}

}  // namespace
}  // namespace weft::lsm
