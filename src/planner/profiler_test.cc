#include "planner/profiler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>

#include "cache/cache_test_kit.h"
#include "pipeline/cpu_stage.h"
#include "planner/popularity.h"
#include "planner/workload_test_kit.h"

namespace weft::planner {
namespace {

using cache::Client;
using cache::Command;
using cache::TestSeed;
using cache::Verb;

class NoReplies final : public pipeline::Sink {
 public:
  void Write(pipeline::Batch&, uint32_t, uint32_t, cache::Session&) override {}
  void RunOther(pipeline::Batch&, uint32_t, cache::Session&) override {}
};

// One worker's batches.
class Batches {
 public:
  Batches() { Clear(); }

  Client& client() { return client_; }
  pipeline::Batch& batch() { return batch_; }
  uint32_t source() const { return source_; }
  void Read(std::string_view key) { batch_.AddRead(source_, 0, key, store_->HashOf(key)); }
  void Run(Verb verb, std::string_view key, std::string_view value = {}) {
    Command command = Client::Of(verb, key);
    command.value = value;
    command.hash = store_->HashOf(key);
    batch_.AddCommand(source_, 0, command);
  }
  void RunAll() {
    stage_.Run(batch_, *session_, sink_);
    profiler_.Note(batch_);
    Clear();
  }
  WorkloadCounts Counts() {
    WorkloadCounts counts;
    EXPECT_TRUE(profiler_.Read(&counts));
    return counts;
  }
  void Clear(int64_t room = int64_t{1} << 40) {
    batch_.Clear();
    source_ = batch_.AddSource(room);
  }
  const Profiler& profiler() const { return profiler_; }

 private:
  std::unique_ptr<cache::Store> store_ = cache::OpenStore();
  Client client_{store_.get()};
  std::unique_ptr<cache::Session> session_ = store_->NewSession();
  pipeline::TaskTimes times_;
  pipeline::CpuStage stage_{store_.get(), &times_};
  pipeline::Batch batch_{pipeline::Plan::OneStageCpu()};
  uint32_t source_ = 0;
  NoReplies sink_;
  Profiler profiler_;
};

TEST(Profiler, CountsWhatABatchDoes) {
  Batches batches;
  batches.client().Set("long", std::string(500, 'x'));
  batches.client().Set("b", "12");
  // 10 queries about keys, 100 times.
  for (int i = 0; i < 100; i++) {
    for (int j = 0; j < 3; j++) batches.Read("long");
    batches.Read("none");
    batches.batch().AddOther(batches.source(), 0);
    batches.Run(Verb::kStore, "b", "12345");
    batches.Run(Verb::kRead, "b");
    batches.Run(Verb::kRead, "nor this");
    batches.Run(Verb::kArithmetic, "b");
    batches.Run(Verb::kTouch, "b");
    batches.Run(Verb::kDelete, "none");
    batches.RunAll();
  }
  for (int i = 0; i < 24; i++) batches.Read("b");
  batches.RunAll();
  const WorkloadCounts counts = batches.Counts();
  EXPECT_EQ(counts.batches, 101u);
  EXPECT_EQ(counts.groups, 1u);
  EXPECT_EQ(counts.queries, 1024u);
  EXPECT_EQ(counts.reads(), 624u);
  EXPECT_EQ(counts.misses, 200u);
  EXPECT_EQ(counts.stores, 300u);
  EXPECT_EQ(counts.deletes, 100u);
  EXPECT_EQ(counts.key_bytes, 100u * (3 * 4 + 4 + 1 + 1 + 8 + 1 + 1 + 4) + 24);
  EXPECT_EQ(counts.values, 100u * (3 + 1 + 1 + 1) + 24);
  EXPECT_EQ(counts.value_bytes, 100u * (3 * 500 + 5 + 5 + 5) + 24 * 5);
}

TEST(Profiler, LeavesOutWhatHadNoRoom) {
  Batches batches;
  batches.client().Set("long", std::string(5000, 'x'));
  for (int i = 0; i < 512; i++) {
    batches.Clear(6000);  // one of them fits
    batches.Read("long");
    batches.Read("long");  // comes again
    batches.Run(Verb::kDelete, "none");
    const uint32_t other = batches.batch().AddSource(int64_t{1} << 40);
    batches.batch().AddRead(other, 0, "none", 1);
    batches.RunAll();
  }
  const WorkloadCounts counts = batches.Counts();
  EXPECT_EQ(counts.queries, 1024u);
  EXPECT_EQ(counts.reads(), 1024u);
  EXPECT_EQ(counts.misses, 512u);
  EXPECT_EQ(counts.deletes, 0u);
  EXPECT_EQ(counts.values, 512u);
  EXPECT_EQ(counts.value_bytes, 512u * 5000);
}

TEST(Profiler, TakesAKeyOfAboutEvery32) {
  Batches batches;
  for (int i = 0; i < 3000; i++) {
    for (int j = 0; j < 30; j++) batches.Read("a");
    batches.batch().AddOther(batches.source(), 0);
    batches.Read("b");
    batches.RunAll();
  }
  EXPECT_NEAR(static_cast<double>(batches.profiler().taken()), 3000 * 31 / 32.5, 150);
  // Batches of 32 queries: not always the same ones of them.
  const uint64_t taken = batches.profiler().taken();
  std::unordered_map<uint32_t, int> of;
  for (uint64_t i = taken - Profiler::kHashesKept; i < taken; i++) of[batches.profiler().hash(i)]++;
  ASSERT_EQ(of.size(), 2u);
  for (const auto& [hash, count] : of) EXPECT_GE(count, 4) << "of 512, 16.5 in the mean";
}

// No group is seen in part.
TEST(Profiler, IsReadWholeWhileItCounts) {
  Profiler profiler;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> reads{0};
  std::thread writer([&] {
    for (int i = 0; i < 300'000 || reads == 0; i++) {
      WorkloadCounts batch;
      batch.batches = 1;
      batch.queries = batch.stores = batch.values = Profiler::kGroupQueries;
      batch.value_bytes = batch.key_bytes = 8 * batch.queries;
      profiler.Add(batch);
    }
    done = true;
  });
  while (!done) {
    WorkloadCounts counts;
    if (!profiler.Read(&counts)) continue;
    ASSERT_EQ(counts.reads(), 0u);
    ASSERT_EQ(counts.value_bytes, 8 * counts.queries);
    reads++;
  }
  writer.join();
}

TEST(CountEqual, CountsPairsAndTriples) {
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int round = 0; round < 200; round++) {
    std::vector<uint32_t> hashes(random() % 60);
    const uint32_t kinds = 1 + random() % 30;
    for (uint32_t& hash : hashes) hash = random() % kinds << 20;
    uint64_t pairs = 0, triples = 0;
    for (size_t i = 0; i < hashes.size(); i++)
      for (size_t j = 0; j < i; j++) {
        if (hashes[i] != hashes[j]) continue;
        pairs++;
        for (size_t k = 0; k < j; k++) triples += hashes[k] == hashes[j];
      }
    WorkloadCounts counts;
    CountEqual(hashes, &counts);
    ASSERT_EQ(counts.equal_pairs, pairs);
    ASSERT_EQ(counts.equal_triples, triples);
    const uint64_t n = hashes.size();
    ASSERT_EQ(counts.pairs, n == 0 ? 0 : n * (n - 1) / 2);
  }
  WorkloadCounts counts;
  CountEqual(std::vector<uint32_t>(WindowReader::kHashesMax, 0), &counts);
  EXPECT_EQ(counts.equal_pairs, counts.pairs);
  EXPECT_EQ(counts.equal_triples, counts.triples);
}

// Windows of one workload.
class Windows {
 public:
  explicit Windows(const Profile& truth) : queries_(truth, TestSeed()) {}

  WorkloadCounts Next(uint32_t groups = 2) {
    queries_.Count(groups, &profiler_);
    WorkloadCounts all;
    EXPECT_TRUE(reader_.Next(1, &all));
    return all;
  }

 private:
  RandomQueries queries_;
  Profiler profiler_;
  WindowReader reader_{{&profiler_}};
};

TEST(WindowReader, ExtendsWindowsThatAreTooSmall) {
  Profiler a, b;
  WindowReader reader({&a, &b});
  std::mt19937_64 random(TestSeed());
  WorkloadCounts window;
  EXPECT_FALSE(reader.Next(1, &window));
  a.Add(Draw(Profile(), 1500, &random));
  EXPECT_FALSE(reader.Next(3000, &window));
  b.Add(Draw(Profile(), 1500, &random));
  a.Take(7);
  b.Take(7);
  b.Take(8);
  ASSERT_TRUE(reader.Next(3000, &window));
  EXPECT_EQ(window.queries, 3000u);
  EXPECT_EQ(window.batches, 2u);
  EXPECT_EQ(window.pairs, 3u);
  EXPECT_EQ(window.equal_pairs, 1u);
  EXPECT_EQ(reader.begin_queries(0), 1500u);
  EXPECT_FALSE(reader.Next(1, &window));
  b.Add(Draw(Profile(), 1200, &random));
  ASSERT_TRUE(reader.Next(1, &window));
  EXPECT_EQ(window.queries, 1200u);
  EXPECT_EQ(window.pairs, 0u);
}

TEST(ProfileOf, SaysWhatTheWorkloadIs) {
  Profile truth = *ProfileOfWorkload("K32-G95-S");
  truth.hit_share = 0.7;
  truth.delete_share = 0.02;
  Windows windows(truth);
  WorkloadCounts counts;
  for (int i = 0; i < 64; i++) counts.Add(windows.Next());
  Profile known;
  known.objects = 1e6;
  known.looks_per_store = 3;
  const Profile profile = ProfileOf(counts, known);
  EXPECT_NEAR(profile.get_share, 0.95, 0.01);
  EXPECT_NEAR(profile.delete_share, 0.02, 0.005);
  EXPECT_NEAR(profile.hit_share, 0.7, 0.01);
  EXPECT_DOUBLE_EQ(profile.key_bytes, 32);
  EXPECT_DOUBLE_EQ(profile.value_bytes, 256);
  EXPECT_NEAR(profile.zipf, 0.99, 0.1);
  EXPECT_EQ(profile.objects, 1e6);
  EXPECT_EQ(profile.looks_per_store, 3);
  EXPECT_EQ(profile.counted, 64 * 2 * Profiler::kGroupQueries);
}

TEST(ProfileOf, OfUniformKeysHasNoSkew) {
  Windows windows(*ProfileOfWorkload("K8-G50-U"));
  WorkloadCounts counts;
  for (int i = 0; i < 64; i++) counts.Add(windows.Next());
  EXPECT_EQ(ProfileOf(counts, Profile()).zipf, 0);
}

TEST(ProfileOf, KeepsWhatNobodyAskedFor) {
  Profile known;
  known.hit_share = 0.3;
  known.value_bytes = 100;
  known.zipf = 0.5;
  WorkloadCounts counts;
  counts.queries = counts.deletes = 5000;
  counts.key_bytes = 50'000;
  const Profile profile = ProfileOf(counts, known);
  EXPECT_EQ(profile.get_share, 0);
  EXPECT_EQ(profile.delete_share, 1);
  EXPECT_EQ(profile.hit_share, 0.3);
  EXPECT_EQ(profile.value_bytes, 100);
  EXPECT_EQ(profile.zipf, 0.5);
  EXPECT_EQ(ProfileOf({}, known).key_bytes, known.key_bytes);
}

TEST(IsAnother, TakesNoChanceForOne) {
  Profile truth = *ProfileOfWorkload("K16-G95-S");
  truth.hit_share = 0.9;
  truth.delete_share = 0.01;
  Windows windows(truth);
  WorkloadCounts from = windows.Next();
  int others = 0;
  for (uint32_t i = 0; i < cache::Rounds(3000); i++) {
    const WorkloadCounts window = windows.Next();
    others += IsAnother(from, window);
    from.Add(window);
    if (i % 64 == 63) from.Halve();
  }
  EXPECT_EQ(others, 0);
}

TEST(IsAnother, SeesEachChange) {
  const Profile before = *ProfileOfWorkload("K16-G95-U");
  Profile deletes = before, misses = before, keys = before, values = before, reads = before;
  deletes.delete_share = 0.05;
  misses.hit_share = 0.8;
  keys.key_bytes = 20;
  values.value_bytes = 80;
  reads.get_share = 1;
  Windows windows(before);
  WorkloadCounts from;
  for (int i = 0; i < 20; i++) from.Add(windows.Next());
  for (const Profile& after : {deletes, misses, keys, values, reads}) {
    Windows others(after);
    EXPECT_TRUE(IsAnother(from, others.Next())) << Describe(after);
    EXPECT_TRUE(IsAnother(others.Next(), from)) << Describe(after);
  }
}

// 64 keys say that there is skew, if not that it has gone; a thousand say both.
TEST(IsAnother, SeesTheSkewComeAndGo) {
  const Profile uniform = *ProfileOfWorkload("K16-G95-U"), skewed = *ProfileOfWorkload("K16-G95-S");
  Windows flat(uniform), steep(skewed);
  const auto some = [](Windows* windows, int count) {
    WorkloadCounts counts;
    for (int i = 0; i < count; i++) counts.Add(windows->Next());
    return counts;
  };
  for (int i = 0; i < 20; i++) {
    EXPECT_TRUE(IsAnother(some(&flat, 32), some(&steep, 4)));
    EXPECT_TRUE(IsAnother(some(&steep, 64), some(&flat, 16)));
    EXPECT_FALSE(IsAnother(some(&steep, 64), some(&steep, 16)));
  }
}

// A client that loads sends stores alone; values of many sizes are not another workload each time.
TEST(IsAnother, KnowsHowFarGroupsDiffer) {
  std::mt19937_64 random(TestSeed());
  Profiler profiler;
  WindowReader reader({&profiler});
  const auto next = [&] {
    for (int group = 0; group < 2; group++) {
      WorkloadCounts batch;
      batch.batches = 1;
      batch.queries = batch.values = Profiler::kGroupQueries;
      batch.stores = random() % 10 == 0 ? batch.queries : 0;
      batch.key_bytes = batch.queries * 16;
      std::lognormal_distribution<double> size(5, 2.5);
      for (uint32_t i = 0; i < batch.queries; i++)
        batch.value_bytes += static_cast<uint64_t>(std::min(size(random), 1e6));
      profiler.Add(batch);
    }
    WorkloadCounts window;
    EXPECT_TRUE(reader.Next(1, &window));
    return window;
  };
  WorkloadCounts from;
  for (int i = 0; i < 32; i++) from.Add(next());
  int others = 0;
  for (int i = 0; i < 500; i++) others += IsAnother(from, next());
  EXPECT_LE(others, 10);
}

}  // namespace
}  // namespace weft::planner
