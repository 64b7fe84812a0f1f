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

  int Moving() const {
    std::vector<uint64_t> before;
    for (const auto& rounds : rounds_) before.push_back(rounds);
    SleepMs(50);
    int moving = 0;
    for (size_t i = 0; i < before.size(); i++) moving += rounds_[i] > before[i];
    return moving;
  }
  // Waits until so many move, for ten seconds at most.
  bool Comes(int moving) const {
    for (int i = 0; i < 200; i++) {
      if (Moving() == moving) return true;
    }
    return false;
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::atomic<uint64_t>> rounds_;
  std::vector<std::thread> threads_;
};

TEST(FlushFirstTest, OneCompactionStandsStillWhileAFlushComputes) {
  FlushFirst flush_first(2, 2, false);
  Compactions compactions(&flush_first, 2);
  EXPECT_TRUE(compactions.Comes(2));
  for (int round = 0; round < 3; round++) {
    FlushFirst::Turn turn(&flush_first);
    EXPECT_TRUE(compactions.Comes(1));
    EXPECT_LE(compactions.Moving(), 1);  // and the other one goes on standing still
    turn.End();
    EXPECT_TRUE(compactions.Comes(2));
  }
}

TEST(FlushFirstTest, NobodyWaitsWhereThereAreProcessorsForAllOrFlushesArePaced) {
  FlushFirst enough(2, 4, false);
  FlushFirst paced(2, 2, true);
  for (FlushFirst* flush_first : {&enough, &paced}) {
    FlushFirst::Turn turn(flush_first);
    Compactions compactions(flush_first, 2);
    EXPECT_TRUE(compactions.Comes(2));
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
      EXPECT_TRUE(compactions.Comes(1));
    }
  }
  EXPECT_TRUE(compactions.Comes(2));
}

}  // namespace
}  // namespace weft::lsm
