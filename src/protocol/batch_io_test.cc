// Bytes to queries of a batch: what lasts, and where a connection goes on.
#include "protocol/batch_io.h"

#include <gtest/gtest.h>

#include <string>

#include "cache/test_kit.h"

namespace weft::protocol {
namespace {

class BatchIoTest : public ::testing::Test {
 protected:
  // Enters `input` into an empty batch.
  Entering EnterInto(std::string_view input, KeptBytes* kept = nullptr) {
    batch_.Clear();
    entered_.clear();
    ParseContext context;
    context.item_bytes_max = 4096;
    context.scratch = scratch_;
    return Enter(input, context, *store_, batch_.AddSource(1 << 20), &conversation_, &batch_,
                 &entered_, kept);
  }

  std::unique_ptr<cache::Store> store_ = cache::OpenStore();
  pipeline::Batch batch_{pipeline::Plan::OneStageCpu()};
  std::vector<Entered> entered_;
  Conversation conversation_;
  char scratch_[kScratchBytes];
};

std::string RefusedStore(std::string_view line) {
  return std::string(line) + std::string(5000, 'z') + "\r\n";
}

TEST_F(BatchIoTest, RefusedStoreKeepsItsKeyWhateverIsDecodedBehindIt) {
  EnterInto(RefusedStore("ms QUFBQQ== 5000 b\r\n") + RefusedStore("ms Q0ND 5000 b\r\n") +
            "mg QkJCQg== b v\r\n");
  ASSERT_EQ(batch_.size(), 3u);
  EXPECT_TRUE(entered_[0].request.drop_key);
  EXPECT_EQ(batch_.key(0), "AAAA");
  EXPECT_EQ(batch_.hash(0), store_->HashOf("AAAA"));
  EXPECT_EQ(batch_.key(1), "CCC");
  EXPECT_EQ(batch_.key(2), "BBBB");
}

TEST_F(BatchIoTest, RefusedStoreIsABarrier) {
  EnterInto("get key\r\n" + RefusedStore("set key 0 0 5000\r\n") + "get key\r\n");
  EXPECT_TRUE(batch_.has_barrier());
  EnterInto("get key\r\nbogus\r\nget key\r\n");
  EXPECT_FALSE(batch_.has_barrier());
}

TEST_F(BatchIoTest, RecordsHoldNoKey) {
  EnterInto("get a b c\r\nmg QkJCQg== b v\r\nset k 0 0 1\r\nx\r\ndelete k\r\n" +
            RefusedStore("ms QUFBQQ== 5000 b\r\n"));
  ASSERT_EQ(entered_.size(), 5u);
  for (const Entered& record : entered_) {
    EXPECT_EQ(record.request.command.key.data(), nullptr);
    EXPECT_EQ(record.request.keys.data(), nullptr);
  }
  for (const cache::Command& command : batch_.commands()) {
    EXPECT_NE(command.key.data(), scratch_);
    EXPECT_FALSE(command.key.empty());
  }
}

TEST_F(BatchIoTest, WhatIsKeptOutlivesTheInput) {
  KeptBytes kept;
  std::string input = "ms k 1 O7 c\r\nx\r\nstats some words\r\nset k 0 0 3\r\nabc\r\nget k\r\n";
  EnterInto(input, &kept);
  std::fill(input.begin(), input.end(), '!');
  EXPECT_EQ(entered_[0].request.meta_tokens, "O7 c");
  EXPECT_EQ(batch_.command(0).value, "x");
  EXPECT_EQ(entered_[0].request.command.value, "x");
  EXPECT_EQ(entered_[1].request.arguments, "some words");
  EXPECT_EQ(batch_.command(2).value, "abc");
  EXPECT_EQ(batch_.key(3), "k");
}

TEST(KeptBytes, StayWhateverIsKeptBehindThem) {
  KeptBytes kept;
  for (int round = 0; round < 3; round++) {
    std::vector<std::pair<std::string, std::string_view>> all;
    for (size_t i = 0; i < 500; i++) {
      const size_t bytes = i % 50 == 0 ? 100'000 + i : i;
      all.emplace_back(std::string(bytes, static_cast<char>('a' + i % 26)), std::string_view());
      all.back().second = kept.Keep(all.back().first);
    }
    for (const auto& [bytes, copy] : all) EXPECT_EQ(bytes, copy);
    kept.Clear();
  }
}

}  // namespace
}  // namespace weft::protocol
