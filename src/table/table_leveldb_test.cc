// Tables go both ways between LevelDB's own library and ours. Empty where that is not installed.
//
// Threads   one.
#ifdef WEFT_TEST_LEVELDB

#include <gtest/gtest.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>

#include "table/reader_test_kit.h"

namespace weft::table {
namespace {

class LevelDbWrittenFile final : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice& data) override {
    contents.append(data.data(), data.size());
    return {};
  }
  leveldb::Status Close() override { return {}; }
  leveldb::Status Flush() override { return {}; }
  leveldb::Status Sync() override { return {}; }
  std::string contents;
};

class LevelDbReadFile final : public leveldb::RandomAccessFile {
 public:
  explicit LevelDbReadFile(std::string contents) : contents_(std::move(contents)) {}
  leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result, char*) const override {
    *result = leveldb::Slice(contents_.data() + offset, std::min(n, contents_.size() - offset));
    return {};
  }

 private:
  const std::string contents_;
};

Model MakeModel(Strings* random) {
  Model model(ByComparator{BytewiseComparator()});
  for (uint64_t i = random->Below(800); i > 0; --i) {
    model[random->Key()] = random->Compressible(random->Below(500));
  }
  model[""] = "";
  model[std::string(100'000, '\xfe')] = random->Compressible(3 << 20);
  return model;
}

leveldb::Options OptionsOf(bool snappy, const leveldb::FilterPolicy* filter, size_t block_size) {
  leveldb::Options options;
  options.compression = snappy ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  options.filter_policy = filter;
  options.block_size = block_size;
  options.paranoid_checks = true;
  return options;
}

TEST(TableAgainstLevelDb, ReadsWhatLevelDbWrote) {
  Strings random(TestSeed());
  const std::unique_ptr<const leveldb::FilterPolicy> theirs(leveldb::NewBloomFilterPolicy(10));
  const auto ours = NewBloomFilterPolicy(10);
  for (size_t round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    const Model model = MakeModel(&random);
    const auto options = OptionsOf(round % 2 == 0, theirs.get(), size_t{64} << round);
    LevelDbWrittenFile file;
    leveldb::TableBuilder builder(options, &file);
    for (const auto& [key, value] : model) builder.Add(key, value);
    ASSERT_TRUE(builder.Finish().ok());

    auto table = OpenTable({.filter = ours.get(), .verify = true}, file.contents, round % 3 != 0);
    ASSERT_TRUE(table) << table.error().ToString();
    EXPECT_TRUE((*table)->has_filter());
    const auto it = (*table)->NewIterator({.verify_checksums = true});
    ASSERT_NO_FATAL_FAILURE(ExpectForward(model, it.get()));
    ASSERT_NO_FATAL_FAILURE(ExpectBackward(model, it.get()));
    size_t absent = 0;
    size_t filtered = 0;
    for (const auto& [key, value] : model) {
      TableLookup lookup{.key = key};
      (*table)->Get({}, &lookup);
      ASSERT_EQ(lookup.found, TableLookup::Found::kValue);
      ASSERT_EQ(lookup.value, value);
      const std::string other = key + "x";
      if (model.contains(other)) continue;
      lookup.key = other;
      (*table)->Get({}, &lookup);
      ASSERT_NE(lookup.found, TableLookup::Found::kValue);
      ++absent;
      filtered += lookup.found == TableLookup::Found::kFiltered ? 1 : 0;
    }
    EXPECT_GE(filtered * 100, absent * 80);
  }
}

TEST(TableAgainstLevelDb, LevelDbReadsWhatWeWrote) {
  Strings random(TestSeed());
  const std::unique_ptr<const leveldb::FilterPolicy> theirs(leveldb::NewBloomFilterPolicy(10));
  const auto ours = NewBloomFilterPolicy(10);
  for (size_t round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    const Model model = MakeModel(&random);
    const bool snappy = round % 2 == 0;
    const auto options = OptionsOf(snappy, theirs.get(), 4096);
    const std::string contents =
        BuildTable({.filter = ours.get(),
                    .block_size = size_t{64} << round,
                    .compression = snappy ? Compression::kSnappy : Compression::kNone},
                   model);
    LevelDbReadFile file(contents);
    leveldb::Table* opened = nullptr;
    ASSERT_TRUE(leveldb::Table::Open(options, &file, contents.size(), &opened).ok());
    const std::unique_ptr<leveldb::Table> table(opened);
    leveldb::ReadOptions read;
    read.verify_checksums = true;
    const std::unique_ptr<leveldb::Iterator> it(table->NewIterator(read));
    auto at = model.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++at) {
      ASSERT_NE(at, model.end());
      ASSERT_EQ(it->key().ToString(), at->first);
      ASSERT_EQ(it->value().ToString(), at->second);
    }
    ASSERT_TRUE(it->status().ok());
    ASSERT_EQ(at, model.end());
  }
}

}  // namespace
}  // namespace weft::table

#endif  // WEFT_TEST_LEVELDB
