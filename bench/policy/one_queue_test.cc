// Threads   one.
#include "bench/policy/one_queue.h"

#include <gtest/gtest.h>

#include "bench/policy/policy_test_kit.h"

namespace weft::bench {
namespace {

class NaiveOneQueue : public Policy {
 public:
  explicit NaiveOneQueue(uint64_t capacity) : capacity_(capacity) {}
  void Delete(uint32_t record) override { queue_.Remove(record); }
  uint64_t bytes() const override { return queue_.bytes(); }

 protected:
  const uint64_t capacity_;
  NaiveQueue queue_;
};

class NaiveFifo final : public NaiveOneQueue {
 public:
  using NaiveOneQueue::NaiveOneQueue;
  bool Get(uint64_t /*request*/, uint32_t record) override {
    return queue_.Find(record) != nullptr;
  }
  void Set(uint64_t /*request*/, uint32_t record, uint32_t bytes) override {
    NaiveObject* const found = queue_.Find(record);
    if (bytes > capacity_) {
      queue_.Remove(record);
    } else if (found != nullptr) {
      found->bytes = bytes;
    } else {
      queue_.Push({record, bytes});
    }
    while (queue_.bytes() > capacity_) queue_.TakeOldestBut(record);
  }
};

class NaiveLru final : public NaiveOneQueue {
 public:
  using NaiveOneQueue::NaiveOneQueue;
  bool Get(uint64_t /*request*/, uint32_t record) override {
    const NaiveObject* const found = queue_.Find(record);
    if (found == nullptr) return false;
    const NaiveObject object = *found;
    queue_.Remove(record);
    queue_.Push(object);
    return true;
  }
  void Set(uint64_t /*request*/, uint32_t record, uint32_t bytes) override {
    queue_.Remove(record);
    queue_.Push({record, bytes});
    if (bytes > capacity_) queue_.Remove(record);
    while (queue_.bytes() > capacity_) queue_.TakeOldestBut(UINT32_MAX);
  }
};

TEST(Fifo, DropsTheFirstStoredWhateverItsUse) {
  EXPECT_EQ(PlayLetters("fifo", 3, "abcadab"), "---h---");
  EXPECT_EQ(PlayLetters("fifo", 3, "abcaaadbca"), "---hhh-hh-");
}

TEST(Fifo, ASetLeavesAnObjectItsPlace) {
  const auto fifo = MakeFifo(9, 4);
  for (const uint32_t record : {0, 1, 2}) fifo->Set(record, record, 3);
  fifo->Set(3, 0, 2);
  EXPECT_EQ(fifo->bytes(), 8u);
  fifo->Set(4, 3, 3);  // the oldest is still 0
  EXPECT_FALSE(fifo->Get(5, 0));
  EXPECT_TRUE(fifo->Get(6, 1));
}

TEST(Fifo, TheOldestStaysWhereItGrows) {
  const auto fifo = MakeFifo(9, 3);
  for (const uint32_t record : {0, 1, 2}) fifo->Set(record, record, 3);
  fifo->Set(3, 0, 5);
  EXPECT_EQ(fifo->bytes(), 8u);
  EXPECT_TRUE(fifo->Get(4, 0));
  EXPECT_FALSE(fifo->Get(5, 1));
}

TEST(Fifo, PlaysAsItsModel) {
  ExpectPolicyLikeModel("fifo", [](uint64_t capacity, const Trace& /*trace*/) {
    return std::make_unique<NaiveFifo>(capacity);
  });
}

TEST(Lru, DropsTheLeastRecentlyUsed) {
  EXPECT_EQ(PlayLetters("lru", 3, "abcadab"), "---h-h-");
  EXPECT_EQ(PlayLetters("lru", 3, "abcdabcd"), "--------");
}

TEST(Lru, ASetIsAUseAndMakesRoomForItsNewSize) {
  const auto lru = MakeLru(10, 4);
  for (const uint32_t record : {0, 1, 2}) lru->Set(record, record, 3);
  lru->Set(3, 0, 5);
  EXPECT_EQ(lru->bytes(), 8u);
  EXPECT_FALSE(lru->Get(4, 1));
  EXPECT_TRUE(lru->Get(5, 0));
  EXPECT_TRUE(lru->Get(6, 2));
}

TEST(Lru, PlaysAsItsModel) {
  ExpectPolicyLikeModel("lru", [](uint64_t capacity, const Trace& /*trace*/) {
    return std::make_unique<NaiveLru>(capacity);
  });
}

}  // namespace
}  // namespace weft::bench
