#include "lsm/snapshot_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/seed_test_kit.h"

namespace weft::lsm {
namespace {

TEST(SnapshotList, OldestIsTheLowestThatIsHeld) {
  std::mt19937_64 random(base::TestSeed());
  SnapshotList list;
  EXPECT_TRUE(list.empty());
  std::vector<const Snapshot*> held;
  table::SequenceNumber sequence = 1;
  for (int i = 0; i < 10000; ++i) {
    if (held.empty() || random() % 2 == 0) {
      sequence += random() % 3;  // several snapshots of one sequence are several
      held.push_back(list.New(sequence));
      ASSERT_EQ(held.back()->sequence(), sequence);
    } else {
      const auto at = held.begin() + static_cast<std::ptrdiff_t>(random() % held.size());
      list.Delete(*at);
      held.erase(at);
    }
    ASSERT_EQ(list.empty(), held.empty());
    if (held.empty()) continue;
    const auto oldest = std::ranges::min_element(held, {}, &Snapshot::sequence);
    ASSERT_EQ(list.oldest(), (*oldest)->sequence());
  }
  for (const Snapshot* snapshot : held) list.Delete(snapshot);
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace weft::lsm
