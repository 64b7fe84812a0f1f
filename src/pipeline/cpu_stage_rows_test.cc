// Plain reads and plain sets in rows, where the sets fill holes.
#include <map>
#include <thread>

#include "base/random.h"
#include "pipeline/runner_test_kit.h"
#include "task/log.h"

namespace weft::pipeline {
namespace {

class Rows : public testing::Test {
 protected:
  static constexpr uint32_t kKeys = 300;

  // Each key twice or more, so that there are holes.
  void SetUp() override {
    for (uint32_t round = 0; round < 4; round++) {
      for (uint32_t i = 0; i < kKeys; i++) runner_.Set(KeyOf(i), "value0");
      runner_.Run();
    }
    ASSERT_GT(runner_.session().hole_units(), 0u);
  }
  const std::string& KeyOf(uint32_t i) {
    if (keys_.empty())
      for (uint32_t n = 0; n < kKeys; n++) keys_.push_back("key" + std::to_string(1000 + n));
    return keys_[i];
  }

  std::vector<std::string> keys_;
  const std::unique_ptr<cache::Store> store_ = cache::OpenFillingStore();
  Runner runner_{store_.get()};
};

TEST_F(Rows, EachSeesWhatStandsBeforeIt) {
  for (uint32_t i = 0; i < 100; i++) {
    runner_.Read(KeyOf(i));
    runner_.Set(KeyOf(i), "value1");
    runner_.Set(KeyOf(i), "value2");
    runner_.Read(KeyOf(i));
    runner_.Read(KeyOf(i + 1));
    runner_.Set(KeyOf(i), "longer than those before it");
    runner_.Read(KeyOf(i));
    runner_.Set(KeyOf(i), "value3");
  }
  runner_.Run();
  for (size_t i = 0; i < 100; i++) {
    EXPECT_EQ(runner_.result(8 * i).value, "value0");
    EXPECT_EQ(runner_.result(8 * i + 3).value, "value2");
    EXPECT_EQ(runner_.result(8 * i + 4).value, "value0");
    EXPECT_EQ(runner_.result(8 * i + 6).value, "longer than those before it");
    for (const size_t set : {1, 2, 5, 7}) {
      EXPECT_EQ(runner_.result(8 * i + set).reply.outcome, Outcome::kStored);
      EXPECT_NE(runner_.result(8 * i + set).reply.published, 0u);
    }
  }
  EXPECT_GT(runner_.session().counters().overwritten.value(), 250u) << "the others are longer";
  for (uint32_t i = 0; i < 100; i++) runner_.Read(KeyOf(i));
  for (const QueryResult& result : runner_.Run()) EXPECT_EQ(result.value, "value3");
}

// What the batch before left in the reply's place does not show.
TEST_F(Rows, RepliesAreNew) {
  Command command = Client::Of(Verb::kStore, KeyOf(0));
  command.value = "value1";
  command.want_cas = true;
  runner_.Add(command);
  runner_.Run();
  EXPECT_NE(runner_.result(0).reply.cas, 0u);
  runner_.Set(KeyOf(1), "value1");
  runner_.Run();
  EXPECT_EQ(runner_.result(0).reply.outcome, Outcome::kStored);
  EXPECT_EQ(runner_.result(0).reply.cas, 0u);
  EXPECT_TRUE(runner_.result(0).reply.value.empty());
}

TEST_F(Rows, AReplyTakesRoomAndWaitsForIt) {
  const int64_t reply = Batch::kReplyBytes + 2 * static_cast<int64_t>(KeyOf(0).size());
  const uint32_t little = runner_.batch().AddSource(3 * reply);
  const uint32_t much = runner_.batch().AddSource(kMuchRoom);
  for (uint32_t i = 0; i < 6; i++) {
    runner_.Set(little, KeyOf(i), "value1");
    runner_.Set(much, KeyOf(i + 6), "value1");
  }
  runner_.Run();
  for (uint32_t i = 0; i < 6; i++) {
    const QueryState expected = i < 3 ? QueryState::kDone : QueryState::kSkipped;
    EXPECT_EQ(runner_.result(2 * i).state, expected);
    EXPECT_EQ(runner_.result(2 * i + 1).state, QueryState::kDone);
  }
  for (uint32_t i = 0; i < 12; i++) runner_.Read(KeyOf(i));
  runner_.Run();
  for (uint32_t i = 0; i < 12; i++)
    EXPECT_EQ(runner_.result(i).value, i >= 3 && i < 6 ? "value0" : "value1");
}

// Plain reads of a source that shows versions mark what they find, as other reads with a version
// do.
TEST_F(Rows, VersionsThatAreShownLast) {
  const auto version = [&](uint32_t i) {
    Command command = Client::Of(Verb::kRead, KeyOf(i));
    command.want_cas = true;
    runner_.Add(command);
    return runner_.Run()[0].reply.cas;
  };
  const uint64_t before = runner_.session().counters().overwritten.value();
  const uint32_t shows = runner_.batch().AddSource(kMuchRoom);
  const uint32_t does_not = runner_.batch().AddSource(kMuchRoom);
  runner_.batch().ShowVersionsTo(shows);
  std::vector<uint64_t> shown;
  for (uint32_t i = 0; i < 40; i++) runner_.Read(i < 20 ? shows : does_not, KeyOf(i));
  runner_.Run();
  for (uint32_t i = 0; i < 40; i++) {
    const cache::InBatch batch(runner_.session());
    const task::Found found = runner_.Find(KeyOf(i));
    ASSERT_NE(found.slot, nullptr);
    const task::Object* const object = runner_.session().ObjectAt(task::SlotLocation(found.word));
    EXPECT_EQ((object->access & kAccessCasSeen) != 0, i < 20) << i;
    shown.push_back(task::CasOf(runner_.session().log(), task::SlotLocation(found.word)));
  }
  for (uint32_t i = 0; i < 40; i++) runner_.Set(KeyOf(i), "value1");
  runner_.Run();
  EXPECT_EQ(runner_.session().counters().overwritten.value() - before, 20u)
      << "only what was not shown is written over";
  for (uint32_t i = 0; i < 20; i++) EXPECT_GT(version(i), shown[i]) << i;
}

// Readers are shown versions while others store, so that objects are moved and replaced below them.
// No version of a key is shown with two values.
TEST(RowsByMany, AVersionHasOneValue) {
  const auto store = cache::OpenFillingStore();
  constexpr uint64_t kKeys = 40, kThreads = 3;
  std::vector<std::map<std::pair<uint64_t, uint64_t>, std::string>> shown(kThreads);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      Runner runner(store.get());
      base::Random random(cache::TestSeed() * 16 + t);
      for (uint64_t n = 0; n < cache::Rounds(4000); n++) {
        std::vector<std::string> keys(32), values(32);
        std::vector<uint64_t> numbers(32);
        const uint32_t source = runner.batch().AddSource(kMuchRoom);
        runner.batch().ShowVersionsTo(source);
        for (uint64_t i = 0; i < keys.size(); i++) {
          numbers[i] = random.Below(kKeys);
          keys[i] = cache::Key(numbers[i]);
          values[i] = std::to_string(t) + "." + std::to_string(n) + "." + std::to_string(i);
          values[i].resize(40, '.');
          if (random.Below(3) == 0) {
            runner.Read(source, keys[i]);
          } else {
            runner.Set(source, keys[i], values[i]);
          }
        }
        const std::vector<QueryResult>& results = runner.Run();
        for (size_t i = 0; i < results.size(); i++) {
          if (results[i].version == 0) continue;
          const auto [at, is_new] =
              shown[t].try_emplace({numbers[i], results[i].version}, results[i].value);
          ASSERT_EQ(at->second, results[i].value) << keys[i] << " " << results[i].version;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t seen = 0;
  for (uint64_t t = 1; t < kThreads; t++) {
    for (const auto& [version, value] : shown[t]) {
      const auto [at, is_new] = shown[0].try_emplace(version, value);
      ASSERT_EQ(at->second, value) << version.first << " " << version.second;
      seen += is_new ? 0 : 1;
    }
  }
  EXPECT_GT(seen, 0u) << "threads have seen the same versions";
}

// The time of a row is estimated at times, but never above what its group took.
TEST_F(Rows, ChangesHaveTheirOwnTasks) {
  const TaskTimes& times = runner_.times();
  const auto queries = [&](Task task) { return times.queries[static_cast<size_t>(task)].value(); };
  const auto ticks = [&](Task task) { return times.time_ticks[static_cast<size_t>(task)].value(); };
  const uint64_t inserts = queries(Task::kInsert), deletes = queries(Task::kDelete);
  const uint64_t compares = queries(Task::kCompare);
  for (uint32_t round = 0; round < 100; round++) {
    const uint64_t before = ticks(Task::kCompare);
    const uint64_t inserting = ticks(Task::kInsert);
    const uint64_t start = base::ReadTicks();
    for (uint32_t i = 0; i < 40; i++) {
      runner_.Read(KeyOf(i));
      runner_.Set(KeyOf(i), "value1");
      if (i % 8 == 0) runner_.Set(KeyOf(200), "another length of value");
    }
    runner_.Add(Client::Of(Verb::kDelete, KeyOf(200)));
    runner_.Run();
    const uint64_t all = base::ReadTicks() - start;
    EXPECT_LE(ticks(Task::kCompare) - before, all) << "below 0 it is a very large number";
    EXPECT_LE(ticks(Task::kInsert) - inserting, all);
    EXPECT_GT(ticks(Task::kInsert), inserting);
  }
  EXPECT_EQ(queries(Task::kInsert) - inserts, 100u * 45);
  EXPECT_EQ(queries(Task::kDelete) - deletes, 100u);
  EXPECT_EQ(queries(Task::kCompare) - compares, 100u * 86);
}

}  // namespace
}  // namespace weft::pipeline
