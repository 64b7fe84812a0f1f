#include "base/clock.h"
#include "pipeline/runner_test_kit.h"
#include "task/search.h"

namespace weft::pipeline {
namespace {

// Keeps what the batch counted.
class CountingRunner : public Runner {
 public:
  using Runner::Runner;

  uint32_t misses = 0;
  uint64_t value_bytes = 0;

  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) override {
    Runner::Write(batch, begin, end, session);
    misses = batch.misses();
    value_bytes = batch.ReplyValueBytes();
  }
};

TEST(CpuStageReads, OfSeveralKindsAndTwoSourcesInARow) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("plain", "v1");
  client.Set("ended", "gone", base::NowSeconds());
  Command flagged = Client::Of(Verb::kStore, "flagged");
  flagged.value = "v2";
  flagged.client_flags = 7;
  client.Run(flagged);
  CountingRunner runner(store.get());
  // It has room for a hit and a miss.
  const uint32_t narrow = runner.batch().AddSource(2 * Batch::kReplyBytes + 5 + 2 + 7);
  runner.Read("plain");
  runner.Read(narrow, "plain");
  runner.Read("ended");
  runner.Read(narrow, "missing");
  runner.Read("missing");
  runner.Read(narrow, "flagged");  // it finds no room
  runner.Read("flagged");
  runner.Read(narrow, "missing");  // it would, but may not overtake
  runner.Read("plain");
  const std::vector<QueryResult>& results = runner.Run();
  for (const size_t i : {0, 1, 8}) EXPECT_EQ(results[i].value, "v1") << i;
  for (const size_t i : {2, 3, 4}) EXPECT_EQ(results[i].reply.outcome, Outcome::kMiss) << i;
  EXPECT_EQ(results[2].reply.miss, cache::Miss::kExpired);
  EXPECT_EQ(results[6].value, "v2");
  EXPECT_EQ(results[6].reply.client_flags, 7u);
  for (const size_t i : {5, 7}) EXPECT_EQ(results[i].state, QueryState::kSkipped) << i;
  EXPECT_EQ(runner.misses, 3u);
  EXPECT_EQ(runner.value_bytes, 8u);
}

// Whether an access is noted and a hit is counted follows no pattern of the batches.
TEST(CpuStageReads, OfBatchesThatAreAlikeAreNotedAndCountedAsOthersAre) {
  constexpr int kBatches = 256, kReads = 4;
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("read", "v");
  Runner runner(store.get());
  for (int b = 0; b < kBatches; b++) {
    for (int i = 0; i < kReads; i++) {
      runner.Read("read");
      runner.Set("written", "v");
    }
    runner.Run();
  }
  cache::Session& session = runner.session();
  session.Begin();
  const task::Found found =
      task::Find(session.index(), session.log(), cache::TaskKey("read", store->HashOf("read")));
  session.End();
  ASSERT_NE(found.slot, nullptr);
  EXPECT_EQ(task::SlotRecency(found.word), uint64_t{kRecencyMax});
  const cache::SessionCounters& counters = session.counters();
  EXPECT_EQ(counters.young_hits.value() + counters.main_hits.value(), kBatches * kReads / 64u);
}

}  // namespace
}  // namespace weft::pipeline
