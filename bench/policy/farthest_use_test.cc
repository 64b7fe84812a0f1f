// Threads   one.
#include "bench/policy/farthest_use.h"

#include <map>

#include <gtest/gtest.h>

#include "bench/policy/policy_test_kit.h"

namespace weft::bench {
namespace {

TEST(FarthestUse, FarthestIsThatOfAMap) {
  constexpr uint32_t kRecords = 200;
  base::Random random(base::TestSeed(6));
  FarthestUse uses(kRecords);
  std::map<uint32_t, uint32_t> next_use, record_at;
  for (uint32_t i = 0; i < base::Rounds(100'000); ++i) {
    const auto record = static_cast<uint32_t>(random.Below(kRecords));
    const auto use = static_cast<uint32_t>(random.Below(1'000'000));
    ASSERT_EQ(uses.Has(record), next_use.contains(record));
    if (const auto old = next_use.find(record); old != next_use.end()) record_at.erase(old->second);
    // More leave than enter in some stretches, so that it is empty at times.
    if (random.Below(100) < (i / 1000 % 2 == 0 ? 90u : 20u)) {
      if (record_at.contains(use)) {
        if (uses.Has(record)) uses.Remove(record);
        next_use.erase(record);
        continue;
      }
      uses.Put(record, use);
      next_use[record] = use;
      record_at[use] = record;
    } else if (uses.Has(record)) {
      uses.Remove(record);
      next_use.erase(record);
    }
    ASSERT_EQ(uses.empty(), record_at.empty());
    if (!uses.empty()) {
      ASSERT_EQ(uses.farthest(), record_at.rbegin()->second);
    }
  }
}

}  // namespace
}  // namespace weft::bench
