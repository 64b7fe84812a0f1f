// Threads   one.
#include "table/salvage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <string>
#include <utility>
#include <vector>

#include "base/memory_file_system.h"
#include "table/internal_key.h"
#include "table/table.h"
#include "table/table_builder.h"

namespace weft::table {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

class SalvageTest : public testing::TestWithParam<Compression> {
 protected:
  void SetUp() override {
    TableFormat format;
    format.comparator = &order;
    format.compression = GetParam();
    const InternalFilterPolicy filter(NewBloomFilterPolicy(10));
    format.filter = &filter;
    auto file = files.NewWritableFile("/t", FileUse::kTable);
    TableBuilder builder(format, file->get());
    for (int i = 0; i < 2000; i++) {
      const std::string text = std::to_string(10'000 + i);
      entries.emplace_back(
          MakeInternalKey("key" + text, static_cast<SequenceNumber>(i) + 1, ValueType::kValue),
          "value of " + text + std::string(40, 'x'));
      builder.Add(entries.back().first, entries.back().second);
    }
    ASSERT_TRUE(builder.Finish().ok());
    ASSERT_TRUE((*file)->Close().ok());
    whole = *files.Contents("/t");
    TableReadOptions read;
    read.order = &order;
    auto table = Table::Open(read, std::move(*files.NewRandomAccessFile("/t")), whole.size(), "/t");
    (*table)->ForEachDataBlock([this](const Table::DataBlock& block) {
      blocks.push_back(block.handle);
      return true;
    });
    ASSERT_GT(blocks.size(), 10u);
  }
  Entries Salvage() {
    Entries kept;
    TableSalvage salvage(&order, [&](std::string_view key, std::string_view value) {
      kept.emplace_back(key, value);
      return Status();
    });
    const Status status = salvage.Run(&files, "/t");
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(salvage.entries(), kept.size());
    found_blocks = salvage.blocks();
    return kept;
  }
  // Each is one that was put in.
  void ExpectPart(const Entries& kept, size_t at_least) {
    EXPECT_GE(kept.size(), at_least);
    auto next = entries.begin();
    for (const auto& entry : kept) {
      next = std::find(next, entries.end(), entry);
      ASSERT_NE(next, entries.end()) << entry.first;
    }
  }

  const InternalComparator order{BytewiseComparator()};
  base::MemoryFileSystem files;
  Entries entries;
  std::string whole;
  std::vector<BlockHandle> blocks;
  uint64_t found_blocks = 0;
};

TEST_P(SalvageTest, OfAWholeTableAllIsKept) {
  EXPECT_EQ(Salvage(), entries);
  EXPECT_EQ(found_blocks, blocks.size());
}

TEST_P(SalvageTest, DamageInABlockCostsThatBlock) {
  for (const size_t i : {size_t{0}, blocks.size() / 2, blocks.size() - 1}) {
    ASSERT_TRUE(files.SetContents("/t", whole).ok());
    ASSERT_TRUE(files.FlipBits("/t", blocks[i].offset + blocks[i].bytes / 2, 0x10).ok());
    const Entries kept = Salvage();
    EXPECT_EQ(found_blocks, blocks.size() - 1);
    ExpectPart(kept, entries.size() - 2 * entries.size() / blocks.size());
  }
}

TEST_P(SalvageTest, NeitherFooterNorIndexIsNeeded) {
  const uint64_t end = blocks.back().offset + blocks.back().bytes + kBlockTrailerBytes;
  ASSERT_TRUE(files.SetContents("/t", whole.substr(0, end)).ok());
  EXPECT_EQ(Salvage(), entries);
  ASSERT_TRUE(files.SetContents("/t", whole.substr(0, end - 1)).ok());
  ExpectPart(Salvage(), entries.size() - 2 * entries.size() / blocks.size());
}

TEST_P(SalvageTest, BehindALongStretchOfDamageTheRestIsFound) {
  std::string damaged = whole;
  const uint64_t from = blocks[3].offset - 10;  // into the end of the block before
  const uint64_t to = blocks[blocks.size() - 3].offset + 2;
  for (uint64_t i = from; i < to; i++) damaged[i] = 0;
  ASSERT_TRUE(files.SetContents("/t", damaged).ok());
  ExpectPart(Salvage(), 1);
  EXPECT_EQ(found_blocks, 4u);
  // Bytes before that shift everything, more of them than are searched at once.
  const std::string noise(200'017, '\x02');
  ASSERT_TRUE(files.SetContents("/t", noise + whole).ok());
  EXPECT_EQ(Salvage(), entries);
}

TEST_P(SalvageTest, AFileThatIsNoTableGivesNothing) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{5}, size_t{48}, size_t{3000}}) {
    ASSERT_TRUE(files.SetContents("/t", std::string(bytes, '\x01')).ok());
    EXPECT_TRUE(Salvage().empty());
  }
}

TEST_P(SalvageTest, AnErrorOfTheTakerEndsIt) {
  TableSalvage salvage(
      &order, [](std::string_view, std::string_view) { return Status(Code::kIoError, "full"); });
  EXPECT_EQ(salvage.Run(&files, "/t").code(), Code::kIoError);
  EXPECT_EQ(salvage.entries(), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, SalvageTest,
                         testing::Values(Compression::kNone, Compression::kSnappy,
                                         Compression::kZstd));

}  // namespace
}  // namespace weft::table
