#include "bench/walk/ceiling.h"

#include <gtest/gtest.h>

#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

TEST(Ceiling, IsOfTheObjectsThatItIsToldOf) {
  for (const uint32_t object_bytes : {24u, 30u, 96u}) {
    auto ceiling = Ceiling::Make(1000, object_bytes, false, 1);
    ASSERT_TRUE(ceiling) << ceiling.error().ToString();
    EXPECT_EQ((*ceiling)->object_bytes(), (object_bytes + 7) / 8 * 8);
    EXPECT_EQ((*ceiling)->bytes(), Walk::BytesFor(1000, (*ceiling)->object_bytes()));
    EXPECT_GE((*ceiling)->bytes(), 1000u * object_bytes + 1000 * 8);
    for (const bool zipf : {false, true}) {
      const CeilingFigure figure = (*ceiling)->Measure(KeyPicker(1000, zipf), 2, UsableCpus());
      EXPECT_GT(figure.per_s, 0);
      EXPECT_TRUE(figure.batch >= 16 && figure.batch <= 128) << figure.batch;
    }
  }
}

TEST(Ceiling, OneThatDoesNotFitIsNotMade) {
  auto ceiling = Ceiling::Make(uint64_t{1} << 40, 96, false, 1);
  ASSERT_FALSE(ceiling);
  EXPECT_EQ(ceiling.error().code(), Code::kNoMemory);
}

// Each object is met, and nothing beside: the sum is that of the words of those that were asked
// for.
TEST(Walk, SumsTheWordsOfItsObjects) {
  for (const uint32_t object_bytes : {8u, 24u, 96u}) {
    const Walk walk(1, object_bytes, false, 1);
    const uint32_t ids[] = {0, 7, 9};
    const uint64_t words = object_bytes / 8;
    EXPECT_EQ(walk.Run(ids, 2), 3 * (words * (words - 1) / 2));
  }
}

}  // namespace
}  // namespace weft::bench
