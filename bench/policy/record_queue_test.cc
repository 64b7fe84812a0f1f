// Threads   one.
#include "bench/policy/record_queue.h"

#include <gtest/gtest.h>

#include "bench/policy/policy_test_kit.h"

namespace weft::bench {
namespace {

std::vector<uint32_t> RecordsIn(const RecordQueue& queue) {
  std::vector<uint32_t> records;
  for (uint32_t record = queue.oldest(); record != RecordQueue::kNone;
       record = queue.YoungerThan(record))
    records.push_back(record);
  return records;
}

TEST(RecordQueue, OldestButPassesOverOne) {
  std::vector<RecordNode> nodes(4);
  RecordQueue queue(nodes, 1);
  EXPECT_EQ(queue.OldestBut(RecordQueue::kNone), RecordQueue::kNone);
  EXPECT_EQ(queue.OldestBut(2), RecordQueue::kNone);
  queue.Push(2, 10);
  EXPECT_EQ(queue.OldestBut(2), RecordQueue::kNone);
  EXPECT_EQ(queue.OldestBut(RecordQueue::kNone), 2u);
  queue.Push(3, 10);
  EXPECT_EQ(queue.OldestBut(2), 3u);
  EXPECT_EQ(queue.OldestBut(3), 2u);
}

TEST(RecordQueue, TwoQueuesPlayAsTheirModels) {
  constexpr uint32_t kRecords = 12;
  base::Random random(base::TestSeed(2));
  std::vector<RecordNode> nodes(kRecords);
  RecordQueue first(nodes, 1), second(nodes, 2);
  NaiveQueue first_model, second_model;
  for (uint32_t i = 0; i < base::Rounds(20'000); ++i) {
    const auto record = static_cast<uint32_t>(random.Below(kRecords));
    const auto bytes = static_cast<uint32_t>(random.Below(100));
    const bool is_second = random.Below(2) == 1;
    RecordQueue& queue = is_second ? second : first;
    NaiveQueue& model = is_second ? second_model : first_model;
    const uint64_t action = random.Below(3);
    NaiveObject* const found = model.Find(record);
    ASSERT_EQ(queue.Has(record), found != nullptr);
    if (found == nullptr) {
      if (nodes[record].queue != 0) continue;
      queue.Push(record, bytes);
      model.Push({record, bytes});
    } else if (action == 0) {
      queue.Remove(record);
      model.Remove(record);
    } else if (action == 1) {
      queue.Resize(record, bytes);
      found->bytes = bytes;
    } else {
      const NaiveObject object = *found;
      queue.Refresh(record);
      model.Remove(record);
      model.Push(object);
    }
    std::vector<uint32_t> expected;
    for (const NaiveObject& object : model.objects()) expected.push_back(object.record);
    ASSERT_EQ(RecordsIn(queue), expected);
    ASSERT_EQ(queue.bytes(), model.bytes());
  }
}

}  // namespace
}  // namespace weft::bench
