// task/table_test_kit.h: an index and a log small enough to look through, for tests of the tasks.
//
// Nothing is ever freed, so tests need no epochs. Threads: Add may be called from any.
#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/seed_test_kit.h"
#include "task/delete.h"
#include "task/insert.h"

namespace weft::task {

using base::TestSeed;

// Its two buckets differ in an index of 8.
inline constexpr u64 kHash = 0x1234'3000'0000'0000;

// Rounds of a randomized test: a tenth in sanitized builds, ten times with WEFT_LONG=1.
inline uint32_t Rounds(uint32_t rounds) {
  static const bool is_long = std::getenv("WEFT_LONG") != nullptr;
  if (is_long) return rounds * 10;
#ifdef WEFT_SANITIZED
  return rounds / 10 + 1;
#else
  return rounds;
#endif
}

inline const u8* Bytes(std::string_view text) { return reinterpret_cast<const u8*>(text.data()); }

// A log that objects are laid out in by hand.
class TestLog {
 public:
  explicit TestLog(uint64_t bytes = 1 << 20)
      : units_(bytes / 8),
        words_(static_cast<u64*>(std::calloc(units_, 8)), std::free),
        bases_(1, 0) {}

  LogRef ref() const {
    return {reinterpret_cast<u8*>(words_.get()), bases_.data(), 0, 63, 0, nullptr, nullptr};
  }

  // Location of a new object without extensions.
  u64 Add(std::string_view key, std::string_view value = "v") {
    const u64 bytes = (8 + key.size() + value.size() + 7) & ~u64{7};
    const u64 location = next_.fetch_add(bytes / 8);
    WEFT_CHECK(location + bytes / 8 <= units_);
    Object* object = ObjectAt(ref(), location);
    object->shape = static_cast<u32>(key.size() << kShapeKeyShift | value.size());
    u8* at = reinterpret_cast<u8*>(object) + sizeof(Object);
    std::memcpy(at, key.data(), key.size());
    std::memcpy(at + key.size(), value.data(), value.size());
    return location;
  }
  std::string_view KeyAt(u64 location) const {
    const Object* object = ObjectAt(ref(), location);
    return {reinterpret_cast<const char*>(KeyOf(object)), KeyBytes(object->shape)};
  }

 private:
  const u64 units_;
  const std::unique_ptr<u64, void (*)(void*)> words_;
  const std::vector<u64> bases_;
  std::atomic<u64> next_{1};  // location 0 names no object
};

// An index of one table, or of two as while it grows.
class TestIndex {
 public:
  TestIndex(u32 policy, u64 buckets, u64 newer_buckets = 0)
      : older_(buckets), newer_(newer_buckets), moves_(kMoveStripes, 0) {
    ref_ = {{older_.data(), buckets}, {nullptr, 0}, moves_.data(), policy, 0, nullptr, nullptr};
    if (newer_buckets != 0) {
      ref_.newer = {newer_.data(), newer_buckets};
      ref_.insert_newer = 1;
    }
  }

  const IndexRef& ref() const { return ref_; }
  IndexRef& ref() { return ref_; }

  Inserted Put(TestLog& log, u64 hash, std::string_view key, u64 location, bool may_drop = false) {
    return Insert(ref_, log.ref(), {hash, Bytes(key), static_cast<u32>(key.size())}, location,
                  may_drop);
  }
  Found Get(const TestLog& log, u64 hash, std::string_view key) const {
    return Find(ref_, log.ref(), {hash, Bytes(key), static_cast<u32>(key.size())});
  }
  // Every slot in use, both tables.
  std::vector<u64> Words() const {
    std::vector<u64> words;
    for (const auto* table : {&older_, &newer_})
      for (const Bucket& bucket : *table)
        for (const u64 word : bucket.slots)
          if (word != kSlotEmpty) words.push_back(word);
    return words;
  }

 private:
  // Buckets are read by vectors, so each must lie on its line.
  template <typename T>
  struct LineAllocator {
    using value_type = T;
    LineAllocator() = default;
    template <typename U>
    LineAllocator(const LineAllocator<U>&) {}  // NOLINT: as the standard asks
    T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
    void deallocate(T* at, size_t) { ::operator delete(at, kLine); }
    bool operator==(const LineAllocator&) const { return true; }
    static constexpr std::align_val_t kLine{64};
  };

  std::vector<Bucket, LineAllocator<Bucket>> older_, newer_;
  std::vector<u32> moves_;
  IndexRef ref_;
};

// A hash of the test's making: tag and fraction of the table.
inline u64 HashOf(u64 tag, u64 low48) { return tag << 48 | (low48 & ((1ul << 48) - 1)); }

}  // namespace weft::task
