// What a workload is as a whole: its sizes, its layout, and how often a bucket is hit where it was
// hit last (T27 of the specification).

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "base/seed_test_kit.h"
#include "base/zipf_sampler.h"
#include "sim/generator/generator_test_kit.h"
#include "sim/generator/op_planner.h"
#include "sim/generator/ramcloud_source.h"

namespace weft::sim {
namespace {

std::unique_ptr<RamcloudStore> Build(const StoreOptions& options) {
  Result<std::unique_ptr<RamcloudStore>> store = RamcloudStore::Build(options);
  EXPECT_TRUE(store) << store.error().ToString();
  return std::move(store.value());
}

std::unique_ptr<RamcloudSource> Make(const RamcloudOptions& options) {
  Result<std::unique_ptr<RamcloudSource>> source = RamcloudSource::Make(options);
  EXPECT_TRUE(source) << source.error().ToString();
  return std::move(source.value());
}

// "avg recomputed" and "writes %" of table 1.4.
struct PaperMix {
  double value_bytes;
  double writes;
};
constexpr std::array<PaperMix, kMixes> kPaper = {{{134.3, 1.4},
                                                  {182.3, 14.6},
                                                  {209.8, 45.2},
                                                  {219.5, 29.7},
                                                  {230.5, 23.5},
                                                  {249.6, 40.0},
                                                  {282.3, 29.3},
                                                  {321.3, 32.5},
                                                  {380.7, 11.4},
                                                  {409.6, 40.0},
                                                  {415.8, 20.0},
                                                  {431.6, 48.8}}};

TEST(Workload, OperationsOfTheTwelveMixesHaveThePapersSizes) {
  const uint64_t seed = base::TestSeed();
  constexpr int64_t kOps = 2'000'000;
  for (int mix = 1; mix <= kMixes; mix += static_cast<int>(base::Stride(kMixes))) {
    StoreOptions options{.cores = 1,
                         .seed = seed,
                         .mix = Mix::Find(std::to_string(mix)).value(),
                         .utilization = ParseUtilization("exact:4").value(),
                         .buckets = 1 << 10,
                         .puts_max = kOps};
    const std::unique_ptr<RamcloudStore> store = Build(options);
    OpPlanner planner(store.get(), kOps);
    double bytes = 0;
    double puts = 0;
    for (int64_t i = 0; i < kOps; ++i) {
      const PlannedOp op = *planner.Next(0).value();
      bytes += op.value_bytes;
      puts += op.type == OpType::kPut;
    }
    ASSERT_FALSE(planner.Next(0).value().has_value());
    const PaperMix& paper = kPaper[static_cast<size_t>(mix) - 1];
    EXPECT_NEAR(bytes / kOps, paper.value_bytes, 0.5) << mix;
    EXPECT_NEAR(100 * puts / kOps, paper.writes, 0.3) << mix;
    EXPECT_NEAR(options.mix.AverageValueBytes(), paper.value_bytes, 0.06) << mix;
  }
}

TEST(Workload, KeysHaveTheirClassesShares) {
  StoreOptions options{.seed = base::TestSeed(),
                       .mix = Mix::Find("12").value(),
                       .utilization = ParseUtilization("exact:4").value(),
                       .buckets = 1 << 12};
  const std::unique_ptr<RamcloudStore> store = Build(options);
  std::map<uint32_t, double> counts;  // by bytes of the entry
  const TableImage table = store->InitialTable();
  for (uint64_t bucket = 0; bucket < table.buckets(); ++bucket) {
    for (int slot = 0; slot < 8; ++slot) {
      ASSERT_EQ(table.At(bucket, slot).has_object(), slot < 4);
      if (slot < 4) ++counts[table.At(bucket, slot).bytes];
    }
  }
  const double keys = 4 << 12;
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_NEAR(counts[180] / keys, 11.6 / 100.3, 0.0001);
  EXPECT_NEAR(counts[309] / keys, 14.1 / 100.3, 0.0001);
  EXPECT_NEAR(counts[565] / keys, 74.6 / 100.3, 0.0001);
}

// How often a key is asked for.
std::vector<double> Probabilities(const RamcloudStore& store) {
  std::vector<double> probabilities(store.keys());
  const StoreOptions& options = store.options();
  const double theta = options.popularity.theta;
  for (size_t cls = 0; cls < options.mix.sizes().size(); ++cls) {
    const double share = options.mix.sizes()[cls].share();
    const double sum = base::ZipfSum(store.KeysOf(cls), theta);
    for (uint64_t rank = 0; rank < store.KeysOf(cls); ++rank) {
      probabilities[store.KeyOfRank(cls, rank)] =
          share * std::pow(static_cast<double>(rank + 1), -theta) / sum;
    }
  }
  return probabilities;
}

enum class Overflow {
  kMisses,  // what is in an overflow bucket is no hit of the bucket
  kFits,    // as if a bucket had an entry for each of its objects
};

// How often a bucket is hit where it was hit last, in the limit: the sum of p^2 / P(bucket).
double ExpectedLastHits(const RamcloudStore& store, Overflow overflow = Overflow::kMisses) {
  const std::vector<double> probabilities = Probabilities(store);
  std::vector<double> of_bucket(store.shape().buckets);
  std::vector<uint32_t> path;
  const auto for_each = [&](auto what) {
    for (uint32_t key = 0; key < store.keys(); ++key) {
      store.PathTo(store.Find(key).line, &path);
      if (path.size() > 1 && overflow == Overflow::kMisses) continue;
      what(probabilities[key], of_bucket[path.front()]);
    }
  };
  for_each([](double p, double& bucket) { bucket += p; });
  double hits = 0;
  for_each([&](double p, double& bucket) { hits += p * p / bucket; });
  return hits;
}

// As ExpectedLastHits, counted over the second half of the source's operations.
double CountLastHits(RamcloudSource& source, int64_t ops) {
  std::vector<uint8_t> last(source.shape().buckets);
  int64_t hits = 0;
  int64_t counted = 0;
  for (int64_t i = 0; i < ops; ++i) {
    for (const Record& record : NextOp(source, static_cast<int>(i % source.cores()))) {
      if (record.kind != RecordKind::kHit) continue;
      const bool counts = i >= ops / 2;
      counted += counts;
      if (record.slot == kNoSlot) continue;
      hits += counts && last[record.aux] == record.slot;
      last[record.aux] = record.slot;
    }
  }
  return static_cast<double>(hits) / static_cast<double>(counted);
}

RamcloudOptions HashedOptions(double objects, std::string_view pop, uint64_t buckets,
                              uint64_t seed) {
  RamcloudOptions options;
  options.store.seed = seed;
  options.store.popularity = ParseKeyPopularity(pop).value();
  options.store.utilization = {Utilization::Kind::kPoisson, objects};
  options.store.buckets = buckets;
  options.op.other_per_op = 0;
  return options;
}

TEST(Workload, LastHitsOfUniformKeysFollowTheClosedForm) {
  const uint64_t seed = base::TestSeed();
  uint32_t number = 0;
  for (double objects : {3.30, 0.7, 1.81, 5.66}) {
    if (number++ % base::Stride(4) != 0) continue;
    RamcloudOptions options = HashedOptions(objects, "uniform", 1 << 12, seed);
    options.ops = 160'000;  // each bucket's first hits are in the first half
    const std::unique_ptr<RamcloudSource> source = Make(options);
    const double expected = (1 - std::exp(-objects)) / objects;
    EXPECT_NEAR(CountLastHits(*source, options.ops), expected, 0.02) << objects;
    EXPECT_NEAR(ExpectedLastHits(source->store()), expected, 0.02) << objects;
  }
}

TEST(Workload, LastHitsOfPopularKeysFollowTheClosedForm) {
  const uint64_t seed = base::TestSeed();
  uint32_t number = 0;
  for (const char* pop : {"zipf:0.9", "zipf:0.99", "latest"}) {
    if (number++ % base::Stride(3) != 0) continue;
    RamcloudOptions options = HashedOptions(3.3, pop, 1 << 10, seed);
    options.store.mix = Mix::Find("5").value();
    options.ops = 300'000;
    const std::unique_ptr<RamcloudSource> source = Make(options);
    EXPECT_NEAR(CountLastHits(*source, options.ops), ExpectedLastHits(source->store()), 0.02)
        << pop;
  }
}

// The specification's own figures for a log of 1 GiB, per operation. They are for buckets that
// never overflow: of 5.69 objects a bucket, a twentieth to a tenth of the hits is lost to overflow
// buckets, by where the most popular keys are.
TEST(Workload, FullSizeLayoutsHaveTheSpecifiedLastHits) {
  const uint64_t seed = base::TestSeed();
  StoreOptions options{.seed = seed,
                       .mix = Mix::Find("fixed:128").value(),
                       .popularity = ParseKeyPopularity("zipf:0.99").value()};
  std::unique_ptr<RamcloudStore> store = Build(options);
  EXPECT_NEAR(static_cast<double>(store->keys()) / static_cast<double>(options.buckets), 5.69,
              0.01);
  EXPECT_NEAR(ExpectedLastHits(*store, Overflow::kFits), 0.794, 0.02);
  EXPECT_NEAR(ExpectedLastHits(*store), 0.73, 0.06);

  options.mix = Mix::Find("fixed:512").value();
  options.popularity = ParseKeyPopularity("zipf:0.9").value();
  store = Build(options);
  EXPECT_NEAR(static_cast<double>(store->keys()) / static_cast<double>(options.buckets), 1.81,
              0.01);
  EXPECT_NEAR(ExpectedLastHits(*store), 0.809, 0.02);
}

TEST(Workload, FullBucketsLeadToOthers) {
  StoreOptions options{.seed = base::TestSeed(),
                       .utilization = ParseUtilization("poisson:20").value(),
                       .buckets = 1000};  // no power of two
  const std::unique_ptr<RamcloudStore> store = Build(options);
  const TableImage table = store->InitialTable();
  std::map<uint32_t, std::array<int, 8>> objects;  // by line and slot
  std::vector<uint32_t> path;
  for (uint32_t key = 0; key < store->keys(); ++key) {
    const RamcloudStore::Place place = store->Find(key);
    ++objects[place.line][place.slot];
    store->PathTo(place.line, &path);
    ASSERT_EQ(path.back(), place.line);
    ASSERT_FALSE(store->IsOverflow(path.front()));
    if (path.size() == 1) {
      ASSERT_EQ(table.At(place.line, place.slot).addr, place.addr);
      continue;
    }
    ASSERT_EQ(table.At(path.front(), 7), (TableSlot{store->AddressOf(path[1]), 0, 0, true}));
    ASSERT_GE(store->AddressOf(path[1]), store->shape().table_limit);
    ASSERT_LT(store->AddressOf(place.line), store->shape().log_base);
    for (size_t i = 0; i + 1 < path.size(); ++i) ASSERT_EQ(objects[path[i]][7], 0);
  }
  // A line's entries are taken from the first on, each once.
  for (const auto& [line, slots] : objects) {
    for (size_t slot = 0; slot < 8; ++slot) {
      ASSERT_LE(slots[slot], 1);
      ASSERT_TRUE(slot == 0 || slots[slot] <= slots[slot - 1]);
    }
  }
}

}  // namespace
}  // namespace weft::sim
