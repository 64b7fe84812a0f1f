// Threads   one.
#include "bench/policy/fifo.h"

#include <gtest/gtest.h>

#include "bench/policy/policy_test_kit.h"

namespace weft::bench {
namespace {

class NaiveFifo final : public Policy {
 public:
  explicit NaiveFifo(uint64_t capacity) : capacity_(capacity) {}
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
  void Delete(uint32_t record) override { queue_.Remove(record); }
  uint64_t bytes() const override { return queue_.bytes(); }

 private:
  const uint64_t capacity_;
  NaiveQueue queue_;
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

}  // namespace
}  // namespace weft::bench
