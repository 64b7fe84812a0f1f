#include "compaction/device/kernel/block_cut.h"

#include <gtest/gtest.h>

#include <set>

#include "compaction/device/piece/block_chain.h"
#include "compaction/device/plain_device.h"
#include "table/block_builder.h"
#include "table/file_test_kit.h"

namespace weft::compaction::device {
namespace {

// Columns of entries on the host.
class TestColumns {
 public:
  explicit TestColumns(const std::vector<std::pair<std::string, std::string>>& pairs) {
    for (const auto& [key, value] : pairs) {
      keys_.push_back(key);
      values_.push_back(value);
    }
    for (size_t i = 0; i < keys_.size(); i++) {
      key_at_.push_back(reinterpret_cast<uint8_t*>(keys_[i].data()));
      key_bytes_.push_back(static_cast<uint32_t>(keys_[i].size()));
      value_at_.push_back(reinterpret_cast<const uint8_t*>(values_[i].data()));
      value_bytes_.push_back(static_cast<uint32_t>(values_[i].size()));
      live_.push_back(static_cast<uint32_t>(i));
    }
  }
  Entries entries() {
    return {key_at_.data(),      key_bytes_.data(), value_at_.data(),
            value_bytes_.data(), nullptr,           1u << 20};
  }
  const uint32_t* live() const { return live_.data(); }
  uint32_t count() const { return static_cast<uint32_t>(live_.size()); }

 private:
  std::vector<std::string> keys_;
  std::vector<std::string> values_;
  std::vector<uint8_t*> key_at_;
  std::vector<uint32_t> key_bytes_;
  std::vector<const uint8_t*> value_at_;
  std::vector<uint32_t> value_bytes_;
  std::vector<uint32_t> live_;
};

// Where blocks begin, and their bytes, entry by entry; one more beginning at the end.
void FollowPlainly(const std::vector<std::pair<std::string, std::string>>& pairs,
                   const table::TableFormat& format, const std::set<uint32_t>& cuts,
                   std::vector<uint32_t>* begins, std::vector<uint32_t>* bytes) {
  table::OutputBuffer out;
  table::BlockBuilder block(format.block_restart_interval);
  block.Begin(&out);
  const auto end_block = [&](uint32_t next) {
    if (block.empty()) return;
    bytes->push_back(static_cast<uint32_t>(block.Finish().size()));
    begins->push_back(next);
    block.Begin(&out);
  };
  begins->push_back(0);
  for (uint32_t i = 0; i < pairs.size(); i++) {
    if (cuts.contains(i)) end_block(i);
    block.Add(pairs[i].first, pairs[i].second);
    if (block.Bytes() >= format.block_size) end_block(i + 1);
  }
  end_block(static_cast<uint32_t>(pairs.size()));
}

TEST(BlockCut, TheChainIsThatOfABuilder) {
  for (uint64_t seed = table::TestSeed() * 1000; seed < table::TestSeed() * 1000 + 300; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    table::Strings strings(seed);
    std::set<std::string> keys;
    const bool are_many = strings.Below(20) == 0;  // several chunks
    const uint64_t count = 1 + strings.Below(are_many ? 9000 : 300);
    while (keys.size() < count) keys.insert(are_many ? strings.Bytes(8) : strings.Key());
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& key : keys) pairs.emplace_back(key, strings.Bytes(strings.Below(40)));
    table::TableFormat format;
    format.block_size = strings.Below(3) == 0 ? 1 + strings.Below(30) : 1 + strings.Below(3000);
    format.block_restart_interval = static_cast<int>(1 + strings.Below(20));
    std::set<uint32_t> cuts;
    for (uint64_t i = strings.Below(4); i != 0; i--) {
      cuts.insert(static_cast<uint32_t>(1 + strings.Below(count)));
    }
    std::vector<uint32_t> begins;
    std::vector<uint32_t> bytes;
    FollowPlainly(pairs, format, cuts, &begins, &bytes);

    TestColumns columns(pairs);
    PlainDevice device;
    PlainDevice::Memory memory(&device);
    BlockChain<PlainDevice> chain(&device, &memory);
    ASSERT_TRUE(chain
                    .Follow(format, columns.entries(), columns.live(), columns.count(),
                            {cuts.begin(), cuts.end()})
                    .ok());
    ASSERT_EQ(begins, chain.host_first);
    ASSERT_EQ(bytes, chain.host_bytes);
  }
}

TEST(BlockCut, PlacesAreAPermutation) {
  for (uint32_t count = 1; count < 40; count++) {
    for (uint32_t interval = 1; interval < 45; interval++) {
      const Stride stride{count, interval};
      std::set<uint64_t> places;
      for (uint32_t i = 0; i < count; i++) {
        places.insert(stride.Place(i));
        if (i + interval < count) {
          ASSERT_EQ(stride.Place(i) + 1, stride.Place(i + interval));
        }
      }
      ASSERT_EQ(count, places.size());
      ASSERT_EQ(count - 1, *places.rbegin());
    }
  }
}

// Whatever a bit that flips makes of how many restart points a block has.
TEST(BlockCut, WritesNoRestartPointsBeforeTheBlock) {
  std::vector<uint8_t> room(64, 0xee);
  uint8_t* const out = room.data() + 32;
  const std::vector<uint64_t> zeros(100, 0);
  const uint64_t block_at = 0;
  const uint32_t bytes = 11;  // restart points and their number: 4 * (entries + 1)
  for (uint32_t entries = 0; entries < 8; entries++) {
    const uint32_t first[] = {0, entries};
    const BlockSizes sizes = {zeros.data(), zeros.data(), {100, 1}};
    const WriteRestarts kernel = {first, &bytes, sizes, &block_at, out, 16};
    for (uint32_t lane = 0; lane < kLanes; lane++) kernel.Lane(0, lane);
    for (size_t i = 0; i < 32; i++) ASSERT_EQ(0xee, room[i]) << entries << ", " << i;
  }
}

// The worked example of docs/design/0018-where-blocks-end.md.
TEST(BlockCut, WorkedExample) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"ka", "1"}, {"kab", "22"}, {"kac", "3"}, {"kb", "4444"}, {"kba", "5"}, {"l", "6"}};
  table::TableFormat format;
  format.block_size = 30;
  format.block_restart_interval = 2;
  TestColumns columns(pairs);
  PlainDevice device;
  PlainDevice::Memory memory(&device);
  BlockChain<PlainDevice> chain(&device, &memory);
  ASSERT_TRUE(chain.Follow(format, columns.entries(), columns.live(), columns.count(), {}).ok());
  EXPECT_EQ((std::vector<uint64_t>{0, 6, 12, 17, 25, 30, 35}),
            std::vector<uint64_t>(chain.sizes.plain_before, chain.sizes.plain_before + 7));
  // In the order 0, 2, 4, 1, 3, 5.
  EXPECT_EQ((std::vector<uint64_t>{0, 0, 2, 4, 6, 7, 7}),
            std::vector<uint64_t>(chain.sizes.extra_before, chain.sizes.extra_before + 7));
  EXPECT_EQ(31u, chain.sizes.BlockBytes(0, 2));
  EXPECT_EQ(2u, chain.sizes.LastOfBlock(0, 30));
  EXPECT_EQ((std::vector<uint32_t>{0, 3, 6}), chain.host_first);
  EXPECT_EQ((std::vector<uint32_t>{31, 31}), chain.host_bytes);
}

}  // namespace
}  // namespace weft::compaction::device
