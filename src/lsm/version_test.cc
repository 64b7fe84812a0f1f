// Versions: finding tables, reading through the levels, overlaps, seeks.
#include "lsm/version.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "lsm/version_test_kit.h"
#include "table/merging_iterator.h"

namespace weft::lsm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FileRef Meta(uint64_t number, const std::string& smallest, const std::string& largest) {
  return std::make_shared<const FileMeta>(number, 1000, ValueKey(smallest, 9),
                                          ValueKey(largest, 9));
}

std::vector<uint64_t> NumbersOf(std::span<const FileRef> files) {
  std::vector<uint64_t> numbers;
  for (const FileRef& file : files) numbers.push_back(file->number);
  return numbers;
}

std::vector<uint64_t> Overlapping(const Version& version, int level,
                                  std::optional<std::string_view> begin,
                                  std::optional<std::string_view> end) {
  const UserKeyRange range{begin ? &*begin : nullptr, end ? &*end : nullptr};
  const std::vector<uint64_t> numbers = NumbersOf(version.OverlappingInputs(level, range));
  EXPECT_EQ(version.OverlapInLevel(level, range), !numbers.empty());
  return numbers;
}

class ReverseOrder final : public Comparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override { return b.compare(a); }
  const char* Name() const override { return "test.ReverseOrder"; }
  void FindShortestSeparator(std::string*, std::string_view) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST(Level, FindsTheFirstFileThatDoesNotEndBeforeAKey) {
  std::mt19937 random(base::TestSeed(1));
  const ReverseOrder reverse;
  for (const Comparator* user : {BytewiseComparator(), static_cast<const Comparator*>(&reverse)}) {
    const table::InternalComparator comparator(user);
    for (const char* prefix : {"", "a", "user:00", "a-prefix-that-all-keys-have-"}) {
      std::vector<std::string> keys;
      for (int i = 0; i < 200; ++i) {
        std::string key = prefix;
        for (size_t n = random() % 5; n > 0; --n) key += static_cast<char>(random() % 3 * 127);
        keys.push_back(key);
      }
      std::sort(keys.begin(), keys.end(), [&](const std::string& a, const std::string& b) {
        return user->Compare(a, b) < 0;
      });
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      std::vector<FileRef> files;
      for (size_t i = 0; i + 1 < keys.size(); i += 3)
        files.push_back(Meta(i, keys[i], keys[i + 1]));
      const auto level = Level::Make(comparator, 1, files).value();
      for (const std::string& key : keys) {
        for (const uint64_t sequence : {uint64_t{1}, uint64_t{9}, table::kSequenceMax}) {
          const std::string sought = ValueKey(key, sequence);
          size_t expected = 0;
          while (expected < files.size() &&
                 comparator.Compare(files[expected]->largest, sought) < 0) {
            ++expected;
          }
          ASSERT_EQ(level->Find(comparator, sought), expected);
        }
      }
    }
  }
}

TEST(Level, RefusesFilesThatOverlapOrEndBeforeTheyBegin) {
  const table::InternalComparator comparator(BytewiseComparator());
  EXPECT_FALSE(Level::Make(comparator, 1, {Meta(1, "a", "c"), Meta(2, "c", "d")}).has_value());
  EXPECT_TRUE(Level::Make(comparator, 0, {Meta(1, "a", "c"), Meta(2, "c", "d")}).has_value());
  EXPECT_FALSE(Level::Make(comparator, 0, {Meta(1, "a", "c"), Meta(1, "e", "f")}).has_value());
  EXPECT_FALSE(Level::Make(comparator, 2, {Meta(1, "b", "a")}).has_value());
  const auto no_key = std::make_shared<const FileMeta>(1, 1, "short", "short");
  EXPECT_FALSE(Level::Make(comparator, 2, {no_key}).has_value());
  // One user key over two tables is no overlap.
  const auto newer = std::make_shared<const FileMeta>(1, 1, ValueKey("a", 9), ValueKey("b", 9));
  const auto older = std::make_shared<const FileMeta>(2, 1, ValueKey("b", 8), ValueKey("c", 9));
  EXPECT_TRUE(Level::Make(comparator, 1, {older, newer}).has_value());
}

class VersionTest : public testing::Test {
 protected:
  // Value, "(none)" or the error.
  std::string Get(const Version& version, const std::string& key,
                  table::SequenceNumber sequence = table::kSequenceMax) {
    const LookupKey lookup(key, sequence);
    std::string value = "untouched";
    SeekCharge charge;
    const Status status = version.Get({}, lookup.internal_key(), &value, &charge);
    if (status.ok()) return value;
    EXPECT_EQ(value, "untouched");
    return status.code() == Code::kNotFound ? "(none)" : status.ToString();
  }

  VersionFixture kit_;
};

TEST_F(VersionTest, TheNewestEntryOfAKeyIsFoundWhereverItIs) {
  const VersionRef version = kit_.Make({
      kit_.WriteTable(0, 9, {{ValueKey("a", 90), "new a"}, {DeletionKey("b", 91), ""}}),
      kit_.WriteTable(0, 8, {{ValueKey("a", 80), "old a"}, {ValueKey("b", 81), "old b"}}),
      kit_.WriteTable(1, 5, {{ValueKey("b", 50), "older b"}, {ValueKey("c", 51), "c"}}),
      kit_.WriteTable(1, 6, {{ValueKey("m", 60), "m"}, {ValueKey("m", 55), "old m"}}),
      kit_.WriteTable(6, 1, {{ValueKey("c", 10), "oldest c"}, {ValueKey("z", 11), "z"}}),
  });
  EXPECT_EQ(Get(*version, "a"), "new a");
  EXPECT_EQ(Get(*version, "a", 89), "old a");
  EXPECT_EQ(Get(*version, "a", 79), "(none)");
  EXPECT_EQ(Get(*version, "b"), "(none)");
  EXPECT_EQ(Get(*version, "b", 90), "old b");
  EXPECT_EQ(Get(*version, "b", 80), "older b");
  EXPECT_EQ(Get(*version, "c"), "c");
  EXPECT_EQ(Get(*version, "c", 50), "oldest c");
  EXPECT_EQ(Get(*version, "m", 59), "old m");
  EXPECT_EQ(Get(*version, "z"), "z");
  EXPECT_EQ(Get(*version, "d"), "(none)");
  EXPECT_EQ(Get(*version, "zz"), "(none)");
}

TEST_F(VersionTest, TablesOfOldStoresAreFoundByTheirOldNames) {
  const VersionRef version = kit_.Make({kit_.WriteTable(1, 5, {{ValueKey("a", 1), "old"}}, true)});
  EXPECT_EQ(Get(*version, "a"), "old");
}

TEST_F(VersionTest, ATableThatIsDamagedIsNamed) {
  const NewFile file = kit_.WriteTable(1, 5, {{ValueKey("a", 1), "x"}});
  const std::string path = TableFileName(kit_.dir, 5);
  const std::string good = kit_.memory.Contents(path).value();
  const auto failure = [&] { return Get(*kit_.Make({file}), "a"); };
  ASSERT_TRUE(kit_.memory.SetContents(path, good.substr(0, good.size() - 1)).ok());
  EXPECT_THAT(failure(), testing::AllOf(testing::HasSubstr("corrupt"), testing::HasSubstr(path)));
  ASSERT_TRUE(kit_.memory.SetContents(path, std::string(good.size(), 'x')).ok());
  EXPECT_THAT(failure(), testing::AllOf(testing::HasSubstr("corrupt"), testing::HasSubstr(path)));
  ASSERT_TRUE(kit_.memory.RemoveFile(path).ok());
  EXPECT_THAT(failure(), testing::AllOf(testing::HasSubstr("corrupt"), testing::HasSubstr(path)));
  const LookupKey lookup("a", 1);
  std::string value;
  VersionLookup lookups[] = {{lookup.internal_key(), &value, {}, {}}};
  kit_.Make({file})->MultiGet({}, lookups);
  EXPECT_EQ(lookups[0].status.code(), Code::kCorruption);
}

// A random version over few keys, and what it should tell.
TEST_F(VersionTest, GetMultiGetAndIteratorsAgreeWithAModel) {
  std::mt19937 random(base::TestSeed(7));
  for (int round = 0; round < 20; ++round) {
    uint64_t number = 100 * static_cast<uint64_t>(round) + 1;
    table::SequenceNumber sequence = 1;
    std::map<std::string, std::vector<std::pair<table::SequenceNumber, std::string>>> model;
    std::vector<NewFile> files;
    // Deeper levels first: what is above is newer.
    const auto write = [&](int level, const std::vector<std::string>& keys) {
      VersionFixture::Entries entries;
      for (const std::string& key : keys) {
        for (size_t versions = 1 + random() % 2; versions > 0; --versions) {
          const bool deleted = random() % 4 == 0;
          const std::string value = deleted ? "" : key + "@" + std::to_string(sequence);
          entries.emplace_back(deleted ? DeletionKey(key, sequence) : ValueKey(key, sequence),
                               value);
          model[key].emplace_back(sequence++, deleted ? "(none)" : value);
        }
      }
      if (!entries.empty()) files.push_back(kit_.WriteTable(level, number++, entries));
    };
    for (int level = 6; level >= 0; level -= 1 + static_cast<int>(random() % 2)) {
      for (int table = 0; table < 3; ++table) {
        std::vector<std::string> keys;
        for (int i = 0; i < 40; ++i) {
          const int key = level == 0 ? i * 3 : table * 40 + i;
          if (random() % 3 == 0) keys.push_back("key" + std::to_string(1000 + key));
        }
        write(level, keys);
      }
    }
    const VersionRef version = kit_.Make(files);
    for (const table::SequenceNumber at : {sequence, sequence / 2}) {
      std::vector<std::unique_ptr<LookupKey>> keys;
      std::vector<VersionLookup> lookups;
      std::vector<std::string> values(130);
      std::vector<std::string> expected;
      for (int i = 0; i < 130; ++i) {
        const std::string key = "key" + std::to_string(1000 + i);
        keys.push_back(std::make_unique<LookupKey>(key, at));
        lookups.push_back({keys.back()->internal_key(), &values[static_cast<size_t>(i)], {}, {}});
        std::string newest = "(none)";
        for (const auto& [when, value] : model[key]) newest = when <= at ? value : newest;
        expected.push_back(newest);
        ASSERT_EQ(Get(*version, key, at), newest) << key;
      }
      version->MultiGet({}, lookups);
      for (size_t i = 0; i < lookups.size(); ++i) {
        ASSERT_EQ(lookups[i].status.ok() ? values[i] : "(none)", expected[i]);
        ASSERT_TRUE(lookups[i].status.ok() || lookups[i].status.code() == Code::kNotFound);
      }
    }
    size_t entries = 0;
    for (const auto& [key, versions] : model) entries += versions.size();
    std::vector<std::unique_ptr<Iterator>> iterators;
    version->AddIterators({}, &iterators);
    const auto all = table::NewMergingIterator(&kit_.comparator, std::move(iterators));
    size_t seen = 0;
    std::string last;
    for (all->SeekToFirst(); all->Valid(); all->Next(), ++seen) {
      ASSERT_TRUE(last.empty() || kit_.comparator.Compare(last, all->key()) < 0);
      last = all->key();
    }
    ASSERT_TRUE(all->status().ok());
    ASSERT_EQ(seen, entries);
  }
}

TEST_F(VersionTest, IteratorsKeepTheirVersion) {
  std::vector<std::unique_ptr<Iterator>> iterators;
  {
    const VersionRef version =
        kit_.Make({kit_.WriteKeys(0, 2, {"a", "b"}, 5), kit_.WriteKeys(0, 3, {"b"}, 6),
                   kit_.WriteKeys(3, 1, {"c"}, 4)});
    version->AddIterators({}, &iterators);
  }
  ASSERT_EQ(iterators.size(), 3u);
  iterators[0]->SeekToFirst();
  EXPECT_EQ(iterators[0]->value(), "b@6") << "newest first";
  iterators[2]->SeekToLast();
  EXPECT_EQ(iterators[2]->value(), "c@4");
}

TEST_F(VersionTest, OverlappingTablesOfALevelAreThoseOfTheRange) {
  const VersionRef version = kit_.Make({{1, 1, 10, ValueKey("b", 1), ValueKey("d", 1)},
                                        {1, 2, 10, ValueKey("f", 1), ValueKey("h", 1)},
                                        {1, 3, 10, ValueKey("h", 0), ValueKey("k", 1)}});
  EXPECT_THAT(Overlapping(*version, 1, {}, {}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Overlapping(*version, 1, "a", "a"), IsEmpty());
  EXPECT_THAT(Overlapping(*version, 1, "a", "b"), ElementsAre(1));
  EXPECT_THAT(Overlapping(*version, 1, "d", "f"), ElementsAre(1, 2));
  EXPECT_THAT(Overlapping(*version, 1, "e", "e"), IsEmpty());
  EXPECT_THAT(Overlapping(*version, 1, "h", "h"), ElementsAre(2, 3));
  EXPECT_THAT(Overlapping(*version, 1, "i", {}), ElementsAre(3));
  EXPECT_THAT(Overlapping(*version, 1, {}, "g"), ElementsAre(1, 2));
  EXPECT_THAT(Overlapping(*version, 1, "l", {}), IsEmpty());
  EXPECT_THAT(Overlapping(*version, 2, {}, {}), IsEmpty());
}

TEST_F(VersionTest, OfLevel0AllThatHangTogetherOverlap) {
  const VersionRef version = kit_.Make({{0, 1, 10, ValueKey("a", 1), ValueKey("c", 1)},
                                        {0, 2, 10, ValueKey("c", 2), ValueKey("f", 2)},
                                        {0, 3, 10, ValueKey("e", 3), ValueKey("h", 3)},
                                        {0, 4, 10, ValueKey("x", 4), ValueKey("z", 4)}});
  EXPECT_THAT(Overlapping(*version, 0, "h", "h"), ElementsAre(3, 2, 1));
  EXPECT_THAT(Overlapping(*version, 0, "i", "y"), ElementsAre(4));
  EXPECT_THAT(Overlapping(*version, 0, "i", "j"), IsEmpty());
  EXPECT_THAT(Overlapping(*version, 0, {}, "a"), ElementsAre(3, 2, 1));
}

TEST_F(VersionTest, TheFirstTableSearchedInVainIsCharged) {
  const VersionRef version =
      kit_.Make({kit_.WriteKeys(1, 5, {"a", "c"}, 9), kit_.WriteKeys(2, 4, {"a", "b", "c"}, 5),
                 kit_.WriteKeys(3, 3, {"b", "bb", "c"}, 2)});
  const auto charged = [&](const std::string& key) {
    const LookupKey lookup(key, table::kSequenceMax);
    std::string value;
    SeekCharge charge;
    (void)version->Get({}, lookup.internal_key(), &value, &charge);
    std::string many_value;
    VersionLookup many[] = {{lookup.internal_key(), &many_value, {}, {}}};
    version->MultiGet({}, many);
    EXPECT_EQ(many[0].charge.file, charge.file);
    EXPECT_EQ(many_value, value);
    return charge.file == nullptr ? 0 : charge.file->number;
  };
  EXPECT_EQ(charged("a"), 0u) << "found where it was sought first";
  EXPECT_EQ(charged("b"), 5u);
  EXPECT_EQ(charged("bb"), 5u) << "not the second in vain";
  EXPECT_EQ(charged("zz"), 0u);

  const FileMeta* file = version->level(1).files()[0].get();
  int charges = 0;
  while (!version->ChargeSeek({file, 1})) ++charges;
  EXPECT_EQ(charges, 99);
  EXPECT_EQ(version->seek_file().file, file);
  EXPECT_EQ(version->seek_file().level, 1);
  EXPECT_FALSE(version->ChargeSeek({})) << "nothing to charge";
}

TEST_F(VersionTest, KeysThatAnIteratorPassesChargeTablesThatLieAbove) {
  const VersionRef version =
      kit_.Make({kit_.WriteKeys(1, 5, {"a", "c"}, 9), kit_.WriteKeys(2, 4, {"b", "d"}, 5)});
  EXPECT_FALSE(version->RecordReadSample(ValueKey("a", 9)));
  int samples = 0;
  while (!version->RecordReadSample(ValueKey("b", 5))) ++samples;
  EXPECT_EQ(samples, 99);
  EXPECT_EQ(version->seek_file().file->number, 5u);
}

TEST_F(VersionTest, OffsetsGrowWithTheKeys) {
  const VersionRef version =
      kit_.Make({kit_.WriteKeys(1, 5, {"a", "c"}, 9), kit_.WriteKeys(2, 4, {"b", "d"}, 5)});
  EXPECT_EQ(version->ApproximateOffsetOf(ValueKey("0", table::kSequenceMax)), 0u);
  EXPECT_EQ(version->ApproximateOffsetOf(ValueKey("e", table::kSequenceMax)),
            version->TotalBytes());
  EXPECT_EQ(version->TotalFiles(), 2u);
  EXPECT_EQ(version->DeepestLevel(), 2);
}

}  // namespace
}  // namespace weft::lsm
