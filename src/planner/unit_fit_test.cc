#include "planner/unit_fit.h"

#include <gtest/gtest.h>

#include "planner/cost_model.h"

namespace weft::planner {
namespace {

// What a work of this unit cost would take.
SizeRuns RunsOf(Work work, bool affine, const UnitCost& unit) {
  SizeRuns runs;
  for (size_t i = 0; i < kSizes.size(); i++) {
    const auto ns = [&](double cached) {
      return UnitNs(unit, AccessesOf(work, ProfileOf(kSizes[i]), 64, cached, affine), 0);
    };
    runs.all[i] = ns(0);
    runs.few[i] = ns(1);
  }
  return runs;
}

TEST(LineThrough, GoesThroughBoth) {
  const Line line = LineThrough(1, 5, 3, 9);
  EXPECT_DOUBLE_EQ(line.at_zero, 3);
  EXPECT_DOUBLE_EQ(line.slope, 2);
}

TEST(LineThrough, IsNeverNegative) {
  const Line falls = LineThrough(1, 9, 3, 5);
  EXPECT_DOUBLE_EQ(falls.slope, 0);
  EXPECT_DOUBLE_EQ(falls.at_zero, 7);
  const Line steep = LineThrough(1, 1, 3, 9);  // -3 + 4 x
  EXPECT_DOUBLE_EQ(steep.at_zero, 0);
  EXPECT_DOUBLE_EQ(steep.slope, 2.8);  // the least squares of 1 - s and 9 - 3 s
}

TEST(FitUnit, FindsWhatItWasMadeOf) {
  const UnitCost search = {4, 0, 12, 3, 0.5, 9};
  const UnitCost fitted = FitUnit(Work::kSearch, false, 64, RunsOf(Work::kSearch, false, search));
  EXPECT_NEAR(fitted.instructions, 4, 1e-9);
  EXPECT_NEAR(fitted.memory, 12, 1e-6);
  EXPECT_NEAR(fitted.stream, 3, 1e-6);
  EXPECT_NEAR(fitted.far, 9, 1e-6);
  EXPECT_NEAR(fitted.cache, 0.5, 1e-9);
}

// Behind KC a read touches no line for the first time.
TEST(FitUnit, OfAWorkWithoutFirstAccesses) {
  const UnitCost write = {6, 0, 0, 8, 2, 15};
  const UnitCost fitted = FitUnit(Work::kWrite, true, 64, RunsOf(Work::kWrite, true, write));
  EXPECT_NEAR(fitted.instructions, 6, 1e-9);
  EXPECT_NEAR(fitted.stream, 8, 1e-6);
  EXPECT_NEAR(fitted.far, 15, 1e-6);
  EXPECT_NEAR(fitted.cache, 2, 1e-9);
  EXPECT_EQ(fitted.memory, 0);
}

// However odd the figures are, what comes out gives something near them and is not negative.
TEST(FitUnit, OfWhatNoUnitCostCanBe) {
  for (const SizeRuns& runs :
       {SizeRuns{{10, 7, 5}, {30, 2, 1}}, SizeRuns(), SizeRuns{{1, 60, 100}, {100, 50, 1}},
        SizeRuns{{50, 0, 10}, {2, 9, 3}}}) {
    for (const Work work : {Work::kSearch, Work::kCompare, Work::kWrite, Work::kWriteGathered}) {
      const UnitCost unit = FitUnit(work, true, 64, runs);
      for (const double figure :
           {unit.instructions, unit.memory, unit.stream, unit.cache, unit.far})
        EXPECT_GE(figure, 0) << WorkName(work);
      EXPECT_LE(RunsOf(work, true, unit).all[kSmall], 200);
    }
  }
}

}  // namespace
}  // namespace weft::planner
