// Holds the table builder to LevelDB's own, byte for byte. Empty where that is not installed.
//
// Threads   one.
#ifdef WEFT_TEST_LEVELDB

#include <gtest/gtest.h>
#include <leveldb/comparator.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <leveldb/table_builder.h>

#include <algorithm>
#include <map>
#include <memory>

#include "table/file_test_kit.h"
#include "table/internal_key.h"
#include "table/table_builder.h"

namespace weft::table {
namespace {

leveldb::Slice ToSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view ToView(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

class LevelDbFile final : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice& data) override {
    contents_.append(data.data(), data.size());
    return {};
  }
  leveldb::Status Close() override { return {}; }
  leveldb::Status Flush() override { return {}; }
  leveldb::Status Sync() override { return {}; }

  const std::string& contents() const { return contents_; }

 private:
  std::string contents_;
};

// Internal keys by the rules of LevelDB's format, written on LevelDB's own bytewise order.
class LevelDbInternalOrder final : public leveldb::Comparator {
 public:
  const char* Name() const override { return "leveldb.InternalKeyComparator"; }
  int Compare(const leveldb::Slice& a, const leveldb::Slice& b) const override {
    const int order = user_->Compare(User(a), User(b));
    if (order != 0) return order;
    const uint64_t newer = Trailer(ToView(a));
    const uint64_t older = Trailer(ToView(b));
    return newer > older ? -1 : newer < older ? 1 : 0;
  }
  void FindShortestSeparator(std::string* start, const leveldb::Slice& limit) const override {
    std::string shorter = User(*start).ToString();
    user_->FindShortestSeparator(&shorter, User(limit));
    TakeShorter(shorter, start);
  }
  void FindShortSuccessor(std::string* key) const override {
    std::string shorter = User(*key).ToString();
    user_->FindShortSuccessor(&shorter);
    TakeShorter(shorter, key);
  }

 private:
  static leveldb::Slice User(const leveldb::Slice& key) { return {key.data(), key.size() - 8}; }
  void TakeShorter(const std::string& shorter, std::string* key) const {
    if (shorter.size() < User(*key).size() && user_->Compare(User(*key), shorter) < 0) {
      *key = shorter + std::string("\x01\xff\xff\xff\xff\xff\xff\xff", 8);
    }
  }

  const leveldb::Comparator* user_ = leveldb::BytewiseComparator();
};

// LevelDB's Bloom filter over user keys.
class LevelDbInternalFilter final : public leveldb::FilterPolicy {
 public:
  explicit LevelDbInternalFilter(const leveldb::FilterPolicy* user) : user_(user) {}
  const char* Name() const override { return user_->Name(); }
  void CreateFilter(const leveldb::Slice* keys, int n, std::string* filter) const override {
    std::vector<leveldb::Slice> user_keys;
    for (int i = 0; i < n; i++) user_keys.emplace_back(keys[i].data(), keys[i].size() - 8);
    user_->CreateFilter(user_keys.data(), n, filter);
  }
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    return user_->KeyMayMatch({key.data(), key.size() - 8}, filter);
  }

 private:
  const leveldb::FilterPolicy* user_;
};

using Entries = std::vector<std::pair<std::string, std::string>>;

struct LevelDbShape {
  size_t block_size = 4096;
  int restart_interval = 16;
  int bloom_bits = 0;  // 0: no filter
  bool snappy = false;
  bool internal_keys = false;
};

std::string BuildWithLevelDb(const Entries& entries, const LevelDbShape& shape) {
  const LevelDbInternalOrder internal_order;
  std::unique_ptr<const leveldb::FilterPolicy> bloom;
  if (shape.bloom_bits != 0) bloom.reset(leveldb::NewBloomFilterPolicy(shape.bloom_bits));
  const LevelDbInternalFilter internal_bloom(bloom.get());
  leveldb::Options options;
  options.block_size = shape.block_size;
  options.block_restart_interval = shape.restart_interval;
  options.compression = shape.snappy ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  options.filter_policy = bloom.get();
  if (shape.internal_keys) {
    options.comparator = &internal_order;
    if (bloom != nullptr) options.filter_policy = &internal_bloom;
  }
  LevelDbFile file;
  leveldb::TableBuilder builder(options, &file);
  for (const auto& [key, value] : entries) builder.Add(key, value);
  EXPECT_TRUE(builder.Finish().ok());
  EXPECT_EQ(file.contents().size(), builder.FileSize());
  return file.contents();
}

std::string BuildWithWeft(const Entries& entries, const LevelDbShape& shape) {
  const InternalComparator internal_order(BytewiseComparator());
  std::shared_ptr<const weft::FilterPolicy> bloom;
  if (shape.bloom_bits != 0) bloom = weft::NewBloomFilterPolicy(shape.bloom_bits);
  const InternalFilterPolicy internal_bloom(bloom);
  TableFormat format;
  format.block_size = shape.block_size;
  format.block_restart_interval = shape.restart_interval;
  format.compression = shape.snappy ? Compression::kSnappy : Compression::kNone;
  format.filter = bloom.get();
  if (shape.internal_keys) {
    format.comparator = &internal_order;
    if (bloom != nullptr) format.filter = &internal_bloom;
  }
  StringFile file;
  TableBuilder builder(format, &file);
  for (const auto& [key, value] : entries) builder.Add(key, value);
  EXPECT_TRUE(builder.Finish().ok());
  EXPECT_EQ(file.contents().size(), builder.flushed_bytes());
  EXPECT_EQ(entries.size(), builder.entries());
  return file.contents();
}

// Not EXPECT_EQ, which would print megabytes.
void ExpectSameBytes(const Entries& entries, const LevelDbShape& shape) {
  const std::string theirs = BuildWithLevelDb(entries, shape);
  const std::string ours = BuildWithWeft(entries, shape);
  const auto [at, _] = std::mismatch(theirs.begin(), theirs.end(), ours.begin(), ours.end());
  EXPECT_TRUE(theirs == ours) << "they differ at byte " << at - theirs.begin() << " of "
                              << theirs.size() << " and " << ours.size() << ", " << entries.size()
                              << " entries";
}

void ExpectSameBytesInAllShapes(const Entries& entries, bool internal_keys) {
  for (const size_t block_size : {size_t{1}, size_t{100}, size_t{4096}, size_t{1} << 16}) {
    for (const int interval : {1, 2, 16, 128}) {
      for (const int bloom_bits : {0, 1, 10, 50}) {
        for (const bool snappy : {false, true}) {
          ExpectSameBytes(entries, {block_size, interval, bloom_bits, snappy, internal_keys});
        }
      }
    }
  }
}

Entries RandomEntries(Strings* strings, size_t count, size_t value_bytes_max) {
  std::map<std::string, std::string> sorted;
  while (sorted.size() < count) {
    const size_t bytes = strings->Below(value_bytes_max + 1);
    const bool text = strings->Below(2) == 0;
    sorted[strings->Key()] = text ? strings->Compressible(bytes) : strings->Bytes(bytes);
  }
  return {sorted.begin(), sorted.end()};
}

// Several versions and deletions of each key.
Entries RandomInternalEntries(Strings* strings, size_t count, size_t value_bytes_max) {
  Entries entries;
  for (const auto& [key, value] : RandomEntries(strings, count, value_bytes_max)) {
    uint64_t sequence = 1 + strings->Below(kSequenceMax);
    for (uint64_t versions = 1 + strings->Below(3); versions != 0 && sequence != 0; versions--) {
      const auto type = static_cast<ValueType>(strings->Below(2));
      entries.emplace_back(MakeInternalKey(key, sequence, type),
                           type == ValueType::kDeletion ? "" : value);
      sequence -= 1 + strings->Below(sequence);
    }
  }
  return entries;
}

TEST(TableBuilderAgainstLevelDb, EmptyTable) { ExpectSameBytesInAllShapes({}, false); }

TEST(TableBuilderAgainstLevelDb, OneEmptyKeyAndValue) {
  ExpectSameBytesInAllShapes({{"", ""}}, false);
}

TEST(TableBuilderAgainstLevelDb, RandomKeysOfManyShapes) {
  Strings strings(TestSeed());
  for (const size_t count : {2, 15, 16, 17, 500}) {
    ExpectSameBytesInAllShapes(RandomEntries(&strings, count, 200), false);
  }
}

TEST(TableBuilderAgainstLevelDb, InternalKeys) {
  Strings strings(TestSeed() + 1);
  for (const size_t count : {1, 20, 400}) {
    ExpectSameBytesInAllShapes(RandomInternalEntries(&strings, count, 200), true);
  }
}

TEST(TableBuilderAgainstLevelDb, ManySmallBlocksCompressedIntoOneFilterWindow) {
  Entries entries;
  for (int i = 0; i < 3000; i++) {
    entries.emplace_back("k" + std::to_string(1000000 + i), std::string(300, 'v'));
  }
  ExpectSameBytes(entries, {1024, 16, 10, true, false});
}

TEST(TableBuilderAgainstLevelDb, KeysAndValuesOfMegabytes) {
  Strings strings(TestSeed() + 2);
  Entries entries = RandomEntries(&strings, 20, 100);
  entries.emplace_back(strings.Bytes(1 << 20), strings.Bytes(3 << 20));
  entries.emplace_back(entries.back().first + "!", strings.Compressible(5 << 20));
  entries.emplace_back(std::string(100, '\xff') + strings.Bytes(2 << 20), "");
  std::sort(entries.begin(), entries.end());
  for (const bool snappy : {false, true}) ExpectSameBytes(entries, {4096, 16, 10, snappy, false});
}

TEST(TableBuilderAgainstLevelDb, TablesOfManyMegabytes) {
  Strings strings(TestSeed() + 3);
  Entries entries;
  for (uint64_t i = 0; i < 60000; i++) {
    std::string number = std::to_string(100000000 + i * 7);
    entries.emplace_back(MakeInternalKey(number, i + 1, ValueType::kValue),
                         i % 3 == 0 ? strings.Compressible(150) : strings.Bytes(100));
  }
  for (const bool snappy : {false, true}) ExpectSameBytes(entries, {4096, 16, 10, snappy, true});
}

TEST(ComparatorAgainstLevelDb, SeparatorsAndSuccessors) {
  Strings strings(TestSeed() + 4);
  const leveldb::Comparator* const theirs = leveldb::BytewiseComparator();
  const weft::Comparator* const ours = weft::BytewiseComparator();
  for (int round = 0; round < 20000; round++) {
    std::string a = strings.Key();
    std::string b = strings.Below(2) == 0 ? strings.Key() : a + strings.Key();
    if (a == b) continue;
    if (b < a) a.swap(b);
    std::string their_key = a;
    std::string our_key = a;
    theirs->FindShortestSeparator(&their_key, b);
    ours->FindShortestSeparator(&our_key, b);
    EXPECT_EQ(their_key, our_key);
    EXPECT_LE(a, our_key);
    EXPECT_LT(our_key, b);
    their_key = our_key = a;
    theirs->FindShortSuccessor(&their_key);
    ours->FindShortSuccessor(&our_key);
    EXPECT_EQ(their_key, our_key);
    EXPECT_LT(ours->Compare(a, b), 0);
    EXPECT_GT(ours->Compare(b, a), 0);
  }
}

TEST(BloomAgainstLevelDb, FiltersAndAnswers) {
  Strings strings(TestSeed() + 5);
  for (const int bits : {0, 1, 5, 10, 20, 44, 100}) {
    const std::unique_ptr<const leveldb::FilterPolicy> theirs(leveldb::NewBloomFilterPolicy(bits));
    const auto ours = weft::NewBloomFilterPolicy(bits);
    EXPECT_STREQ(theirs->Name(), ours->Name());
    for (const size_t count : {0, 1, 2, 10, 1000}) {
      std::vector<std::string> keys;
      for (size_t i = 0; i < count; i++) keys.push_back(strings.Key());
      const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
      const std::vector<std::string_view> views(keys.begin(), keys.end());
      std::string their_filter = "before";
      std::string our_filter = "before";
      theirs->CreateFilter(slices.data(), static_cast<int>(count), &their_filter);
      ours->CreateFilter(views, &our_filter);
      ASSERT_EQ(their_filter, our_filter);
      const std::string_view filter = std::string_view(our_filter).substr(6);
      for (const std::string& key : keys) EXPECT_TRUE(ours->KeyMayMatch(key, filter));
      for (int i = 0; i < 200; i++) {
        const std::string key = strings.Key();
        EXPECT_EQ(theirs->KeyMayMatch(key, ToSlice(filter)), ours->KeyMayMatch(key, filter));
      }
    }
  }
}

}  // namespace
}  // namespace weft::table

#endif  // WEFT_TEST_LEVELDB
