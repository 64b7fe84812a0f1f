// Several threads add, read and walk one memtable at once. The thread sanitizer's build looks for
// races in the same runs.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/seed_test_kit.h"
#include "lsm/memtable.h"
#include "lsm/memtable_test_kit.h"

namespace weft::lsm {
namespace {

using table::InternalComparator;
using table::SequenceNumber;
using table::ValueType;

constexpr int kWriters = 4;
#ifdef WEFT_SANITIZED
constexpr uint64_t kKeysPerWriter = 1500;
#else
constexpr uint64_t kKeysPerWriter = 20000;
#endif

// A writer's n-th key: of all writers' keys mixed together (bijective, so none comes twice).
std::string ScatteredKey(uint64_t writer, uint64_t n) {
  const uint64_t number = (n * kWriters + writer) * 2654435761u % (uint64_t{1} << 32);
  char text[32];
  std::snprintf(text, sizeof text, "%016llu", static_cast<unsigned long long>(number));
  return text;
}
// All writers append to the end, nearly in order.
std::string AscendingKey(uint64_t writer, uint64_t n) {
  char text[32];
  std::snprintf(text, sizeof text, "%016llu",
                static_cast<unsigned long long>(n * kWriters + writer));
  return text;
}
// Versions of few keys.
std::string HotKey(uint64_t writer, uint64_t n) {
  return "hot/" + std::to_string((n + writer) % 7);
}

using KeyOf = std::string (*)(uint64_t writer, uint64_t n);

SequenceNumber SequenceOf(uint64_t writer, uint64_t n) { return n * kWriters + writer + 1; }

struct SharedRun {
  explicit SharedRun(const Comparator* user) : comparator(user), memtable(comparator) {}

  InternalComparator comparator;
  MemTable memtable;
  KeyOf key_of = nullptr;
  // How many of its keys each writer has added: raised after Add.
  std::atomic<uint64_t> added[kWriters] = {};
  std::atomic<int> writing{kWriters};
};

void Write(SharedRun* run, uint64_t writer) {
  for (uint64_t n = 0; n < kKeysPerWriter; ++n) {
    const SequenceNumber sequence = SequenceOf(writer, n);
    run->memtable.Add(sequence, ValueType::kValue, run->key_of(writer, n),
                      std::to_string(sequence));
    run->added[writer].store(n + 1);
  }
  run->writing.fetch_sub(1);
}

void ReadAdded(SharedRun* run, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string value;
  while (run->writing.load() > 0) {
    const uint64_t writer = random() % kWriters;
    const uint64_t added = run->added[writer].load();
    if (added == 0) continue;
    const uint64_t n = random() % added;
    const std::string key = run->key_of(writer, n);
    const MemTable& memtable = run->memtable;
    const MemTableTree::Way way = memtable.Approach(key, SequenceOf(writer, n));
    ASSERT_EQ(memtable.Get(key, SequenceOf(writer, n), &value), MemTable::Found::kValue);
    ASSERT_EQ(value, std::to_string(SequenceOf(writer, n)));
    const char* entry = memtable.Locate(key, SequenceOf(writer, n), &way);
    ASSERT_EQ(memtable.Read(entry, key, &value), MemTable::Found::kValue);
    ASSERT_EQ(value, std::to_string(SequenceOf(writer, n)));
  }
}

// Walks the whole memtable and counts what must be there: all that was added before it began.
void Walk(SharedRun* run, bool forward) {
  bool more = true;
  while (more) {
    more = run->writing.load() > 0;
    uint64_t added_before[kWriters];
    for (int i = 0; i < kWriters; ++i) added_before[i] = run->added[i].load();
    uint64_t seen[kWriters] = {};
    const std::unique_ptr<Iterator> it = run->memtable.NewIterator();
    std::string last;
    if (forward) {
      it->SeekToFirst();
    } else {
      it->SeekToLast();
    }
    while (it->Valid()) {
      if (!last.empty()) {
        const int order = run->comparator.Compare(it->key(), last);
        ASSERT_TRUE(forward ? order > 0 : order < 0);
      }
      last = it->key();
      const uint64_t sequence = table::Trailer(it->key()) >> 8;
      ASSERT_EQ(it->value(), std::to_string(sequence));
      const uint64_t writer = (sequence - 1) % kWriters;
      if ((sequence - 1) / kWriters < added_before[writer]) ++seen[writer];
      if (forward) {
        it->Next();
      } else {
        it->Prev();
      }
    }
    for (int i = 0; i < kWriters; ++i) ASSERT_EQ(seen[i], added_before[i]);
  }
}

// Goes to and fro around random places.
void Wander(SharedRun* run, uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::unique_ptr<Iterator> it = run->memtable.NewIterator();
  while (run->writing.load() > 0) {
    const uint64_t writer = random() % kWriters;
    const uint64_t added = run->added[writer].load();
    if (added == 0) continue;
    const uint64_t n = random() % added;
    const std::string key =
        table::MakeInternalKey(run->key_of(writer, n), SequenceOf(writer, n), table::kTypeForSeek);
    it->Seek(key);
    ASSERT_TRUE(it->Valid());
    ASSERT_EQ(it->key(), key);
    std::string last = key;
    for (int step = 0; step < 100; ++step) {
      const bool forward = random() % 4 != 0;
      if (forward) {
        it->Next();
      } else {
        it->Prev();
      }
      if (!it->Valid()) break;
      const int order = run->comparator.Compare(it->key(), last);
      ASSERT_TRUE(forward ? order > 0 : order < 0);
      last = it->key();
    }
  }
}

struct ConcurrencyCase {
  const char* name;
  KeyOf key_of;
  bool custom_comparator;
};

class MemTableConcurrency : public testing::TestWithParam<ConcurrencyCase> {};

TEST_P(MemTableConcurrency, ReadersSeeAllThatWasAddedBefore) {
  const ReverseComparator reverse;
  SharedRun run(GetParam().custom_comparator ? &reverse : BytewiseComparator());
  run.key_of = GetParam().key_of;
  const uint64_t seed = base::TestSeed();
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kWriters; ++i) threads.emplace_back(Write, &run, i);
  threads.emplace_back(ReadAdded, &run, seed);
  threads.emplace_back(Walk, &run, true);
  threads.emplace_back(Walk, &run, false);
  threads.emplace_back(Wander, &run, seed + 1);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(run.memtable.entries(), kWriters * kKeysPerWriter);
}

INSTANTIATE_TEST_SUITE_P(Keys, MemTableConcurrency,
                         testing::Values(ConcurrencyCase{"Scattered", ScatteredKey, false},
                                         ConcurrencyCase{"Ascending", AscendingKey, false},
                                         ConcurrencyCase{"Hot", HotKey, false},
                                         ConcurrencyCase{"ScatteredReverse", ScatteredKey, true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace weft::lsm
