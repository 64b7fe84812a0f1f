// Threads   one.
#include "lsm/memtable.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/seed_test_kit.h"
#include "lsm/memtable_test_kit.h"

namespace weft::lsm {
namespace {

using table::InternalComparator;
using table::MakeInternalKey;
using table::SequenceNumber;
using table::ValueType;

struct KeyVersion {
  SequenceNumber sequence;
  ValueType type;
  std::string value;
};

// What a memtable should hold: versions of each key, the oldest first.
class ExpectedVersions {
 public:
  explicit ExpectedVersions(const Comparator* user) : versions_(UserLess{user}) {}

  void Add(SequenceNumber sequence, ValueType type, const std::string& key, std::string value) {
    versions_[key].push_back({sequence, type, std::move(value)});
  }
  const KeyVersion* Get(const std::string& key, SequenceNumber sequence) const {
    const auto found = versions_.find(key);
    if (found == versions_.end()) return nullptr;
    const KeyVersion* newest = nullptr;
    for (const KeyVersion& version : found->second) {
      if (version.sequence <= sequence) newest = &version;
    }
    return newest;
  }
  // Internal keys and values in order.
  std::vector<std::pair<std::string, std::string>> Contents() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [key, versions] : versions_) {
      for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
        all.emplace_back(MakeInternalKey(key, version->sequence, version->type), version->value);
      }
    }
    return all;
  }
  const auto& versions() const { return versions_; }

 private:
  std::map<std::string, std::vector<KeyVersion>, UserLess> versions_;
};

using KeyMaker = std::string (*)(std::mt19937_64&);

std::string ShortKey(std::mt19937_64& random) {
  static constexpr char kAlphabet[] = {'\0', '\0', 'a', 'b', '\x7f', '\x80', '\xff'};
  std::string key(random() % 12, '\0');
  for (char& c : key) c = kAlphabet[random() % sizeof kAlphabet];
  return key;
}
std::string DecimalKey(std::mt19937_64& random) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llu", static_cast<unsigned long long>(random() % 2000000));
  return text;
}
std::string LongPrefixKey(std::mt19937_64& random) {
  static constexpr const char* kPrefixes[] = {"", "tenant-0001/users/", "tenant-0001/users/7",
                                              "tenant-0002/orders/2026-11-21/",
                                              "tenant-0002/orders/2026-11-22/"};
  return kPrefixes[random() % 5] + ShortKey(random);
}
// Long runs of one byte: keys that differ by trailing zeros only, or by 0xff.
std::string RunKey(std::mt19937_64& random) {
  static constexpr char kBytes[] = {'\0', '\xff'};
  return std::string(random() % 300, kBytes[random() % 2]);
}
std::string BinaryKey(std::mt19937_64& random) {
  std::string key(16, '\0');
  for (char& c : key) c = static_cast<char>(random());
  return key;
}

void ExpectSameContents(const ExpectedVersions& model, const MemTable& memtable) {
  const auto expected = model.Contents();
  ASSERT_EQ(memtable.entries(), expected.size());
  const std::unique_ptr<Iterator> it = memtable.NewIterator();
  EXPECT_FALSE(it->Valid());
  size_t at = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++at) {
    ASSERT_LT(at, expected.size());
    ASSERT_EQ(it->key(), expected[at].first);
    ASSERT_EQ(it->value(), expected[at].second);
  }
  ASSERT_EQ(at, expected.size());
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    ASSERT_GT(at, 0u);
    ASSERT_EQ(it->key(), expected[--at].first);
  }
  ASSERT_EQ(at, 0u);
  EXPECT_TRUE(it->status().ok());
}

void ExpectSameGets(const ExpectedVersions& model, const MemTable& memtable, KeyMaker make_key,
                    SequenceNumber last, std::mt19937_64& random) {
  std::vector<std::string> keys;
  for (const auto& [key, versions] : model.versions()) keys.push_back(key);
  for (int i = 0; i < 500; ++i) keys.push_back(make_key(random));
  for (const std::string& key : keys) {
    const SequenceNumber sequence = random() % 4 == 0 ? table::kSequenceMax : random() % (last + 1);
    const KeyVersion* expected = model.Get(key, sequence);
    std::string value = "untouched";
    const MemTable::Found found = memtable.Get(key, sequence, &value);
    if (expected == nullptr) {
      ASSERT_EQ(found, MemTable::Found::kNothing);
    } else if (expected->type == ValueType::kDeletion) {
      ASSERT_EQ(found, MemTable::Found::kDeletion);
    } else {
      ASSERT_EQ(found, MemTable::Found::kValue);
      ASSERT_EQ(value, expected->value);
    }
    if (expected == nullptr || expected->type == ValueType::kDeletion) {
      ASSERT_EQ(value, "untouched");
    }
    const MemTableTree::Way way = memtable.Approach(key, sequence);
    ASSERT_EQ(memtable.Read(memtable.Locate(key, sequence, &way), key, &value), found);
    if (found == MemTable::Found::kValue) {
      ASSERT_EQ(value, expected->value);
    }
  }
}

void ExpectSameWalks(const ExpectedVersions& model, const MemTable& memtable,
                     const InternalComparator& comparator, KeyMaker make_key,
                     std::mt19937_64& random) {
  const auto expected = model.Contents();
  const std::unique_ptr<Iterator> it = memtable.NewIterator();
  for (int walk = 0; walk < 200; ++walk) {
    const std::string target =
        MakeInternalKey(make_key(random), random() % 10000, table::kTypeForSeek);
    it->Seek(target);
    size_t at = 0;
    {
      size_t end = expected.size();
      while (at < end) {
        const size_t middle = (at + end) / 2;
        const std::string& key = expected[middle].first;
        int order = comparator.CompareUser(table::UserKey(key), table::UserKey(target));
        if (order == 0) order = table::Trailer(key) > table::Trailer(target) ? -1 : 1;
        if (order < 0 && key != target) {
          at = middle + 1;
        } else {
          end = middle;
        }
      }
    }
    for (int step = 0; step < 150; ++step) {
      ASSERT_EQ(it->Valid(), at < expected.size());
      if (!it->Valid()) break;
      ASSERT_EQ(it->key(), expected[at].first);
      if (random() % 5 < 3) {
        it->Next();
        ++at;
      } else {
        it->Prev();
        at = at == 0 ? expected.size() : at - 1;
      }
    }
  }
}

struct ModelCase {
  const char* name;
  KeyMaker make_key;
  bool custom_comparator;
};

class MemTableModel : public testing::TestWithParam<ModelCase> {};

TEST_P(MemTableModel, HoldsWhatWasAddedInOrder) {
  const ReverseComparator reverse;
  const InternalComparator comparator(GetParam().custom_comparator ? &reverse
                                                                   : BytewiseComparator());
  std::mt19937_64 random(base::TestSeed());
  for (const int count : {0, 1, 59, 60, 61, 500, 20000}) {
    MemTable memtable(comparator);
    ExpectedVersions model(comparator.user());
    for (int i = 1; i <= count; ++i) {
      const auto sequence = static_cast<SequenceNumber>(i);
      const std::string key = GetParam().make_key(random);
      const ValueType type = random() % 4 == 0 ? ValueType::kDeletion : ValueType::kValue;
      std::string value;
      if (type == ValueType::kValue) value = std::string(random() % 40, 'v') + std::to_string(i);
      memtable.Add(sequence, type, key, value);
      model.Add(sequence, type, key, std::move(value));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSameContents(model, memtable));
    ASSERT_NO_FATAL_FAILURE(ExpectSameGets(model, memtable, GetParam().make_key,
                                           static_cast<SequenceNumber>(count), random));
    ASSERT_NO_FATAL_FAILURE(
        ExpectSameWalks(model, memtable, comparator, GetParam().make_key, random));
  }
}

INSTANTIATE_TEST_SUITE_P(Keys, MemTableModel,
                         testing::Values(ModelCase{"Short", ShortKey, false},
                                         ModelCase{"Decimal", DecimalKey, false},
                                         ModelCase{"LongPrefix", LongPrefixKey, false},
                                         ModelCase{"Run", RunKey, false},
                                         ModelCase{"Binary", BinaryKey, false},
                                         ModelCase{"ShortReverse", ShortKey, true},
                                         ModelCase{"LongPrefixReverse", LongPrefixKey, true}),
                         [](const auto& test) { return test.param.name; });

TEST(MemTable, SequentialKeysFillLeaves) {
  const InternalComparator comparator(BytewiseComparator());
  MemTable memtable(comparator);
  ExpectedVersions model(BytewiseComparator());
  char key[24];
  for (int i = 0; i < 100000; ++i) {
    std::snprintf(key, sizeof key, "%016d", i);
    memtable.Add(static_cast<SequenceNumber>(i) + 1, ValueType::kValue, key, "");
    model.Add(static_cast<SequenceNumber>(i) + 1, ValueType::kValue, key, "");
  }
  ExpectSameContents(model, memtable);
  // 32 bytes of entry, 17 of leaf, some of inner nodes and chunks.
  EXPECT_LT(memtable.MemoryUsage(), 100000u * 55);
}

TEST(MemTable, DescendingKeysAndOneThatSharesNothingAreFound) {
  const InternalComparator comparator(BytewiseComparator());
  MemTable memtable(comparator);
  ExpectedVersions model(BytewiseComparator());
  SequenceNumber sequence = 0;
  const auto add = [&](const std::string& key) {
    memtable.Add(++sequence, ValueType::kValue, key, key);
    model.Add(sequence, ValueType::kValue, key, key);
  };
  char key[40];
  for (int i = 50000; i > 0; --i) {
    std::snprintf(key, sizeof key, "common/prefix/%016d", i);
    add(key);
    if (i % 10000 == 0) {
      add("");
      add("\xff\xff");
      add("common");
      add("common/prefix/0000");
      add("common/prefiy");
    }
  }
  ExpectSameContents(model, memtable);
  std::string value;
  EXPECT_EQ(memtable.Get("common/prefix/", sequence, &value), MemTable::Found::kNothing);
  EXPECT_EQ(memtable.Get("", sequence, &value), MemTable::Found::kValue);
}

TEST(MemTable, AReaderSeesTheVersionOfItsSequence) {
  const InternalComparator comparator(BytewiseComparator());
  MemTable memtable(comparator);
  // More versions than a leaf holds.
  for (SequenceNumber sequence = 2; sequence <= 2000; sequence += 2) {
    const bool deleted = sequence % 6 == 0;
    memtable.Add(sequence, deleted ? ValueType::kDeletion : ValueType::kValue, "key",
                 deleted ? "" : std::to_string(sequence));
  }
  std::string value;
  EXPECT_EQ(memtable.Get("key", 1, &value), MemTable::Found::kNothing);
  for (SequenceNumber at = 2; at <= 2001; ++at) {
    const SequenceNumber newest = at / 2 * 2;
    if (newest % 6 == 0) {
      ASSERT_EQ(memtable.Get("key", at, &value), MemTable::Found::kDeletion);
    } else {
      ASSERT_EQ(memtable.Get("key", at, &value), MemTable::Found::kValue);
      ASSERT_EQ(value, std::to_string(newest));
    }
    ASSERT_EQ(memtable.Get("kex", at, nullptr), MemTable::Found::kNothing);
    ASSERT_EQ(memtable.Get(std::string("key\0", 4), at, nullptr), MemTable::Found::kNothing);
  }
}

TEST(MemTable, HugeKeysAndValuesAreHeld) {
  const InternalComparator comparator(BytewiseComparator());
  MemTable memtable(comparator);
  const std::string key(3u << 20, 'k');
  const std::string value_a(10u << 20, 'a');
  const std::string value_b((5u << 20) + 1, 'b');
  memtable.Add(1, ValueType::kValue, key, value_a);
  memtable.Add(2, ValueType::kValue, key + "1", value_b);
  memtable.Add(3, ValueType::kValue, "small", "s");
  std::string value;
  ASSERT_EQ(memtable.Get(key, 3, &value), MemTable::Found::kValue);
  EXPECT_EQ(value, value_a);
  ASSERT_EQ(memtable.Get(key + "1", 3, &value), MemTable::Found::kValue);
  EXPECT_EQ(value, value_b);
  const size_t bytes = key.size() * 2 + value_a.size() + value_b.size();
  EXPECT_GE(memtable.MemoryUsage(), bytes);
  EXPECT_LE(memtable.MemoryUsage(), bytes + (64u << 10));
}

TEST(MemTable, MemoryUsageFollowsWhatWasAdded) {
  const InternalComparator comparator(BytewiseComparator());
  MemTable memtable(comparator);
  EXPECT_LE(memtable.MemoryUsage(), 8192u);
  std::mt19937_64 random(base::TestSeed());
  size_t bytes = 0;
  size_t before = memtable.MemoryUsage();
  for (int i = 1; i <= 30000; ++i) {
    memtable.Add(static_cast<SequenceNumber>(i), ValueType::kValue, DecimalKey(random),
                 std::string(100, 'v'));
    bytes += MemTableEntry::kHeaderBytes + 16 + table::kTrailerBytes + 100;
    const size_t now = memtable.MemoryUsage();
    ASSERT_GE(now, before);
    ASSERT_GE(now, bytes);
    // Leaves are at least half full: 36 bytes an entry, and a chunk's rest.
    ASSERT_LE(now, bytes + static_cast<size_t>(i) * 36 + bytes / 50 + (16u << 10));
    before = now;
  }
}

}  // namespace
}  // namespace weft::lsm
