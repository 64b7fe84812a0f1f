#include "bench/workload/operation_stream.h"

#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/goodness_of_fit_test_kit.h"
#include "base/mutex.h"
#include "bench/workload/builtin_mixes.h"
#include "bench/workload/key_probability_test_kit.h"

namespace weft::bench {
namespace {

constexpr int kOperationsDrawn = 500'000;

OperationMix Named(const char* name, uint64_t records) {
  OperationMix mix = *BuiltinMix(name);
  mix.records = records;
  return mix;
}

OperationMix AllKinds(uint64_t records) {
  OperationMix mix;
  mix.name = "all";
  mix.shares = {0.3, 0.25, 0.2, 0.15, 0.07, 0.03};
  mix.records = records;
  return mix;
}

base::Fit KindsFit(const OperationMix& drawn, const OperationMix& claimed) {
  RecordSpace space(drawn.records);
  OperationStream stream(drawn, &space, 3);
  std::vector<uint64_t> counts(kOperationKinds);
  Operation operation;
  for (int i = 0; i < kOperationsDrawn && stream.Next(&operation); ++i)
    ++counts[static_cast<size_t>(operation.kind)];
  return base::ChiSquare(counts, {claimed.shares.begin(), claimed.shares.end()});
}

TEST(OperationStream, KindsHaveTheirShares) {
  const base::Fit fit = KindsFit(AllKinds(1000), AllKinds(1000));
  EXPECT_TRUE(fit.ok()) << fit.statistic << " above " << fit.critical;
  OperationMix other = AllKinds(1000);
  other.shares = {0.305, 0.245, 0.2, 0.15, 0.07, 0.03};
  EXPECT_FALSE(KindsFit(AllKinds(1000), other).ok());
}

TEST(OperationStream, ScanLengthsAndRecordsFollowTheMix) {
  OperationMix mix = Named("ycsb-e", 1000);
  mix.shares = {};
  mix.SetShare(OperationKind::kScan, 1);
  RecordSpace space(1000);
  OperationStream stream(mix, &space, 3);
  std::vector<uint64_t> lengths(100), records(1000);
  Operation operation;
  for (int i = 0; i < kOperationsDrawn && stream.Next(&operation); ++i) {
    ASSERT_EQ(operation.kind, OperationKind::kScan);
    ++lengths.at(operation.scan_length - 1);
    ++records.at(operation.record);
  }
  EXPECT_TRUE(base::ChiSquare(lengths, std::vector<double>(100, 0.01)).ok());
  const KeyChooser chooser(mix.keys, 1000);
  EXPECT_TRUE(base::ChiSquare(records, KeyProbabilities(chooser, 1000)).ok());
  EXPECT_FALSE(base::ChiSquare(records, std::vector<double>(1000, 0.001)).ok());
}

TEST(OperationStream, SameSeedSameOperations) {
  const auto draw = [](uint64_t seed, uint32_t thread) {
    RecordSpace space(1000);
    OperationStream stream(Named("ycsb-a", 1000), &space, seed, thread, 2);
    std::vector<uint64_t> drawn;
    Operation operation;
    for (int i = 0; i < 100 && stream.Next(&operation); ++i)
      drawn.push_back(operation.record * 8 + static_cast<uint64_t>(operation.kind));
    return drawn;
  };
  EXPECT_EQ(draw(1, 0), draw(1, 0));
  EXPECT_NE(draw(1, 0), draw(2, 0));
  EXPECT_NE(draw(1, 0), draw(1, 1));
}

// All operations of `threads` streams at once, each carried out at once.
std::vector<Operation> RunThreads(const OperationMix& mix, RecordSpace* space, uint32_t threads,
                                  int operations) {
  base::Mutex mutex;
  std::vector<Operation> all;
  std::vector<std::thread> running;
  for (uint32_t thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      OperationStream stream(mix, space, 1, thread, threads);
      std::vector<Operation> own;
      Operation operation;
      while (own.size() < static_cast<size_t>(operations) && stream.Next(&operation)) {
        own.push_back(operation);
        stream.Settle(operation, OutcomeKind::kDone);
      }
      base::MutexLock lock(&mutex);
      all.insert(all.end(), own.begin(), own.end());
    });
  for (std::thread& thread : running) thread.join();
  return all;
}

TEST(OperationStream, AFillStoresEachRecordOnceAndEnds) {
  for (const uint64_t records : {1, 255, 256, 100'003}) {
    RecordSpace space;
    const auto all = RunThreads(Named("ycsb-load", records), &space, 4, 1'000'000);
    EXPECT_EQ(all.size(), records);
    EXPECT_EQ(space.acknowledged(), records);
    std::set<uint64_t> inserted;
    for (const Operation& operation : all) {
      ASSERT_EQ(operation.kind, OperationKind::kInsert);
      inserted.insert(operation.record);
    }
    EXPECT_EQ(inserted.size(), records);
    EXPECT_EQ(*inserted.rbegin(), records - 1);
  }
}

TEST(OperationStream, EveryWriteHasAVersionOfItsOwn) {
  RecordSpace space(100);
  std::set<std::pair<uint64_t, uint32_t>> written;
  size_t writes = 0;
  for (const Operation& operation : RunThreads(AllKinds(100), &space, 4, 50'000)) {
    if (operation.kind != OperationKind::kUpdate && operation.kind != OperationKind::kInsert &&
        operation.kind != OperationKind::kReadModifyWrite)
      continue;
    ++writes;
    written.emplace(operation.record, operation.version);
  }
  EXPECT_EQ(written.size(), writes);
  EXPECT_GT(writes, 100'000u);
}

TEST(OperationStream, NobodyIsAskedForAnInsertThatIsUnderWay) {
  OperationMix mix = Named("ycsb-d", 100);
  RecordSpace space(100);
  OperationStream stream(mix, &space, 1);
  std::vector<Operation> under_way;
  Operation operation;
  for (int i = 0; i < 10'000 && stream.Next(&operation); ++i) {
    if (operation.kind == OperationKind::kInsert) {
      under_way.push_back(operation);
    } else {
      ASSERT_LT(operation.record, space.acknowledged());
      ASSERT_TRUE(under_way.empty() || operation.record < under_way.front().record);
    }
    if (under_way.size() < 20) continue;
    for (const Operation& insert : under_way) stream.Settle(insert, OutcomeKind::kDone);
    under_way.clear();
  }
  EXPECT_GT(space.acknowledged(), 400u);
}

TEST(OperationStream, WhatWasDeletedOrRefusedIsMissingByRight) {
  OperationMix mix = AllKinds(1000);
  RecordSpace space(1000);
  OperationStream stream(mix, &space, 1);
  std::set<uint64_t> gone;
  Operation operation;
  for (int i = 0; i < 20'000 && stream.Next(&operation); ++i) {
    const bool refused = operation.kind == OperationKind::kInsert && i % 3 == 0;
    if (refused || operation.kind == OperationKind::kDelete) gone.insert(operation.record);
    stream.Settle(operation, refused ? OutcomeKind::kRefused : OutcomeKind::kDone);
    ASSERT_EQ(stream.MissingByRight(operation.record), gone.count(operation.record) == 1);
  }
  EXPECT_GT(gone.size(), 500u);
}

TEST(OperationStream, WhatAFillDoesNotGetToIsSettledAsMissing) {
  RecordSpace space;
  {
    OperationStream stream(Named("ycsb-load", 1000), &space, 1);
    Operation operation;
    ASSERT_TRUE(stream.Next(&operation));
    stream.Settle(operation, OutcomeKind::kDone);
  }
  EXPECT_EQ(space.acknowledged(), 256u);
  EXPECT_FALSE(space.MayBeMissing(0));
  EXPECT_TRUE(space.MayBeMissing(1) && space.MayBeMissing(255));
}

TEST(Operation, KindsHaveNames) {
  std::set<std::string> names;
  for (int i = 0; i < kOperationKinds; ++i) names.insert(NameOf(static_cast<OperationKind>(i)));
  EXPECT_EQ(names, (std::set<std::string>{"read", "update", "insert", "read-modify-write", "scan",
                                          "delete"}));
}

}  // namespace
}  // namespace weft::bench
