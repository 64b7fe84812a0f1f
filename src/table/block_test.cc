#include "table/block.h"

#include <gtest/gtest.h>

#include "table/reader_test_kit.h"

namespace weft::table {
namespace {

struct RawEntry {
  uint32_t shared;
  std::string key_end;
  std::string value;
};

std::string RawBlock(const std::vector<RawEntry>& entries, const std::vector<uint32_t>& restarts) {
  std::string block;
  for (const RawEntry& entry : entries) {
    base::PutVarint32(&block, entry.shared);
    base::PutVarint32(&block, static_cast<uint32_t>(entry.key_end.size()));
    base::PutVarint32(&block, static_cast<uint32_t>(entry.value.size()));
    block += entry.key_end + entry.value;
  }
  for (uint32_t restart : restarts) base::PutFixed32(&block, restart);
  base::PutFixed32(&block, static_cast<uint32_t>(restarts.size()));
  return block;
}

// All that an iterator can be asked of a block that may be damaged: it must end, and soon.
void WalkAll(const std::string& block) {
  // Of its own size, so that the sanitizers see a read past its end.
  const std::vector<char> bytes(block.begin(), block.end());
  BlockIterator it(BytewiseComparator(), {bytes.data(), bytes.size()});
  size_t steps = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next()) ASSERT_LE(++steps, block.size());
  steps = 0;
  for (it.SeekToLast(); it.Valid(); it.Prev()) ASSERT_LE(++steps, block.size());
  for (const char* target : {"", "a", "abc", "k50", "zzz"}) {
    it.Seek(target);
    for (int i = 0; i < 3 && it.Valid(); ++i) it.Next();
    it.Seek(target);
    for (int i = 0; i < 3 && it.Valid(); ++i) it.Prev();
  }
}

TEST(BlockIterator, AnEmptyBlockHasNothingAndNoDamage) {
  const std::string block = RawBlock({}, {0});
  BlockIterator it(BytewiseComparator(), block);
  for (int i = 0; i < 3; ++i) {
    if (i == 0) it.SeekToFirst();
    if (i == 1) it.SeekToLast();
    if (i == 2) it.Seek("a");
    EXPECT_FALSE(it.Valid());
    EXPECT_TRUE(it.status().ok());
  }
}

TEST(BlockIterator, BytesThatAreNoBlockAreDamage) {
  const std::string huge_count("\xff\xff\xff\xff", 4);
  for (const std::string& bytes : {std::string(), std::string("abc"), huge_count,
                                   std::string("entry") + std::string(4, '\0')}) {
    BlockIterator it(BytewiseComparator(), bytes);
    EXPECT_TRUE(it.damaged());
    it.SeekToFirst();
    EXPECT_FALSE(it.Valid());
    EXPECT_EQ(it.status().code(), Code::kCorruption);
  }
}

TEST(BlockIterator, EntriesThatLieAreDamage) {
  const std::vector<std::string> blocks = {
      RawBlock({{1, "a", "v"}}, {0}),                  // shares with no key
      RawBlock({{0, "a", "v"}, {5, "b", "v"}}, {0}),   // shares more than the key before has
      RawBlock({{0, "a", "v"}}, {100}),                // a restart point outside
      RawBlock({{0, "a", "v"}}, {UINT32_MAX}),         //
      RawBlock({{0, "ab", "v"}, {1, "c", "v"}}, {6}),  // the first restart point is not the start
      std::string("\x00\x70\x00", 3) + RawBlock({}, {0}),  // key longer than the block
      std::string("\x00\x00\xff\xff\xff\xff\x0f", 7) + RawBlock({}, {0}),  // value longer
      std::string("\xff\xff\xff\xff\xff\xff", 6) + RawBlock({}, {0}),      // no varint
  };
  for (size_t i = 0; i < blocks.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(WalkAll(blocks[i]));
    BlockIterator it(BytewiseComparator(), blocks[i]);
    bool damage = false;
    for (it.SeekToFirst(); it.Valid(); it.Next()) {
    }
    damage |= it.damaged();
    for (it.SeekToLast(); it.Valid(); it.Prev()) {
    }
    damage |= it.damaged();
    EXPECT_TRUE(damage);
  }
}

TEST(BlockIterator, SurvivesAnyByteChangedOrCutOff) {
  Strings random(TestSeed());
  std::vector<RawEntry> entries;
  for (int i = 10; i < 60; ++i) {
    const std::string key = "k" + std::to_string(i);
    if (i % 4 == 0) {
      entries.push_back({0, key, random.Bytes(random.Below(20))});
    } else {
      entries.push_back({1, key.substr(1), random.Bytes(random.Below(20))});
    }
  }
  const std::string block = RawBlock(entries, {0});
  for (size_t at = 0; at < block.size(); ++at) {
    for (int change : {0x01, 0x80, 0xff}) {
      std::string changed = block;
      changed[at] = static_cast<char>(changed[at] ^ change);
      ASSERT_NO_FATAL_FAILURE(WalkAll(changed));
    }
    ASSERT_NO_FATAL_FAILURE(WalkAll(block.substr(0, at)));
  }
}

TEST(BlockIterator, LongSharedPrefixesTakeNoMemoryBeyondBound) {
  // Keys of a mebibyte and more, each all but its last byte of the one before.
  std::vector<RawEntry> entries = {{0, std::string(1 << 20, 'k'), ""}};
  for (uint32_t i = 0; i < 200; ++i) entries.push_back({(1 << 20) + i, "a", "v"});
  const std::string block = RawBlock(entries, {0});
  BlockIterator it(BytewiseComparator(), block);
  it.SeekToLast();
  for (size_t i = entries.size(); i-- > 190;) {
    ASSERT_TRUE(it.Valid());
    ASSERT_EQ(it.key().size(), (1u << 20) + i);
    it.Prev();
  }
  it.SeekToFirst();
  size_t count = 0;
  for (; it.Valid(); it.Next()) ++count;
  EXPECT_EQ(count, entries.size());
  EXPECT_TRUE(it.status().ok());
}

TEST(BlockIterator, StepsBackAndForthWithinAndAcrossRestartPoints) {
  Strings random(TestSeed());
  for (int interval : {1, 2, 16, 1000}) {
    SCOPED_TRACE(interval);
    Model model(ByComparator{BytewiseComparator()});
    for (int i = 0; i < 300; ++i) model[random.Key()] = random.Bytes(random.Below(300));
    OutputBuffer bytes;
    BlockBuilder builder(interval);
    builder.Begin(&bytes);
    for (const auto& [key, value] : model) builder.Add(key, value);
    BlockIterator it(BytewiseComparator(), builder.Finish());
    ASSERT_NO_FATAL_FAILURE(ExpectForward(model, &it));
    ASSERT_NO_FATAL_FAILURE(ExpectBackward(model, &it));
    ASSERT_NO_FATAL_FAILURE(
        ExpectRandomWalk(model, &it, &random, 3000, [&] { return random.Key(); }));
  }
}

}  // namespace
}  // namespace weft::table
