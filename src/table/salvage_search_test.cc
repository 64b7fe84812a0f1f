// Damaged tables of which a value looks like blocks of a table, or an index.
//
// Threads   one.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/memory_file_system.h"
#include "base/seed_test_kit.h"
#include "table/internal_key.h"
#include "table/salvage.h"
#include "table/table_builder.h"
#include "table/table_file.h"

namespace weft::table {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

constexpr SequenceNumber kNewest = 1000;

class SalvageSearchTest : public testing::TestWithParam<Compression> {
 protected:
  std::string Noise(size_t bytes) {
    std::string noise(bytes, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    return noise;
  }
  static std::pair<std::string, std::string> Entry(const std::string& key, std::string value) {
    return {MakeInternalKey(key, 1 + key.size(), ValueType::kValue), std::move(value)};
  }
  Entries Numbered(const std::string& prefix, int n, size_t value_bytes) {
    Entries made;
    for (int i = 0; i < n; i++) {
      made.push_back(Entry(prefix + std::to_string(1000 + i), Noise(value_bytes)));
    }
    return made;
  }
  // The bytes of a table, which is "/t" then.
  std::string Build(const Entries& of, size_t block_bytes = 4096) {
    TableFormat format;
    format.comparator = &order;
    format.compression = GetParam();
    format.block_size = block_bytes;
    auto file = files.NewWritableFile("/t", FileUse::kTable);
    TableBuilder builder(format, file->get());
    for (const auto& [key, value] : of) builder.Add(key, value);
    EXPECT_TRUE(builder.Finish().ok());
    EXPECT_TRUE((*file)->Close().ok());
    return *files.Contents("/t");
  }
  void SetUp() override { inner = Build(Numbered("zz-inner", 60, 100)); }
  // A table of 200 entries of which number `at` holds `value`.
  void BuildAround(int at, const std::string& value, size_t block_bytes = 4096) {
    entries = Numbered("key", 200, 600);
    entries[static_cast<size_t>(at)].second = value;
    whole = Build(entries, block_bytes);
    auto table = TableFile::Open(&files, "/t");
    footer = (*table)->footer();
    blocks = *(*table)->ReadHandles(footer.index);
  }
  // Damages the block that holds `value`, in what is before it.
  void DamageAround(std::string* damaged, const std::string& value) {
    const size_t at = damaged->find(value);
    ASSERT_NE(at, std::string::npos);
    (*damaged)[at - 10] ^= 1;
  }
  void DamageIndex(std::string* damaged) { (*damaged)[footer.index.offset + 3] ^= 1; }

  Entries Salvage(const std::string& contents) {
    EXPECT_TRUE(files.SetContents("/t", contents).ok());
    Entries kept;
    TableSalvage salvage(&order, [&](std::string_view key, std::string_view value) {
      kept.emplace_back(key, value);
      return Status();
    });
    EXPECT_TRUE(salvage.Run(&files, "/t").ok());
    found_blocks = salvage.blocks();
    skipped_blocks = salvage.skipped_blocks();
    not_looked_at = salvage.not_looked_at();
    work_bytes = salvage.work_bytes();
    return kept;
  }
  // All that stands in blocks which are whole.
  Entries WholeEntries(const std::string& contents) {
    EXPECT_TRUE(files.SetContents("/t", contents).ok());
    auto table = TableFile::Open(&files, "/t");
    Entries left;
    size_t i = 0;
    for (const auto& [separator, handle] : blocks) {
      const bool is_whole = (*table)->Read(handle).has_value();
      for (; i < entries.size() && order.Compare(entries[i].first, separator) <= 0; i++) {
        if (is_whole) left.push_back(entries[i]);
      }
    }
    return left;
  }

  const InternalComparator order{BytewiseComparator()};
  base::MemoryFileSystem files;
  std::mt19937_64 random{base::TestSeed()};
  std::string inner;
  Entries entries;
  std::string whole;
  Footer footer;
  std::vector<std::pair<std::string, BlockHandle>> blocks;
  uint64_t found_blocks = 0;
  uint64_t skipped_blocks = 0;
  uint64_t not_looked_at = 0;
  uint64_t work_bytes = 0;
};

TEST_P(SalvageSearchTest, ATableInAValueIsNoPartOfThisOne) {
  for (const int at : {0, 50, 150, 199}) {
    const std::string value = Noise(50) + inner + Noise(30);
    BuildAround(at, value);
    std::string damaged = whole;
    DamageAround(&damaged, value);
    const Entries left = WholeEntries(damaged);
    ASSERT_LT(left.size(), entries.size());
    ASSERT_GT(left.size(), 180u);
    EXPECT_EQ(Salvage(damaged), left) << at;
    DamageIndex(&damaged);
    EXPECT_EQ(Salvage(damaged), left) << at << ", without an index";
    EXPECT_EQ(found_blocks, blocks.size() - 1);
    std::string cut = damaged.substr(0, footer.index.offset);
    EXPECT_EQ(Salvage(cut), left) << at << ", without an end";
    // With an index that no footer leads to.
    cut = whole.substr(0, whole.size() - 3);
    DamageAround(&cut, value);
    EXPECT_EQ(Salvage(cut), left) << at << ", without a footer";
  }
}

// What no footer tells to be a table is told by what fits.
TEST_P(SalvageSearchTest, BlocksInAValueDoNotHideTheOthers) {
  for (const int at : {5, 50, 150}) {
    const std::string value = Noise(50) + inner.substr(0, inner.size() - kFooterBytes - 20);
    BuildAround(at, value);
    std::string damaged = whole;
    DamageAround(&damaged, value);
    const Entries left = WholeEntries(damaged);
    EXPECT_EQ(Salvage(damaged), left) << at;
    DamageIndex(&damaged);
    EXPECT_EQ(Salvage(damaged), left) << at << ", without an index";
  }
}

TEST_P(SalvageSearchTest, BlocksThatAreNewerThanTheStoreAreNotTaken) {
  Entries later;
  for (int i = 0; i < 60; i++) {
    const std::string key = "key1050-" + std::to_string(100 + i);  // where it would fit
    later.emplace_back(MakeInternalKey(key, kNewest + 1, ValueType::kValue), Noise(100));
  }
  const std::string blocks_of_later = Build(later);
  const std::string value = blocks_of_later.substr(0, blocks_of_later.size() - 100);
  BuildAround(50, value);
  std::string damaged = whole;
  DamageAround(&damaged, value);
  const Entries left = WholeEntries(damaged);
  DamageIndex(&damaged);
  ASSERT_TRUE(files.SetContents("/t", damaged).ok());
  Entries kept;
  TableSalvage salvage(&order, [&](std::string_view key, std::string_view taken) {
    kept.emplace_back(key, taken);
    return Status();
  });
  salvage.SetNewest(kNewest);
  ASSERT_TRUE(salvage.Run(&files, "/t").ok());
  EXPECT_EQ(kept, left);
  EXPECT_GT(salvage.skipped_blocks(), 0u);
  EXPECT_GT(salvage.skipped_entries(), 30u);
}

TEST_P(SalvageSearchTest, AValueThatReadsAsAHandleMakesNoIndex) {
  for (const char* value : {"\x01\x05", "\x80\x01", "x"}) {
    std::string handle(value);
    if (handle == "x") handle.assign("\0\x64", 2);  // the first 100 bytes
    BuildAround(199, handle, 1);                    // each in its own block
    EXPECT_EQ(Salvage(whole), entries);
    std::string damaged = whole;
    DamageIndex(&damaged);
    EXPECT_EQ(Salvage(damaged), entries);
    EXPECT_EQ(found_blocks, entries.size());  // and nothing that is not one
    EXPECT_EQ(Salvage(damaged.substr(0, footer.metaindex.offset)), entries);
  }
}

// With an index, and without: what is looked at grows with the file, not with the damage.
TEST_P(SalvageSearchTest, WorkIsBoundByTheFile) {
  for (const char fill : {'\0', 'x'}) {
    Entries many;
    for (int i = 0; i < 1000; i++) {
      const std::string key = "key" + std::to_string(10'000 + i);
      many.push_back(Entry(key, i % 2 == 0 ? Noise(500) : std::string(1000, fill)));
    }
    whole = Build(many);
    auto table = TableFile::Open(&files, "/t");
    footer = (*table)->footer();
    blocks = *(*table)->ReadHandles(footer.index);
    for (const bool with_index : {true, false}) {
      std::string damaged = whole;
      if (!with_index) DamageIndex(&damaged);
      for (const size_t every : {blocks.size(), size_t{8}, size_t{2}, size_t{1}}) {
        for (size_t i = 0; i < blocks.size(); i += every) {
          damaged[blocks[i].second.offset + blocks[i].second.bytes / 2] ^= 0x11;
        }
        ASSERT_TRUE(files.SetContents("/t", damaged).ok());
        TableSalvage salvage(&order, [](std::string_view, std::string_view) { return Status(); });
        ASSERT_TRUE(salvage.Run(&files, "/t").ok());
        EXPECT_EQ(salvage.by_index(), with_index);
        EXPECT_LE(salvage.work_bytes(), 4 * 1'600'000u);
      }
    }
  }
}

// Well compressed blocks unpack to far more than the file: they are none of what is bound.
TEST_P(SalvageSearchTest, BlocksThatCompressWellAreAllFound) {
  entries.clear();
  for (int i = 0; i < 1500; i++) {
    entries.push_back(Entry("key" + std::to_string(10'000 + i), std::string(8000, 'x')));
  }
  whole = Build(entries);
  auto table = TableFile::Open(&files, "/t");
  footer = (*table)->footer();
  std::string damaged = whole;
  damaged[damaged.size() - 3] ^= 1;
  EXPECT_EQ(Salvage(damaged), entries) << "without a footer";
  damaged = whole;
  DamageIndex(&damaged);
  EXPECT_EQ(Salvage(damaged), entries) << "without an index";
  EXPECT_EQ(not_looked_at, 0u);
}

// Footers cost nothing that name no block.
TEST_P(SalvageSearchTest, FootersThatNameAnythingAreNotFollowed) {
  std::string value;
  for (uint64_t i = 1; i < 10'000; i++) {
    Footer false_one;
    false_one.metaindex = {0, 8};
    false_one.index = {0, kFooterBytes * i - kBlockTrailerBytes};
    if (i > 1) false_one.AppendTo(&value);
    if (i == 1) value.append(kFooterBytes, 'x');
  }
  BuildAround(50, value);
  std::string damaged = whole;
  DamageIndex(&damaged);
  EXPECT_EQ(Salvage(damaged), entries);
  EXPECT_LE(work_bytes, 8 * (whole.size() + 1'000'000));
}

// Many stretches with one beginning, each with its checksum, and a footer that names it.
TEST_P(SalvageSearchTest, StretchesThatLieOverOneAnotherAreBound) {
  std::string value("\0\x20\0", 3);
  value.append(32, 'k');
  while (value.size() < 300'000) {
    base::PutFixed32(&value, 1);  // a restart point
    const uint64_t bytes = value.size();
    value.push_back(static_cast<char>(Compression::kNone));
    base::PutFixed32(&value, base::MaskCrc32c(base::Crc32c(value.data(), value.size())));
    Footer named;
    named.metaindex = {0, 8};
    named.index = {1, bytes};  // of a table that begins a byte before
    named.AppendTo(&value);
  }
  value = Noise(10) + value;  // and does not compress
  BuildAround(50, value);
  std::string damaged = whole;
  DamageIndex(&damaged);
  EXPECT_EQ(Salvage(damaged), entries);
  EXPECT_LE(work_bytes, 4 * TableSalvage::kSearchWork * (whole.size() + 1'000'000));
  if (GetParam() != Compression::kNone) return;  // where the file has the stretches as they are
  EXPECT_GT(not_looked_at, 100u);
  EXPECT_GE(skipped_blocks, 100u);
}

INSTANTIATE_TEST_SUITE_P(All, SalvageSearchTest,
                         testing::Values(Compression::kNone, Compression::kSnappy,
                                         Compression::kZstd));

}  // namespace
}  // namespace weft::table
