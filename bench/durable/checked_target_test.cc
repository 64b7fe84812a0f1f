#include "bench/durable/checked_target.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "bench/drive/load.h"
#include "bench/store/place.h"
#include "bench/workload/builtin_mixes.h"

namespace weft::bench {
namespace {

constexpr uint64_t kRecords = 1000;
constexpr uint64_t kOperations = 100'000;

OperationMix SmallA() {
  OperationMix mix = *BuiltinMix("ycsb-a");
  mix.record.value_bytes = SizeDistribution::Fixed(100);
  mix.records = mix.keys.ranks = kRecords;
  return mix;
}

// Weft's, but for one Put.
class FaultyStore final : public Store {
 public:
  FaultyStore() : store_(std::move(OpenStore("weft", {}, place_.Fresh("weft")).value())) {}

  Status Put(std::string_view key, std::string_view value, bool sync) override {
    const uint64_t put = ++puts;
    if (put == fails_at) return {Code::kIoError, "as the test wants it"};
    return put == forgets ? Status::Ok() : store_->Put(key, value, sync);
  }
  Status Delete(std::string_view key, bool sync) override { return store_->Delete(key, sync); }
  std::unique_ptr<Reader> NewReader() override { return store_->NewReader(); }
  std::unique_ptr<Cursor> NewCursor() override { return store_->NewCursor(); }
  Status CompactAll() override { return store_->CompactAll(); }
  StoreFigures Figures() override { return store_->Figures(); }

  std::atomic<uint64_t> puts = 0;
  uint64_t fails_at = 0;  // number of a Put, from 1 on
  uint64_t forgets = 0;   // likewise

 private:
  const Place place_ = std::move(Place::Make("memory").value());
  const std::unique_ptr<Store> store_;
};

class CheckedTargetTest : public testing::Test {
 protected:
  // An empty store, for so many threads.
  void Make(int threads) {
    store_.emplace();
    space_.emplace();
    options_.threads = threads;
    target_.emplace(&*store_, format_, kRecords, threads);
  }
  Result<LoadFigures> Fill() { return RunLoad(&*target_, FillOf(mix_), &*space_, options_); }
  Result<LoadFigures> RunA() {
    LoadOptions options = options_;
    options.operations = kOperations;
    return RunLoad(&*target_, mix_, &*space_, options);
  }
  Status CheckAll() { return target_->CheckAll(&*store_); }
  std::string Key(uint64_t record) const { return std::string(RecordKey(format_, record)); }
  std::string ValueOf(const std::string& key) {
    const auto reader = store_->NewReader();
    const Answer answer = reader->Get(key);
    return answer.found ? std::string(answer.value) : "";
  }

  const OperationMix mix_ = SmallA();
  const RecordFormat format_ = RecordFormat::Make(mix_.record).value();
  LoadOptions options_{.slice_s = 0.05, .missing_is_wrong = true};
  std::optional<FaultyStore> store_;
  std::optional<RecordSpace> space_;
  std::optional<CheckedTarget> target_;
};

TEST_F(CheckedTargetTest, TheLastVersionsAreKnownWhicheverThreadWroteThem) {
  for (const int threads : {1, 3}) {
    Make(threads);
    auto filled = Fill();
    ASSERT_TRUE(filled.has_value()) << filled.error().ToString();
    EXPECT_EQ(kRecords, filled->operations);
    EXPECT_EQ(kRecords, store_->puts) << "every key once";
    EXPECT_EQ("ok", CheckAll().ToString());
    auto a = RunA();
    ASSERT_TRUE(a.has_value()) << a.error().ToString();
    EXPECT_EQ(kOperations, a->operations);
    const uint64_t updates = store_->puts - kRecords;
    EXPECT_NEAR(static_cast<double>(updates), kOperations / 2, kOperations / 100);
    EXPECT_EQ("ok", CheckAll().ToString());
  }
}

TEST_F(CheckedTargetTest, ASessionUpdatesItsOwnRecordsAlone) {
  Make(3);
  for (const uint64_t number : {0, 1, 2}) {
    auto session = target_->NewSession();
    ASSERT_TRUE(session.has_value());
    for (const uint64_t told : {9, 10, 11}) {
      const Operation update{OperationKind::kUpdate, 0, 7, told, 0};
      ASSERT_TRUE((*session)->Submit({&update, 1}).ok());
    }
    for (const uint64_t record : {9, 10, 11})
      EXPECT_EQ(ValueOf(Key(record)).empty(), record > 9 + number) << "of session " << number;
    // The last record of all is the first session's; there is none beside it.
    const Operation update{OperationKind::kUpdate, 0, 7, kRecords - 1, 0};
    ASSERT_TRUE((*session)->Submit({&update, 1}).ok());
    EXPECT_NE(ValueOf(Key(number == 0 ? kRecords - 1 : number)), "");
  }
  EXPECT_EQ(CheckAll().ToString(), "ok");
}

TEST_F(CheckedTargetTest, AWrongValueEndsTheRun) {
  Make(2);
  ASSERT_TRUE(Fill().has_value());
  for (uint64_t record = 0; record < kRecords; record++)
    ASSERT_TRUE(store_->Put(Key(record), ValueOf(Key(record ^ 1)), false).ok());
  EXPECT_EQ(Code::kCorruption, RunA().error().code());
}

TEST_F(CheckedTargetTest, WhatIsLostIsFound) {
  Make(1);
  ASSERT_TRUE(Fill().has_value());
  const auto expect_found = [&](const std::string& key, const std::string& value) {
    const std::string sound = ValueOf(key);
    ASSERT_TRUE((value.empty() ? store_->Delete(key, false) : store_->Put(key, value, false)).ok());
    EXPECT_EQ(Code::kCorruption, CheckAll().code()) << key;
    ASSERT_TRUE((sound.empty() ? store_->Delete(key, false) : store_->Put(key, sound, false)).ok());
    EXPECT_EQ("ok", CheckAll().ToString());
  };
  for (const uint64_t record : {uint64_t{0}, uint64_t{500}, kRecords - 1}) {
    std::string spoiled = ValueOf(Key(record));
    spoiled.back() ^= 1;
    expect_found(Key(record), spoiled);
    expect_found(Key(record), "");
  }
  expect_found(Key(kRecords), "one too many");
  expect_found("no record's key", "one too many");
}

// The last update of all is one that nothing has written over.
TEST_F(CheckedTargetTest, AnUpdateThatIsForgottenIsFound) {
  uint64_t puts = 0;
  for (const bool forgets : {false, true}) {
    Make(1);
    store_->forgets = puts;
    ASSERT_TRUE(Fill().has_value());
    ASSERT_TRUE(RunA().has_value());
    ASSERT_EQ(store_->puts, forgets ? puts : store_->puts.load()) << "the same seed";
    puts = store_->puts;
    EXPECT_EQ(CheckAll().code(), forgets ? Code::kCorruption : Code::kOk);
  }
}

TEST_F(CheckedTargetTest, AStoresErrorIsTold) {
  Make(3);
  store_->fails_at = 500;
  EXPECT_EQ(Code::kIoError, Fill().error().code());
}

}  // namespace
}  // namespace weft::bench
