// Threads that insert, delete, replace and displace the same few keys in a table that hardly holds
// them. Meant for the thread and address sanitizers as much as for plain builds.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <thread>

#include "task/insert.h"
#include "task/table_test_kit.h"

namespace weft::task {
namespace {

struct Shape {
  u64 buckets;
  u64 distinct_hashes;  // few: tags and buckets collide
  u32 policy;
};

class Storm {
 public:
  static constexpr u32 kAnchors = 8, kLocks = 6;

  explicit Storm(const Shape& shape)
      : shape_(shape), log_(size_t{256} << 20), index_(shape.policy, shape.buckets) {
    for (u32 i = 0; i < kAnchors + kLocks; i++) {
      keys_.push_back("key" + std::to_string(i));
      hashes_.push_back((base::HashBytes(keys_[i]) % shape.distinct_hashes) * 0x9e3779b97f4a7c15u);
    }
    for (u32 i = 0; i < kAnchors; i++)
      WEFT_CHECK(index_.Put(log_, hashes_[i], keys_[i], log_.Add(keys_[i])).status == kInsertDone);
  }

  // A key that is always there is always found, whatever happens to it.
  void ReadAnchors(std::mt19937_64& random) {
    const u32 i = random() % kAnchors;
    const Found found = index_.Get(log_, hashes_[i], keys_[i]);
    ASSERT_NE(found.slot, nullptr) << keys_[i];
    ASSERT_EQ(log_.KeyAt(SlotLocation(found.word)), keys_[i]);
    NoteAccess(found.slot, found.word);
  }

  void ReplaceAnchor(std::mt19937_64& random) {
    const u32 i = random() % kAnchors;
    const Found found = index_.Get(log_, hashes_[i], keys_[i]);
    ASSERT_NE(found.slot, nullptr);
    if (SlotState(found.word) != kSlotLive) return;
    ReplaceEntry(found.slot, found.word, WithLocation(found.word, log_.Add(keys_[i], "next")));
  }

  // An insert that says it is done is the only one of its key until the entry is deleted: the
  // index serves as a lock here.
  void LockAndUnlock(std::mt19937_64& random) {
    const u32 i = static_cast<u32>(kAnchors + random() % kLocks);
    if (index_.Put(log_, hashes_[i], keys_[i], log_.Add(keys_[i])).status != kInsertDone) return;
    ASSERT_EQ(holders_[i].fetch_add(1), 0) << keys_[i];
    for (;;) {
      const Found found = index_.Get(log_, hashes_[i], keys_[i]);
      ASSERT_NE(found.slot, nullptr) << keys_[i];
      if (SlotState(found.word) != kSlotLive) continue;
      if (random() % 2 == 0) {
        const u64 next = log_.Add(keys_[i], "held");
        if (!ReplaceEntry(found.slot, found.word, WithLocation(found.word, next))) continue;
        ASSERT_EQ(SlotLocation(index_.Get(log_, hashes_[i], keys_[i]).word), next);
        continue;
      }
      holders_[i].fetch_sub(1);
      if (Delete(log_.ref(), found)) return;
      holders_[i].fetch_add(1);
    }
  }

  void Displace(std::mt19937_64& random) {
    if (shape_.policy != kPolicyCuckoo) return;
    const TableRef table = index_.ref().older;
    if (random() % 4 == 0)
      MoveOneOutDeeply(index_.ref(), table, random() % table.bucket_count);
    else
      MoveOneOut(index_.ref(), table, random() % table.bucket_count);
  }

  void Run(u32 rounds) {
    std::vector<std::thread> threads;
    for (u32 t = 0; t < 6; t++) {
      threads.emplace_back([this, t, rounds] {
        std::mt19937_64 random(TestSeed() * 64 + t);
        for (u32 i = 0; i < rounds && !testing::Test::HasFatalFailure(); i++) {
          const u32 what = random() % 8;
          if (t == 0 || what < 3) Displace(random);
          if (t == 1 || what == 3) ReadAnchors(random);
          if (t > 1 && what == 4) ReplaceAnchor(random);
          if (t > 1 && what > 4) LockAndUnlock(random);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // With everybody gone: each anchor once, nothing else, nothing half done.
  void CheckQuiet() {
    std::map<std::string, u32> seen;
    for (const u64 word : index_.Words()) {
      EXPECT_EQ(SlotState(word), kSlotLive);
      seen[std::string(log_.KeyAt(SlotLocation(word)))]++;
    }
    EXPECT_EQ(seen.size(), size_t{kAnchors});
    for (u32 i = 0; i < kAnchors; i++) EXPECT_EQ(seen[keys_[i]], 1u) << keys_[i];
  }

 private:
  const Shape shape_;
  TestLog log_;
  TestIndex index_;
  std::vector<std::string> keys_;
  std::vector<u64> hashes_;
  std::array<std::atomic<int>, kAnchors + kLocks> holders_{};
};

TEST(Concurrency, KeysAreNeverMissedNorDoubledInATinyTable) {
  for (const Shape& shape : {Shape{2, 1u << 20, kPolicyCuckoo}, Shape{3, 1u << 20, kPolicyCuckoo},
                             Shape{4, 1, kPolicyCuckoo}, Shape{5, 3, kPolicyCuckoo},
                             Shape{4, 4, kPolicySetAssociative}}) {
    Storm storm(shape);
    storm.Run(Rounds(400000));
    storm.CheckQuiet();
    if (HasFailure()) {
      ADD_FAILURE() << shape.buckets << " buckets, " << shape.distinct_hashes << " hashes, policy "
                    << shape.policy;
    }
  }
}

}  // namespace
}  // namespace weft::task
