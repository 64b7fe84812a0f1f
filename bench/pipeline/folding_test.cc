#include "bench/pipeline/folding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Fold, MeansOfWholeCyclesButTheFirst) {
  const std::vector<uint64_t> slots = {90, 90, 90, 1, 2, 3, 3, 4, 5, 70};
  EXPECT_THAT(Fold(slots, 3, 0.5), ElementsAre(4, 6, 8));
}

TEST(Fold, OfOneCycleThereIsNothingToSay) {
  const std::vector<uint64_t> slots = {1, 2, 3, 4, 5};
  EXPECT_THAT(Fold(slots, 3, 1), IsEmpty());
}

TEST(RecoveryOf, SlotsUntilAllThatFollowAreNear) {
  // A slot that is high by chance is no recovery.
  const std::vector<double> slots = {50, 99, 60, 94, 96, 100, 98, 100, 102};
  const Recovery recovery = RecoveryOf(slots);
  EXPECT_DOUBLE_EQ(recovery.steady, 100);
  EXPECT_EQ(recovery.slots, 4u);
}

TEST(RecoveryOf, NothingWasLost) {
  const std::vector<double> slots = {104, 100, 97, 100, 100, 100};
  EXPECT_EQ(RecoveryOf(slots).slots, 0u);
}

TEST(RecoveryOf, NotEvenTheLastSlotIsNear) {
  const std::vector<double> slots = {10, 20, 90, 10};
  const Recovery recovery = RecoveryOf(slots);
  EXPECT_DOUBLE_EQ(recovery.steady, 50);
  EXPECT_EQ(recovery.slots, 4u);
}

}  // namespace
}  // namespace weft::bench
