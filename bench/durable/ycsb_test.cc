#include "bench/durable/ycsb.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "base/mutex.h"

namespace weft::bench {
namespace {

// Keeps what it is given, and does what the test wants of it.
class MapStore final : public Store {
 public:
  class MapReader final : public Reader {
   public:
    explicit MapReader(MapStore* store) : store_(*store) {}
    Answer Get(std::string_view key) override {
      base::MutexLock lock(&store_.mutex_);
      const auto found = store_.all_.find(std::string(key));
      if (found == store_.all_.end()) return {};
      value_ = found->second;
      return {true, value_};
    }
    void MultiGet(std::span<const std::string_view>, std::span<Answer>) override {}

   private:
    MapStore& store_;
    std::string value_;
  };
  class MapCursor final : public Cursor {
   public:
    explicit MapCursor(const std::map<std::string, std::string>& all) : all_(all) {}
    void SeekToFirst() override { at_ = all_.begin(); }
    void SeekToLast() override {}
    void Seek(std::string_view) override {}
    bool Valid() const override { return at_ != all_.end(); }
    void Next() override { ++at_; }
    void Prev() override {}
    std::string_view Key() const override { return at_->first; }
    std::string_view Value() const override { return at_->second; }
    Status status() const override { return Status::Ok(); }

   private:
    const std::map<std::string, std::string>& all_;
    std::map<std::string, std::string>::const_iterator at_;
  };

  Status Put(std::string_view key, std::string_view value, bool) override {
    base::MutexLock lock(&mutex_);
    if (++puts_ == fails_at) return {Code::kIoError, "as the test wants it"};
    if (puts_ != forgets) all_[std::string(key)] = value;
    return Status::Ok();
  }
  Status Delete(std::string_view key, bool) override {
    base::MutexLock lock(&mutex_);
    all_.erase(std::string(key));
    return Status::Ok();
  }
  std::unique_ptr<Reader> NewReader() override { return std::make_unique<MapReader>(this); }
  std::unique_ptr<Cursor> NewCursor() override { return std::make_unique<MapCursor>(all_); }
  Status CompactAll() override { return Status::Ok(); }
  StoreFigures Figures() override { return {}; }

  std::map<std::string, std::string>& all() { return all_; }
  uint64_t puts() const { return puts_; }

  uint64_t fails_at = 0;  // number of a Put, from 1 on
  uint64_t forgets = 0;   // likewise

 private:
  base::Mutex mutex_;
  std::map<std::string, std::string> all_;
  uint64_t puts_ = 0;
};

class YcsbTest : public testing::Test {
 protected:
  void Make(int threads) {
    options_.mix = YcsbA(1000, 100);
    options_.operations = 200000;
    options_.threads = threads;
    options_.slice_s = 0.05;
    ycsb_.emplace(options_, &store_);
  }

  std::string Key(uint64_t record) const { return std::string(RecordKey(ycsb_->format(), record)); }

  MapStore store_;
  YcsbOptions options_;
  std::optional<Ycsb> ycsb_;
};

TEST_F(YcsbTest, FillsEveryKeyOnce) {
  for (const int threads : {1, 3}) {
    store_.all().clear();
    const uint64_t before = store_.puts();
    Make(threads);
    auto filled = ycsb_->Fill();
    ASSERT_TRUE(filled.has_value());
    EXPECT_EQ(1000u, store_.all().size());
    EXPECT_EQ(before + 1000, store_.puts());
    EXPECT_EQ(1000u, filled->writes.count());
    EXPECT_EQ(0u, filled->reads.count());
    EXPECT_TRUE(ycsb_->CheckAll(&store_).ok());
  }
}

TEST_F(YcsbTest, AReadsAndUpdatesHalfAndHalf) {
  Make(4);
  ASSERT_TRUE(ycsb_->Fill().has_value());
  size_t slices = 0;
  options_.each_slice = [&](size_t slice) { EXPECT_EQ(slices++, slice); };
  auto a = ycsb_->RunA();
  ASSERT_TRUE(a.has_value()) << a.error().ToString();
  EXPECT_EQ(200000u, a->reads.count() + a->writes.count());
  EXPECT_NEAR(100000, static_cast<double>(a->reads.count()), 1000);
  EXPECT_GT(a->seconds, 0.05 * static_cast<double>(a->slices.size() - 1));
  uint64_t reads = 0, writes = 0;
  for (const YcsbSlice& slice : a->slices) {
    reads += slice.reads;
    writes += slice.writes;
  }
  EXPECT_EQ(a->reads.count(), reads);
  EXPECT_EQ(a->writes.count(), writes);
  EXPECT_TRUE(ycsb_->CheckAll(&store_).ok()) << ycsb_->CheckAll(&store_).ToString();
}

TEST_F(YcsbTest, AWrongValueEndsIt) {
  Make(2);
  ASSERT_TRUE(ycsb_->Fill().has_value());
  for (auto& [key, value] : store_.all()) value[0] ^= 1;
  EXPECT_EQ(Code::kCorruption, ycsb_->RunA().error().code());
}

TEST_F(YcsbTest, WhatIsLostIsFound) {
  Make(1);
  ASSERT_TRUE(ycsb_->Fill().has_value());
  std::map<std::string, std::string> sound = store_.all();
  store_.all().erase(Key(500));
  EXPECT_EQ(Code::kCorruption, ycsb_->CheckAll(&store_).code());
  store_.all() = sound;
  store_.all().erase(Key(999));
  EXPECT_EQ(Code::kCorruption, ycsb_->CheckAll(&store_).code());
  store_.all() = sound;
  store_.all()[Key(500)].back() ^= 1;
  EXPECT_EQ(Code::kCorruption, ycsb_->CheckAll(&store_).code());
  store_.all() = sound;
  store_.all()[Key(1000)] = "one too many";
  EXPECT_EQ(Code::kCorruption, ycsb_->CheckAll(&store_).code());
}

// The last update of all is one that nothing has written over.
TEST_F(YcsbTest, AnUpdateThatIsForgottenIsFound) {
  Make(1);
  ASSERT_TRUE(ycsb_->Fill().has_value());
  ASSERT_TRUE(ycsb_->RunA().has_value());
  const uint64_t puts = store_.puts();
  Make(1);
  store_.forgets = puts + puts;
  ASSERT_TRUE(ycsb_->Fill().has_value());
  ASSERT_TRUE(ycsb_->RunA().has_value());
  ASSERT_EQ(puts + puts, store_.puts()) << "the same seed, the same updates";
  EXPECT_EQ(Code::kCorruption, ycsb_->CheckAll(&store_).code());
}

TEST_F(YcsbTest, AStoresErrorIsTold) {
  Make(3);
  store_.fails_at = 500;
  EXPECT_EQ(Code::kIoError, ycsb_->Fill().error().code());
}

}  // namespace
}  // namespace weft::bench
