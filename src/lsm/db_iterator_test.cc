#include "lsm/db_iterator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/seed_test_kit.h"
#include "lsm/memtable.h"
#include "lsm/memtable_test_kit.h"

namespace weft::lsm {
namespace {

using table::InternalComparator;
using table::MakeInternalKey;
using table::SequenceNumber;
using table::ValueType;

// Descending bytes, and letters of either case are one.
class OddComparator final : public Comparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override {
    return Lower(b).compare(Lower(a));
  }
  const char* Name() const override { return "test.Odd"; }
  void FindShortestSeparator(std::string*, std::string_view) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static std::string Lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
  }
};

// Internal keys and values as given. After `fail_after` moves it fails.
class VectorIterator final : public Iterator {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  VectorIterator(const InternalComparator& comparator, Entries entries, int fail_after = -1)
      : comparator_(comparator), entries_(std::move(entries)), moves_left_(fail_after) {}

  bool Valid() const override { return at_ < entries_.size() && !failed_; }
  void SeekToFirst() override { MoveTo(0); }
  void SeekToLast() override { MoveTo(entries_.size() - 1); }
  void Seek(std::string_view target) override {
    const auto found = std::ranges::lower_bound(
        entries_, target,
        [this](std::string_view a, std::string_view b) { return comparator_.Compare(a, b) < 0; },
        [](const auto& entry) { return std::string_view(entry.first); });
    MoveTo(static_cast<size_t>(found - entries_.begin()));
  }
  void Next() override { MoveTo(at_ + 1); }
  void Prev() override { MoveTo(at_ - 1); }
  // Copies, so that the sanitizer sees who keeps a view across a move.
  std::string_view key() const override { return *key_; }
  std::string_view value() const override { return *value_; }
  Status status() const override { return failed_ ? Status(Code::kIoError, "test") : Status::Ok(); }

 private:
  void MoveTo(size_t at) {
    if (moves_left_ == 0) failed_ = true;
    if (moves_left_ > 0) --moves_left_;
    at_ = at;
    if (!Valid()) return;
    key_ = std::make_unique<std::string>(entries_[at].first);
    value_ = std::make_unique<std::string>(entries_[at].second);
  }

  const InternalComparator comparator_;
  const Entries entries_;
  int moves_left_;
  bool failed_ = false;
  size_t at_ = ~size_t{0};
  std::unique_ptr<std::string> key_;
  std::unique_ptr<std::string> value_;
};

#ifdef WEFT_SANITIZED
constexpr SequenceNumber kSequenceStep = 5;
#else
constexpr SequenceNumber kSequenceStep = 1;
#endif

using State = std::map<std::string, std::string, UserLess>;

struct Change {
  ValueType type;
  std::string key;
  std::string value;
};

// A history: change i has sequence i + 1.
class History {
 public:
  // Few keys of many versions, many of few, or long runs of one key.
  History(const Comparator* user, std::mt19937_64& random, int changes, int keys, int burst)
      : comparator_(user), memtable_(comparator_) {
    for (int i = 0; i < changes;) {
      const std::string key = RandomKey(random, keys);
      const int repeats = 1 + static_cast<int>(random() % static_cast<uint64_t>(burst));
      const bool deleting = random() % 8 == 0;
      for (int j = 0; j < repeats && i < changes; ++j, ++i) {
        const bool deletion = deleting || random() % 4 == 0;
        changes_.push_back({deletion ? ValueType::kDeletion : ValueType::kValue, key,
                            deletion ? "" : "v" + std::to_string(i)});
        memtable_.Add(static_cast<SequenceNumber>(i) + 1, changes_.back().type, key,
                      changes_.back().value);
      }
    }
  }

  static std::string RandomKey(std::mt19937_64& random, int keys) {
    const auto number = static_cast<int>(random() % static_cast<uint64_t>(keys));
    if (number == 0) return "";
    std::string key = std::string(1, static_cast<char>('a' + number % 5)) + std::to_string(number);
    if (random() % 2 == 0) key[0] = static_cast<char>(key[0] - 'a' + 'A');
    return key;
  }

  State StateAt(SequenceNumber sequence) const {
    State state(UserLess{comparator_.user()});
    for (size_t i = 0; i < sequence; ++i) {
      state.erase(changes_[i].key);  // the key's bytes are those of its last change
      if (changes_[i].type == ValueType::kValue) state[changes_[i].key] = changes_[i].value;
    }
    return state;
  }
  VectorIterator::Entries Entries() const {
    VectorIterator::Entries entries;
    const std::unique_ptr<Iterator> it = memtable_.NewIterator();
    for (it->SeekToFirst(); it->Valid(); it->Next()) entries.emplace_back(it->key(), it->value());
    return entries;
  }
  const InternalComparator& comparator() const { return comparator_; }
  const MemTable& memtable() const { return memtable_; }

 private:
  const InternalComparator comparator_;
  MemTable memtable_;
  std::vector<Change> changes_;
};

// Does the same moves on an iterator and on what it should show.
class Walker {
 public:
  Walker(const State& state, const Comparator* user, std::unique_ptr<Iterator> it,
         std::optional<std::string_view> lower, std::optional<std::string_view> upper)
      : user_(user), it_(std::move(it)), lower_(lower) {
    for (const auto& [key, value] : state) {
      if (lower.has_value() && user->Compare(key, *lower) < 0) continue;
      if (upper.has_value() && user->Compare(key, *upper) >= 0) continue;
      shown_.emplace_back(key, value);
    }
  }

  void Seek(const std::string& target) {
    it_->Seek(target);
    at_ = 0;
    while (at_ < shown_.size() && user_->Compare(shown_[at_].first, target) < 0) ++at_;
  }
  void SeekToFirst() {
    it_->SeekToFirst();
    at_ = 0;
  }
  void SeekToLast() {
    it_->SeekToLast();
    at_ = shown_.size() - 1;
  }
  void Next() {
    it_->Next();
    ++at_;
  }
  void Prev() {
    it_->Prev();
    --at_;
  }
  bool Valid() const { return at_ < shown_.size(); }
  void Check() const {
    ASSERT_TRUE(it_->status().ok());
    ASSERT_EQ(it_->Valid(), Valid());
    if (!Valid()) return;
    ASSERT_EQ(it_->key(), shown_[at_].first);
    ASSERT_EQ(it_->value(), shown_[at_].second);
  }

 private:
  const Comparator* user_;
  std::unique_ptr<Iterator> it_;
  std::optional<std::string_view> lower_;
  std::vector<std::pair<std::string, std::string>> shown_;
  size_t at_ = ~size_t{0};
};

void WalkAtRandom(Walker& walker, std::mt19937_64& random, int keys, int moves) {
  uint64_t drift = 5;
  for (int move = 0; move < moves; ++move) {
    const uint64_t choice = random() % 20;
    if (!walker.Valid() || choice == 0) {
      drift = 1 + random() % 9;
      switch (random() % 4) {
        case 0: walker.SeekToFirst(); break;
        case 1: walker.SeekToLast(); break;
        default: walker.Seek(History::RandomKey(random, keys)); break;
      }
    } else if (random() % 10 < drift) {
      walker.Next();
    } else {
      walker.Prev();
    }
    ASSERT_NO_FATAL_FAILURE(walker.Check());
  }
}

struct HistoryCase {
  const char* name;
  int changes;
  int keys;
  int burst;
  bool custom_comparator;
};

class DbIteratorModel : public testing::TestWithParam<HistoryCase> {};

TEST_P(DbIteratorModel, ShowsTheStateOfEverySequence) {
  const OddComparator odd;
  const Comparator* user = GetParam().custom_comparator ? &odd : BytewiseComparator();
  std::mt19937_64 random(base::TestSeed());
  const int keys = GetParam().keys;
  const History history(user, random, GetParam().changes, keys, GetParam().burst);
  const auto entries = history.Entries();
  for (SequenceNumber sequence = 0; sequence <= static_cast<uint64_t>(GetParam().changes);
       sequence += kSequenceStep) {
    const std::string lower = History::RandomKey(random, keys);
    const std::string upper = History::RandomKey(random, keys);
    DbIteratorOptions options;
    options.sequence = sequence;
    if (random() % 2 == 0) options.lower_bound = lower;
    if (random() % 2 == 0) options.upper_bound = upper;
    options.sample = [](std::string_view) {};
    std::unique_ptr<Iterator> internal;
    if (random() % 4 == 0) {
      internal = std::make_unique<VectorIterator>(history.comparator(), entries);
    } else {
      internal = history.memtable().NewIterator();
    }
    Walker walker(history.StateAt(sequence), user,
                  NewDbIterator(history.comparator(), std::move(internal), options),
                  options.lower_bound, options.upper_bound);
    walker.SeekToFirst();
    ASSERT_NO_FATAL_FAILURE(walker.Check());
    ASSERT_NO_FATAL_FAILURE(WalkAtRandom(walker, random, keys, 100));
  }
}

INSTANTIATE_TEST_SUITE_P(Histories, DbIteratorModel,
                         testing::Values(HistoryCase{"Empty", 0, 1, 1, false},
                                         HistoryCase{"OneKey", 120, 1, 1, false},
                                         HistoryCase{"FewKeys", 600, 8, 3, false},
                                         HistoryCase{"ManyKeys", 800, 500, 1, false},
                                         HistoryCase{"LongRuns", 800, 30, 60, false},
                                         HistoryCase{"FewKeysOddOrder", 400, 20, 3, true},
                                         HistoryCase{"LongRunsOddOrder", 500, 20, 60, true}),
                         [](const auto& test) { return test.param.name; });

TEST(DbIterator, PassesManyVersionsBySeeks) {
  const InternalComparator comparator(BytewiseComparator());
  MemTable memtable(comparator);
  SequenceNumber sequence = 0;
  for (int i = 0; i < 10000; ++i) {
    for (const char* key : {"a", "b", "c"}) {
      memtable.Add(++sequence, ValueType::kValue, key, std::to_string(i));
    }
  }
  size_t samples = 0;
  DbIteratorOptions options;
  options.sequence = sequence / 2;
  options.sample = [&](std::string_view) { ++samples; };
  const auto it = NewDbIterator(comparator, memtable.NewIterator(), options);
  for (int round = 0; round < 1000; ++round) {
    std::string seen;
    for (it->SeekToFirst(); it->Valid(); it->Next()) seen += it->key();
    for (it->SeekToLast(); it->Valid(); it->Prev()) seen += it->key();
    ASSERT_EQ(seen, "abccba");
  }
  // Some 100 entries a round of 12 bytes. All 60,000 would give 700 samples and more.
  EXPECT_LT(samples, 20u);
}

TEST(DbIterator, SamplesOnceAMebibyte) {
  const InternalComparator comparator(BytewiseComparator());
  MemTable memtable(comparator);
  const std::string value(1000, 'v');
  for (SequenceNumber i = 1; i <= 20000; ++i) {
    memtable.Add(i, ValueType::kValue, "key" + std::to_string(i), value);
  }
  size_t samples = 0;
  DbIteratorOptions options;
  options.sample = [&](std::string_view key) {
    ++samples;
    EXPECT_GE(key.size(), table::kTrailerBytes);
  };
  const auto it = NewDbIterator(comparator, memtable.NewIterator(), options);
  for (int round = 0; round < 10; ++round) {
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
  }
  EXPECT_GT(samples, 150u);  // of 194 MiB
  EXPECT_LT(samples, 240u);
}

TEST(DbIterator, SeekToItsOwnKeyStays) {
  const InternalComparator comparator(BytewiseComparator());
  MemTable memtable(comparator);
  for (SequenceNumber i = 1; i <= 300; ++i) {
    memtable.Add(i, ValueType::kValue, "key" + std::to_string(1000 + i), "");
  }
  const auto it = NewDbIterator(comparator, memtable.NewIterator(), {});
  it->Seek("key1100");
  it->Seek(it->key());
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "key1100");
  it->Prev();
  it->Seek(it->key());
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "key1099");
}

TEST(DbIterator, AKeyThatIsNoneIsCorruption) {
  const InternalComparator comparator(BytewiseComparator());
  std::string bad_type = MakeInternalKey("b", 5, ValueType::kValue);
  bad_type[bad_type.size() - table::kTrailerBytes] = 7;
  const VectorIterator::Entries entries = {{MakeInternalKey("a", 1, ValueType::kValue), "1"},
                                           {bad_type, "2"},
                                           {MakeInternalKey("c", 1, ValueType::kValue), "3"}};
  for (const bool forward : {true, false}) {
    const auto it =
        NewDbIterator(comparator, std::make_unique<VectorIterator>(comparator, entries), {});
    if (forward) {
      it->SeekToFirst();
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), "a");
      it->Next();
    } else {
      it->SeekToLast();
    }
    EXPECT_FALSE(it->Valid());
    EXPECT_EQ(it->status().code(), Code::kCorruption);
  }
  const auto it = NewDbIterator(
      comparator, std::make_unique<VectorIterator>(comparator, VectorIterator::Entries{{"x", ""}}),
      {});
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(it->status().code(), Code::kCorruption);
}

TEST(DbIterator, AnErrorBelowNeverShowsAnOldVersion) {
  const InternalComparator comparator(BytewiseComparator());
  VectorIterator::Entries entries;
  for (int key = 0; key < 10; ++key) {
    for (SequenceNumber sequence = 25; sequence > 0; --sequence) {
      entries.emplace_back(
          MakeInternalKey("key" + std::to_string(key), sequence, ValueType::kValue),
          std::to_string(sequence));
    }
  }
  for (int fail_after = 0; fail_after < 400; ++fail_after) {
    for (const bool forward : {true, false}) {
      DbIteratorOptions options;
      options.sequence = 22;
      const auto it = NewDbIterator(
          comparator, std::make_unique<VectorIterator>(comparator, entries, fail_after), options);
      int shown = 0;
      for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
           forward ? it->Next() : it->Prev()) {
        ASSERT_EQ(it->value(), "22");
        ++shown;
      }
      if (it->status().ok()) {
        ASSERT_EQ(shown, 10);
      }
    }
  }
}

TEST(DbIterator, LargeValuesBackwardsAreShownAndLetGo) {
  const InternalComparator comparator(BytewiseComparator());
  MemTable memtable(comparator);
  const std::string large(5u << 20, 'l');
  memtable.Add(1, ValueType::kValue, "a", "small");
  memtable.Add(2, ValueType::kValue, "b", large);
  memtable.Add(3, ValueType::kValue, "c", "small");
  const auto it = NewDbIterator(comparator, memtable.NewIterator(), {});
  it->SeekToLast();
  EXPECT_EQ(it->value(), "small");
  it->Prev();
  EXPECT_EQ(it->value(), large);
  it->Prev();
  EXPECT_EQ(it->value(), "small");
  it->Next();
  EXPECT_EQ(it->value(), large);
  it->Prev();
  it->Prev();
  EXPECT_FALSE(it->Valid());
}

TEST(DbIterator, KeepsWhatItReadsFrom) {
  const InternalComparator comparator(BytewiseComparator());
  auto memtable = std::make_shared<MemTable>(comparator);
  memtable->Add(1, ValueType::kValue, "key", "value");
  DbIteratorOptions options;
  options.keep = memtable;
  auto it = NewDbIterator(comparator, memtable->NewIterator(), options);
  options.keep.reset();
  const std::weak_ptr<MemTable> watch = memtable;
  memtable.reset();
  it->SeekToFirst();
  EXPECT_EQ(it->value(), "value");
  it.reset();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace weft::lsm
