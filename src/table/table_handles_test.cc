// Tables whose index, or metaindex, names blocks again and again: they are refused, for reading
// them would cost many times what the file does.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/memory_file_system.h"
#include "table/format.h"
#include "table/internal_key.h"
#include "table/reader_test_kit.h"
#include "table/salvage.h"
#include "table/table.h"
#include "table/table_file.h"

namespace weft::table {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// Entries become a block, with its trailer, behind what the file has.
BlockHandle AddBlock(std::string block, std::string* file) {
  base::PutFixed32(&block, 0);
  base::PutFixed32(&block, 1);
  const BlockHandle handle{file->size(), block.size()};
  block.push_back('\0');
  base::PutFixed32(&block, base::MaskCrc32c(base::Crc32c(block)));
  *file += block;
  return handle;
}

BlockHandle AddPlainBlock(const Entries& entries, std::string* file) {
  std::string block;
  for (const auto& [key, value] : entries) {
    base::PutVarint32(&block, 0);
    base::PutVarint32(&block, static_cast<uint32_t>(key.size()));
    base::PutVarint32(&block, static_cast<uint32_t>(value.size()));
    block += key + value;
  }
  return AddBlock(std::move(block), file);
}

std::string EncodedHandle(const BlockHandle& handle) {
  std::string text;
  handle.AppendTo(&text);
  return text;
}

// Three data blocks, of which the index has those of `index`, and the metaindex those of `meta`.
std::string TableOfHandles(const std::vector<size_t>& index, const std::vector<size_t>& meta) {
  std::string file;
  std::vector<BlockHandle> blocks;
  for (const char* key : {"a", "b", "c"}) {
    blocks.push_back(AddPlainBlock({{key, std::string(100, 'v')}}, &file));
  }
  blocks.push_back({blocks[0].offset + 1, 50});  // within the first
  blocks.push_back({~uint64_t{0} - 3, 2});       // far away
  Entries of_index;
  Entries of_meta;
  for (const size_t i : index) {
    of_index.emplace_back(std::string(1, static_cast<char>('a' + of_index.size())),
                          EncodedHandle(blocks[i]));
  }
  for (const size_t i : meta) {
    of_meta.emplace_back("meta" + std::to_string(of_meta.size()), EncodedHandle(blocks[i]));
  }
  Footer footer;
  footer.metaindex = AddPlainBlock(of_meta, &file);
  footer.index = AddPlainBlock(of_index, &file);
  footer.AppendTo(&file);
  return file;
}

struct HandlesOutcome {
  Status opened, index, metaindex;
};

HandlesOutcome ReadHandlesOf(const std::string& contents) {
  base::MemoryFileSystem files;
  EXPECT_TRUE(files.SetContents("/table", contents).ok());
  HandlesOutcome outcome;
  auto table = Table::Open({}, std::make_unique<MemoryFile>(contents, false), contents.size(), "t");
  if (!table) outcome.opened = table.error();
  auto file = TableFile::Open(&files, "/table");
  EXPECT_TRUE(file.has_value());
  if (!file) return outcome;
  if (auto read = (*file)->ReadHandles((*file)->footer().index); !read) {
    outcome.index = read.error();
  }
  if (auto read = (*file)->ReadHandles((*file)->footer().metaindex); !read) {
    outcome.metaindex = read.error();
  }
  return outcome;
}

TEST(TableHandles, RiseInAnIndex) {
  for (const std::vector<size_t>& whole :
       std::vector<std::vector<size_t>>{{0, 1, 2}, {0, 2}, {1}}) {
    const HandlesOutcome outcome = ReadHandlesOf(TableOfHandles(whole, {}));
    EXPECT_TRUE(outcome.opened.ok()) << outcome.opened.ToString();
    EXPECT_TRUE(outcome.index.ok()) << outcome.index.ToString();
  }
  for (const std::vector<size_t>& bad :
       std::vector<std::vector<size_t>>{{0, 0}, {1, 0}, {0, 3}, {0, 1, 1}, {0, 1, 0}, {4, 4}}) {
    const HandlesOutcome outcome = ReadHandlesOf(TableOfHandles(bad, {}));
    EXPECT_EQ(outcome.opened.code(), Code::kCorruption) << outcome.opened.ToString();
    EXPECT_EQ(outcome.index.code(), Code::kCorruption) << outcome.index.ToString();
  }
}

TEST(TableHandles, DoNotOverlapInAMetaindex) {
  for (const std::vector<size_t>& whole :
       std::vector<std::vector<size_t>>{{}, {0}, {2, 0}, {1, 2, 0}}) {
    const HandlesOutcome outcome = ReadHandlesOf(TableOfHandles({0}, whole));
    EXPECT_TRUE(outcome.metaindex.ok()) << outcome.metaindex.ToString();
  }
  for (const std::vector<size_t>& bad :
       std::vector<std::vector<size_t>>{{0, 0}, {1, 0, 1}, {3, 0}, {4, 4}}) {
    const HandlesOutcome outcome = ReadHandlesOf(TableOfHandles({0}, bad));
    EXPECT_EQ(outcome.metaindex.code(), Code::kCorruption) << outcome.metaindex.ToString();
  }
}

// Keys that share all but their ends with a long one: whole, they are hundreds of times the block.
TEST(TableHandles, KeysOfAnIndexHaveABound) {
  std::string file;
  const InternalComparator order(BytewiseComparator());
  const Entries entries = {{MakeInternalKey("a", 3, ValueType::kValue), "first"},
                           {MakeInternalKey("b", 2, ValueType::kValue), "second"}};
  AddPlainBlock(entries, &file);
  file.append(20'000, '\0');
  std::string block;
  std::string last = "k" + std::string(20'000, 'k');
  for (uint32_t i = 0; i < 2000; i++) {
    const char ascends[] = {static_cast<char>(i >> 8), static_cast<char>(i)};
    const std::string end =
        MakeInternalKey(std::string_view(ascends, sizeof ascends), 1, ValueType::kValue);
    const std::string_view own = i == 0 ? std::string_view(last += end) : std::string_view(end);
    const std::string handle = EncodedHandle({5 * uint64_t{i}, 0});
    base::PutVarint32(&block, static_cast<uint32_t>(last.size() - own.size()));
    base::PutVarint32(&block, static_cast<uint32_t>(own.size()));
    base::PutVarint32(&block, static_cast<uint32_t>(handle.size()));
    block.append(own).append(handle);
  }
  Footer footer;
  footer.index = AddBlock(std::move(block), &file);
  footer.AppendTo(&file);
  EXPECT_EQ(ReadHandlesOf(file).index.code(), Code::kCorruption);

  base::MemoryFileSystem files;
  ASSERT_TRUE(files.SetContents("/table", file).ok());
  Entries kept;
  TableSalvage salvage(KeyOrder(&order), [&](std::string_view key, std::string_view value) {
    kept.emplace_back(key, value);
    return Status();
  });
  ASSERT_TRUE(salvage.Run(&files, "/table").ok());
  EXPECT_FALSE(salvage.by_index());
  EXPECT_EQ(kept, entries);
}

// As with a restart point for so many keys.
TEST(TableHandles, ASearchTakesBlocksOfKeysThatShareMuch) {
  std::string file, block;
  const std::string last(20'000, 'k');  // all keys together: 90 times the block
  Entries entries;
  for (char i = 0; i < 100; i++) {
    const std::string key = MakeInternalKey(last + i, 1, ValueType::kValue);
    const size_t shared = i == 0 ? 0 : last.size();
    base::PutVarint32(&block, static_cast<uint32_t>(shared));
    base::PutVarint32(&block, static_cast<uint32_t>(key.size() - shared));
    base::PutVarint32(&block, 1);
    block.append(key, shared).append("v");
    entries.emplace_back(key, "v");
  }
  AddBlock(std::move(block), &file);
  base::MemoryFileSystem files;
  ASSERT_TRUE(files.SetContents("/table", file).ok());
  const InternalComparator order(BytewiseComparator());
  Entries kept;
  TableSalvage salvage(KeyOrder(&order), [&](std::string_view key, std::string_view value) {
    kept.emplace_back(key, value);
    return Status();
  });
  ASSERT_TRUE(salvage.Run(&files, "/table").ok());
  EXPECT_EQ(kept.size(), entries.size());
  EXPECT_EQ(kept, entries);
}

}  // namespace
}  // namespace weft::table
