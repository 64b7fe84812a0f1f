// The paper's units on what the generator of RAMCloud's operations does.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "sim/generator/workload_options.h"
#include "sim/run/run_test_kit.h"

namespace weft::sim {
namespace {

constexpr int64_t kOps = 16'000;

// 2^14 buckets and 512 KB of L2 instead of 2^20 and 4 MB, and more load.
class WorkloadUnitsTest : public testing::Test {
 protected:
  WorkloadUnitsTest() {
    workload_.ops = kOps;
    workload_.buckets = 1 << 14;
    workload_.util = "exact:4";
    workload_.instr_per_op = 2500;
    options_.l2.shape.kilobytes = 512;
  }

  UnitRun Play(const PrefetchOptions& prefetch) {
    auto source = MakeSource(workload_, seed_);
    EXPECT_TRUE(source) << source.error().ToString();
    return PlaySource(*source.value(), prefetch, options_, seed_);
  }

  const uint64_t seed_ = TestSeed();
  WorkloadOptions workload_;
  MachineOptions options_;
};

TEST_F(WorkloadUnitsTest, GainGrowsWithAccuracy) {
  workload_.source = "fixedk";
  const double off = Play({}).result.cores.kv_misses.value();
  double last = 0;
  for (const char* pacu : {"oracle:0", "oracle:0.5", "oracle:1"}) {
    const UnitRun run = Play({.pacu = pacu});
    const double cycles = run.result.cores.kv_misses.value();
    if (last == 0) {
      EXPECT_GT(cycles, 0.99 * off);
    } else {
      EXPECT_LT(cycles, 0.95 * std::min(last, off)) << pacu;
    }
    last = cycles;
    const double judged =
        static_cast<double>(run.counts.addresses_right + run.counts.addresses_wrong);
    const double accuracy = std::atof(pacu + 7);
    EXPECT_GT(judged, 0.8 * kOps);
    EXPECT_NEAR(run.counts.address_accuracy(), accuracy,
                4 * std::sqrt(accuracy * (1 - accuracy) / judged) + 1e-9);
  }
  // In-situ is as right, but takes 10 ns for a bucket.
  const double in_situ = Play({.pacu = "insitu"}).result.cores.kv_misses.value();
  EXPECT_GT(in_situ, last);
  EXPECT_LT(in_situ, 0.8 * off);
}

TEST_F(WorkloadUnitsTest, InSituIsRightButForTagsAlike) {
  workload_.mix = "3";  // with puts
  workload_.util = "poisson:5";
  const UnitRun run = Play({.pacu = "insitu"});
  EXPECT_GT(run.counts.addresses_right, kOps / 4);
  EXPECT_GT(run.counts.addresses_absent, 0);  // in overflow buckets
  EXPECT_GT(run.counts.overflow_reads, 0);
  EXPECT_LE(run.counts.addresses_wrong, run.counts.tag_collisions);
  EXPECT_LT(run.counts.tag_collisions, 10);  // 16,000 x 2 / 65,536 are expected at most
  EXPECT_EQ(run.counts.addresses_none, 0);
  EXPECT_EQ(run.counts.lines_missing, 0);
  EXPECT_EQ(run.counts.objects_outside_log, 0);
}

TEST_F(WorkloadUnitsTest, ASizeThatIsAllValuesIsTheExactOne) {
  workload_.source = "fixedk";
  workload_.ops = 5000;
  uint32_t number = 0;
  for (const int value : {128, 256, 512}) {
    if (number++ % base::Stride(3) != 0) continue;
    workload_.mix = "fixed:" + std::to_string(value);
    const std::string fixed_size = "static:" + std::to_string(value);
    const UnitRun exact = Play({.pacu = "insitu"});
    const UnitRun fixed = Play({.pacu = "insitu", .pscu = fixed_size});
    ExpectSame(exact.result, fixed.result);
    EXPECT_EQ(exact.counts, fixed.counts);
    // But for what the warm-up's window asked for: the mean of one size is that size.
    options_.core.warmup_ops = 2000;
    const UnitRun dynamic = Play({.pacu = "insitu", .pscu = "dynamic"});
    EXPECT_GT(dynamic.counts.lines_asked, 0);
    EXPECT_EQ(dynamic.counts.lines_missing, 0);
    EXPECT_EQ(dynamic.counts.lines_excess, 0);
    options_.core.warmup_ops = 0;
    const UnitRun raw = Play({.pacu = "insitu", .pscu = fixed_size, .size_mode = "raw"});
    EXPECT_GT(raw.counts.lines_missing, 2500);
  }
}

TEST_F(WorkloadUnitsTest, ExhaustedMovesAllObjectsOfEachBucket) {
  workload_.source = "fixedk";
  uint32_t number = 0;
  for (const int k : {1, 2, 8}) {
    if (number++ % base::Stride(3) != 0) continue;
    workload_.util = "exact:" + std::to_string(k);
    const UnitRun run = Play({.pacu = "exhausted"});
    EXPECT_EQ(run.counts.objects, run.counts.triggers * k);
    EXPECT_EQ(run.counts.addresses_wrong, 0);
    // Of 180 bytes end to end, so that each begins at a multiple of 4: a fourth of them has 3
    // lines.
    const double lines = static_cast<double>(run.counts.lines_asked);
    EXPECT_NEAR(lines / static_cast<double>(run.counts.objects), 3.75, 0.015);
  }
}

TEST_F(WorkloadUnitsTest, EachLineHasOneOutcomeAndSeedsRepeat) {
  workload_.mix = "10";
  workload_.util = "poisson:5";
  workload_.ops = 800;
  uint32_t number = 0;
  for (const char* pacu : {"exhausted", "insitu", "hittable", "oracle:0.5"}) {
    for (const char* pscu : {"exact", "runtime", "static:256", "dynamic"}) {
      if (number++ % base::Stride(30) != 0) continue;  // each, or each seventh
      SCOPED_TRACE(std::string(pacu) + " " + pscu);
      const UnitRun run = Play({.pacu = pacu, .pscu = pscu});
      EXPECT_GT(run.result.prefetch.asked, 800);
      EXPECT_EQ(run.result.prefetch.asked, run.counts.lines_asked);
      EXPECT_EQ(SumOfOutcomes(run.result), run.result.prefetch.asked);
      const UnitRun again = Play({.pacu = pacu, .pscu = pscu});
      ExpectSame(run.result, again.result);
      EXPECT_EQ(run.counts, again.counts);
      EXPECT_EQ(run.result.prefetch.outcomes, again.result.prefetch.outcomes);
    }
  }
}

// T27, with the generator's keys, uniform. An object in an overflow bucket counts on neither side;
// few are at this load.
TEST_F(WorkloadUnitsTest, TheHitTableIsAsAccurateAsHashingLetsIt) {
  constexpr double kLoad = 3.30;
  workload_.mix = "fixed:128";
  workload_.other_per_op = 0;
  workload_.util = "poisson:3.30";
  workload_.buckets = 1 << 11;
  workload_.ops = 80'000;
  workload_.instr_per_op = 1250;
  options_.l1.kilobytes = 1;
  options_.l2.shape.kilobytes = 64;
  options_.core.warmup_ops = 20'000;
  const UnitRun run = Play({.pacu = "hittable"});
  EXPECT_NEAR(run.counts.hit_accuracy(), (1 - std::exp(-kLoad)) / kLoad, 0.02);
  EXPECT_NEAR(run.counts.address_accuracy(), (1 - std::exp(-kLoad)) / kLoad, 0.02);
  EXPECT_GT(run.counts.triggers, 45'000);
}

}  // namespace
}  // namespace weft::sim
