#include "pipeline/runner_test_kit.h"

#include <map>

#include "pipeline/wants.h"

namespace weft::pipeline {
namespace {

TEST(CpuStage, SourceWithoutRoomIsSkippedFromThereOn) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("large", std::string(5000, 'x'));
  client.Set("small", "s");
  Runner runner(store.get());
  const uint32_t tight = runner.batch().AddSource(5200), wide = runner.batch().AddSource(kMuchRoom);
  runner.Read(tight, "small");
  runner.Read(tight, "large");
  runner.Set(wide, "a", "1");
  runner.Read(tight, "small");
  runner.Set(tight, "b", "never");
  runner.Read(wide, "b");
  runner.Set(tight, "a", "never");
  runner.Read(wide, "a");
  const std::vector<QueryResult>& results = runner.Run();
  const QueryState done = QueryState::kDone, skipped = QueryState::kSkipped;
  const QueryState expected[] = {done, done, done, skipped, skipped, done, skipped, done};
  for (size_t i = 0; i < std::size(expected); i++) EXPECT_EQ(results[i].state, expected[i]) << i;
  EXPECT_EQ(results[1].value.size(), 5000u);
  EXPECT_EQ(results[5].reply.outcome, Outcome::kMiss);
  EXPECT_EQ(results[7].value, "1");
  EXPECT_EQ(store->Stats().items, 3u);
  // What was placed for the skipped sets does not count.
  uint64_t bytes = 0;
  for (const char* key : {"large", "small", "a"}) bytes += client.Get(key).reply.object_bytes;
  EXPECT_EQ(store->Stats().object_bytes, bytes);
}

TEST(CpuStage, ReplyThatFindsNoRoomIsNotBegun) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("large", std::string(5000, 'x'));
  client.Set("small", "s");
  Runner runner(store.get());
  const uint32_t tight = runner.batch().AddSource(4000), other = runner.batch().AddSource(4000);
  runner.Read(tight, "large");
  runner.Read(tight, "small");  // would fit, but nothing overtakes
  Command touched = Client::Of(Verb::kRead, "large");
  touched.update_expiry = true;
  touched.expiry = cache::kExpiredAtOnce;
  runner.Add(other, touched);  // has an effect, which must not come before its reply can
  runner.Run();
  for (size_t i = 0; i < 3; i++) EXPECT_EQ(runner.result(i).state, QueryState::kSkipped) << i;
  EXPECT_EQ(client.Value("large").size(), 5000u);
}

TEST(CpuStage, CommandThatShowsNoValueNeedsNoRoomForIt) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("large", std::string(5000, 'x'));
  Runner runner(store.get());
  const uint32_t tight = runner.batch().AddSource(200);
  Command meta = Client::Of(Verb::kRead, "large");
  meta.want_value = false;
  runner.Add(tight, meta);
  runner.Run();
  EXPECT_EQ(runner.result(0).state, QueryState::kDone);
}

TEST(CpuStage, MoreRoomIsAskedForUntilThereIsNone) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("large", std::string(5000, 'x'));
  Runner runner(store.get());
  runner.more_room = 4 * 5200;
  uint32_t sources[8];
  for (uint32_t& source : sources) source = runner.batch().AddSource(100);
  for (uint32_t round = 0; round < 2; round++)
    for (const uint32_t source : sources) runner.Read(source, "large");
  runner.Run();
  uint32_t done = 0;
  for (const QueryResult& result : runner.results()) done += result.state == QueryState::kDone;
  EXPECT_EQ(done, 4u);
  EXPECT_GE(runner.more_room, 0);
}

TEST(CpuStage, OtherQueryOfASourceWithoutRoomIsNotRun) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("large", std::string(5000, 'x'));
  Runner runner(store.get());
  const uint32_t tight = runner.batch().AddSource(5100);
  int ran = 0;
  runner.other = [&](uint32_t) { ran++; };
  runner.Other();
  runner.Read(tight, "large");
  runner.batch().AddOther(tight, 0);
  runner.Run();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(runner.result(0).state, QueryState::kDone);
  EXPECT_EQ(runner.result(2).state, QueryState::kSkipped);
}

// A device has carried out what stands behind it, so it can't be asked for again.
TEST(CpuStage, OtherQueryInFrontOfAChangeThatWasMadeIsRunWithoutRoom) {
  const auto store = OpenStore();
  Runner runner(store.get());
  const uint32_t tight = runner.batch().AddSource(0);
  int ran = 0;
  runner.other = [&](uint32_t) { ran++; };
  runner.batch().AddOther(tight, 0, /*barrier=*/false);
  runner.Add(tight, Client::Of(Verb::kDelete, "gone"));
  runner.batch().AddOther(tight, 0, /*barrier=*/false);
  runner.batch().KeepUpTo(1);
  runner.Run();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(runner.result(0).state, QueryState::kDone);
  EXPECT_EQ(runner.result(1).state, QueryState::kDone);
  EXPECT_EQ(runner.result(2).state, QueryState::kSkipped);
}

TEST(CpuStage, ReadsInFrontOfAChangeThatWasMadeAreAnsweredWithoutRoom) {
  const auto store = OpenStore();
  Runner runner(store.get());
  const std::string value(5000, 'v');
  runner.Set("long", value);
  runner.Run();
  const uint32_t tight = runner.batch().AddSource(100);
  Command gets = Client::Of(Verb::kRead, "long");
  gets.want_cas = true;
  runner.Add(tight, gets);
  runner.batch().AddRead(tight, 0, "long", store->HashOf("long"));
  runner.Add(tight, Client::Of(Verb::kDelete, "gone"));
  runner.batch().AddRead(tight, 0, "long", store->HashOf("long"));
  runner.batch().KeepUpTo(2);
  runner.Run();
  for (const uint32_t i : {0, 1}) {
    EXPECT_EQ(runner.result(i).reply.outcome, Outcome::kHit) << i;
    EXPECT_EQ(runner.result(i).value.size(), 5000u) << i;
  }
  EXPECT_EQ(runner.result(2).state, QueryState::kDone);
  EXPECT_EQ(runner.result(3).state, QueryState::kSkipped);
}

TEST(CpuStage, ReadsThatMustBeAnsweredOverdrawTheirRoomByNoMoreThanTheyMay) {
  const auto store = OpenStore();
  Runner runner(store.get());
  const std::string value(500'000, 'v');
  runner.Set("long", value);
  runner.Run();
  runner.Clear();
  const uint32_t tight = runner.batch().AddSource(100);
  Command gets = Client::Of(Verb::kRead, "long");
  gets.want_cas = true;
  gets.want_value = true;
  for (int i = 0; i < 100; i++) {
    runner.Add(tight, gets);
    runner.batch().AddRead(tight, 0, "long", store->HashOf("long"));
  }
  runner.Add(tight, Client::Of(Verb::kDelete, "gone"));
  runner.batch().KeepUpTo(200);
  runner.Run();
  size_t bytes = 0, refused = 0;
  for (uint32_t i = 0; i < 200; i++) {
    EXPECT_EQ(runner.result(i).state, QueryState::kDone);
    bytes += runner.result(i).value.size();
    refused += runner.result(i).reply.outcome == Outcome::kNoMemory;
  }
  EXPECT_LE(bytes, (1u << 20) + value.size() + 100);
  EXPECT_EQ(refused, 200 - bytes / value.size());
  EXPECT_EQ(runner.result(200).state, QueryState::kDone);
}

// A touch writes its item again; what an add writes it has brought.
TEST(CpuStage, WhoeverHadMuchRewrittenGoesOnInAnotherBatchAndNobodyElse) {
  const auto store = OpenStore();
  Runner runner(store.get());
  const std::string value(900'000, 'v');
  runner.Set("large", value);
  runner.Run();
  runner.Clear();
  const uint32_t touching = runner.batch().AddSource(kMuchRoom);
  const uint32_t adding = runner.batch().AddSource(kMuchRoom);
  const std::vector<std::string> keys = {"a", "b", "c", "d", "e", "f"};
  for (const std::string& key : keys) {
    runner.Add(touching, Client::Of(Verb::kTouch, "large"));
    Command add = Client::Of(Verb::kStore, key);
    add.store_mode = cache::StoreMode::kAdd;
    add.value = value;
    runner.Add(adding, add);
  }
  runner.Run();
  for (uint32_t i = 0; i < keys.size(); i++) {
    const bool is_done = i * value.size() < CpuStage::kRewrittenBytesMax;
    EXPECT_EQ(runner.result(2 * i).state, is_done ? QueryState::kDone : QueryState::kSkipped) << i;
    EXPECT_EQ(runner.result(2 * i + 1).reply.outcome, Outcome::kStored) << i;
  }
  EXPECT_EQ(runner.result(10).state, QueryState::kSkipped);
}

// A number may be refused for its last byte. One that is refused for its first costs nothing.
TEST(CpuStage, WhoeverHadMuchReadInVainGoesOnInAnotherBatchAndNobodyElse) {
  const auto store = OpenStore();
  Runner runner(store.get());
  const std::string zeros = std::string(900'000, '0') + "x", letters(900'000, 'x');
  runner.Set("zeros", zeros);
  runner.Set("letters", letters);
  runner.Run();
  runner.Clear();
  const uint32_t reading = runner.batch().AddSource(kMuchRoom);
  const uint32_t other = runner.batch().AddSource(kMuchRoom);
  constexpr uint32_t kCounts = 6;
  for (uint32_t i = 0; i < kCounts; i++) {
    runner.Add(reading, Client::Of(Verb::kArithmetic, "zeros"));
    runner.Add(other, Client::Of(Verb::kArithmetic, "letters"));
  }
  runner.Run();
  for (uint32_t i = 0; i < kCounts; i++) {
    const bool is_done = i * zeros.size() < CpuStage::kRewrittenBytesMax;
    EXPECT_EQ(runner.result(2 * i).state, is_done ? QueryState::kDone : QueryState::kSkipped) << i;
    EXPECT_EQ(runner.result(2 * i + 1).reply.outcome, Outcome::kNotNumeric) << i;
  }
  EXPECT_EQ(runner.result(8).reply.outcome, Outcome::kNotNumeric);
  EXPECT_EQ(runner.result(10).state, QueryState::kSkipped);
}

// What a stage before the last may do of the last query of a batch, a store.
uint8_t WantOfLast(cache::Store* store, Batch* batch) {
  const auto session = store->NewSession();
  session->Begin();
  TaskTimes times;
  CpuStage stage(store, &times);
  stage.PlaceForStages(*batch, kRunInsert, true, *session);
  WantMarker marker(Batch::kQueriesMax);
  marker.Mark(batch, *session, kRunInsert);
  const uint32_t last = batch->size() - 1;
  const uint8_t wanted = batch->wanted(last);
  for (uint32_t i = 0; i <= last; i++) {
    if (batch->kind(i) != QueryKind::kCommand || batch->placed(i) == 0) continue;
    store->Abandon(*session, batch->placed(i));
    batch->placed(i) = 0;
  }
  session->End();
  batch->Clear();
  return wanted;
}

// A sink to which what is not short is too much.
class ShortAlone final : public Sink {
 public:
  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session&) override {
    for (uint32_t i = begin; i < end; i++) states.push_back(batch.state(i));
  }
  void RunOther(Batch&, uint32_t, cache::Session&) override {}
  bool MayRewrite(const Batch&, uint32_t) override { return may_rewrite; }
  void Rewrote(const Batch& batch, uint32_t i, uint64_t bytes) override {
    rewritten[batch.source(i)] += bytes;
  }

  bool may_rewrite = false;
  std::vector<QueryState> states;
  std::map<uint32_t, uint64_t> rewritten;
};

TEST(CpuStage, WhatMayNotBeRewrittenNowIsSkippedWithTheRestOfItsSource) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("long", std::string(2000, 'v'));
  client.Set("short", std::string(500, 'v'));
  Batch batch(Plan::OneStageCpu());
  const uint32_t one = batch.AddSource(kMuchRoom), other = batch.AddSource(kMuchRoom);
  Command append = Client::Of(Verb::kStore, "long");
  append.store_mode = cache::StoreMode::kAppend;
  append.value = "more";
  Command get = Client::Of(Verb::kRead, "long");
  get.want_cas = true;  // so that it is none of the plain reads
  Command touch = Client::Of(Verb::kTouch, "long");
  for (Command command :
       {Client::Of(Verb::kTouch, "short"), Client::Of(Verb::kTouch, "none"), get, append, get}) {
    command.hash = store->HashOf(command.key);
    batch.AddCommand(one, 0, command);
  }
  touch.hash = store->HashOf(touch.key);
  batch.AddCommand(other, 0, touch);
  TaskTimes times;
  CpuStage stage(store.get(), &times);
  const auto session = store->NewSession();
  ShortAlone sink;
  stage.Run(batch, *session, sink);
  const QueryState done = QueryState::kDone, skipped = QueryState::kSkipped;
  EXPECT_EQ(sink.states, (std::vector<QueryState>{done, done, done, skipped, skipped, skipped}));
  EXPECT_LT(sink.rewritten[one], 1000u);
  EXPECT_EQ(sink.rewritten[other], 0u);
  EXPECT_EQ(client.Value("long").size(), 2000u);
}

TEST(CpuStage, ANumberThatIsRefusedCountsWithTheBytesThatWereRead) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("long", std::string(50'000, ' ') + "12x" + std::string(50'000, '0'));
  client.Set("overflow", std::string(100'000, '9'));
  Batch batch(Plan::OneStageCpu());
  const uint32_t one = batch.AddSource(kMuchRoom), other = batch.AddSource(kMuchRoom);
  for (const uint32_t source : {one, other}) {
    Command count = Client::Of(Verb::kArithmetic, source == one ? "long" : "overflow");
    count.hash = store->HashOf(count.key);
    batch.AddCommand(source, 0, count);
  }
  TaskTimes times;
  CpuStage stage(store.get(), &times);
  const auto session = store->NewSession();
  ShortAlone sink;
  sink.may_rewrite = true;
  stage.Run(batch, *session, sink);
  for (const auto& [source, bytes] : std::map<uint32_t, uint64_t>{{one, 50'003}, {other, 20}}) {
    EXPECT_EQ(batch.rewritten(source), bytes);
    EXPECT_EQ(sink.rewritten[source], bytes);
  }
}

TEST(CpuStage, WhoeverHadMuchReadForWhatFindsNoRoomGoesOnInAnotherBatch) {
  CacheOptions options;
  options.memory_bytes = 2 << 20;
  options.append_lanes = 1;
  const auto store = OpenStore(options);
  Runner runner(store.get());
  const std::string zeros(1'000'000, '0');
  runner.Set("zeros", zeros);
  runner.Run();
  for (int i = 0; i < 6; i++) runner.Add(Client::Of(Verb::kArithmetic, "zeros"));
  runner.Run();
  // Each is read twice: before room is looked for, and behind that.
  for (size_t i = 0; i < 3; i++) EXPECT_EQ(runner.result(i).reply.outcome, Outcome::kNoMemory) << i;
  EXPECT_EQ(runner.result(3).state, QueryState::kSkipped);
}

// A stage gets no store before which the reads might not fit.
TEST(CpuStage, ReadsBeforeAStoreCountAsTheLargestValueDoes) {
  const auto store = OpenStore();
  Runner runner(store.get());
  const auto want = [&](int64_t room, bool meta, std::string_view appended = {}) {
    runner.batch().Clear();
    const uint32_t source = runner.batch().AddSource(room);
    Command get = Client::Of(Verb::kRead, "a");
    get.want_value = true;
    get.want_cas = true;
    if (meta) {
      runner.Add(source, get);
    } else {
      runner.batch().AddRead(source, 0, "a", store->HashOf("a"));
    }
    if (!appended.empty()) {
      Command append = Client::Of(Verb::kStore, "d");
      append.store_mode = cache::StoreMode::kAppend;
      append.value = appended;
      runner.Add(source, append);
    }
    Command set = Client::Of(Verb::kStore, "b");
    set.value = "1";
    runner.Add(source, set);
    return WantOfLast(store.get(), &runner.batch());
  };
  for (const bool meta : {false, true}) EXPECT_EQ(want(20'000, meta), kWantsStore) << meta;
  const std::string more(30'000, 'm');
  EXPECT_EQ(want(20'000, false, more), kWantsHint) << "the last stage may append so much";
  const std::string value(30'000, 'v');
  runner.Set("c", value);
  runner.Run();
  for (const bool meta : {false, true}) {
    EXPECT_EQ(want(20'000, meta), kWantsHint) << meta;
    EXPECT_EQ(want(40'000, meta), kWantsStore) << meta;
  }
}

// Nor one before which more might be rewritten than a turn may take.
TEST(CpuStage, TouchesBeforeAStoreCountAsTheLargestValueDoes) {
  const auto store = OpenStore();
  Runner runner(store.get());
  const auto want = [&](int touches) {
    runner.batch().Clear();
    const uint32_t source = runner.batch().AddSource(kMuchRoom);
    for (int i = 0; i < touches; i++) runner.Add(source, Client::Of(Verb::kTouch, "a"));
    Command set = Client::Of(Verb::kStore, "b");
    set.value = "1";
    runner.Add(source, set);
    return WantOfLast(store.get(), &runner.batch());
  };
  EXPECT_EQ(want(40), kWantsStore);
  const std::string value(900'000, 'v');
  runner.Set("c", value);
  runner.Run();
  EXPECT_EQ(want(0), kWantsStore);
  EXPECT_EQ(want(4), kWantsStore);
  EXPECT_EQ(want(5), kWantsHint);
}

TEST(CpuStage, NoRoomInTheMiddleOfAGroupLosesNothing) {
  CacheOptions options;
  options.memory_bytes = 4 << 20;
  const auto store = OpenStore(options);
  Runner runner(store.get());
  for (uint32_t round = 0; round < 20; round++) {
    std::vector<std::string> keys, values;
    for (uint32_t i = 0; i < 60; i++) {
      keys.push_back("k" + std::to_string(i));
      values.push_back(std::string(i % 3 == 0 ? 300000 : 1000, static_cast<char>('a' + i % 26)));
    }
    for (uint32_t i = 0; i < 60; i++) {
      runner.Set(keys[i], values[i]);
      runner.Read(keys[i]);
    }
    runner.Run();
    for (uint32_t i = 0; i < 60; i++) {
      ASSERT_EQ(runner.result(2 * i).reply.outcome, Outcome::kStored) << i;
      const QueryResult& read = runner.result(2 * i + 1);
      if (read.reply.outcome == Outcome::kHit) {
        ASSERT_EQ(read.value, values[i]);
      }
    }
  }
  EXPECT_LE(store->Stats().memory_bytes, 4u << 20);
}

TEST(CpuStage, CommandThatWritesLateFindsRoomBesideManyPlacedObjects) {
  CacheOptions options;
  options.memory_bytes = 4 << 20;
  const auto store = OpenStore(options);
  Runner runner(store.get());
  const std::string value(20000, 'v');
  for (uint32_t round = 0; round < 50; round++) {
    std::vector<std::string> keys;
    for (uint32_t i = 0; i < 62; i++) keys.push_back(std::to_string(round * 62 + i));
    runner.Set("k", value);
    Command gat = Client::Of(Verb::kRead, "k");
    gat.update_expiry = true;
    runner.Add(gat);
    for (const std::string& key : keys) runner.Set(key, value);
    for (const QueryResult& result : runner.Run()) {
      EXPECT_NE(result.reply.outcome, Outcome::kNoMemory);
      EXPECT_FALSE(result.reply.needs_room);
    }
  }
}

TEST(CpuStage, StoreThatMayNotEvictRefusesAndKeepsWhatItHas) {
  CacheOptions options;
  options.memory_bytes = 4 << 20;
  options.evict = false;
  const auto store = OpenStore(options);
  Runner runner(store.get());
  std::map<std::string, std::string> stored;
  uint32_t refused = 0;
  for (uint32_t round = 0; round < 40; round++) {
    std::vector<std::string> keys, values;
    for (uint32_t i = 0; i < 100; i++) {
      keys.push_back("k" + std::to_string(round * 100 + i));
      values.push_back(std::string(2000, static_cast<char>('a' + i % 26)));
    }
    for (uint32_t i = 0; i < 100; i++) runner.Set(keys[i], values[i]);
    runner.Run();
    for (uint32_t i = 0; i < 100; i++) {
      if (runner.result(i).reply.outcome == Outcome::kStored)
        stored[keys[i]] = values[i];
      else {
        ASSERT_EQ(runner.result(i).reply.outcome, Outcome::kNoMemory);
      }
      refused += runner.result(i).reply.outcome != Outcome::kStored;
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(stored.size(), 500u);
  Client client(store.get());
  for (const auto& [key, value] : stored) ASSERT_EQ(client.Value(key), value) << key;
  EXPECT_EQ(store->Stats().items, stored.size());
}

}  // namespace
}  // namespace weft::pipeline
