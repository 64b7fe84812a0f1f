#include "pipeline/runner_test_kit.h"

#include <map>
#include <random>

namespace weft::pipeline {
namespace {

using cache::Rounds;
using cache::TestSeed;

TEST(CpuStage, GetSeesTheSetBeforeItAndNotTheOneAfter) {
  const auto store = OpenStore();
  Runner runner(store.get());
  for (const std::string& key : {std::string("k"), std::string(250, 'k')}) {
    runner.Read(key);
    runner.Set(key, "one");
    runner.Read(key);
    runner.Set(key, "two");
    runner.Set(key, "three");
    runner.Read(key);
    runner.Add(Client::Of(Verb::kDelete, key));
    runner.Read(key);
    const std::vector<QueryResult>& results = runner.Run();
    EXPECT_EQ(results[0].reply.outcome, Outcome::kMiss);
    EXPECT_EQ(results[2].value, "one");
    EXPECT_EQ(results[5].value, "three");
    EXPECT_EQ(results[6].reply.outcome, Outcome::kDeleted);
    EXPECT_EQ(results[7].reply.outcome, Outcome::kMiss);
  }
  EXPECT_EQ(store->Stats().items, 0u);
  EXPECT_EQ(store->Stats().object_bytes, 0u);
}

TEST(CpuStage, OrderHoldsOverTheBordersOfGroups) {
  const auto store = OpenStore();
  Runner runner(store.get());
  runner.Set("n", "0");
  for (uint32_t i = 0; i < 300; i++) {
    runner.Add(Client::Of(Verb::kArithmetic, "n"));
    runner.Read("n");
  }
  const std::vector<QueryResult>& results = runner.Run();
  for (uint32_t i = 0; i < 300; i++) {
    ASSERT_EQ(results[1 + 2 * i].reply.number, i + 1);
    ASSERT_EQ(results[2 + 2 * i].value, std::to_string(i + 1));
  }
}

TEST(CpuStage, FullAndEmptyBatchesRun) {
  const auto store = OpenStore();
  Runner runner(store.get());
  runner.Run();
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < Batch::kQueriesMax; i++)
    keys.push_back(std::string(240, 'k') + std::to_string(i));
  for (const std::string& key : keys) runner.Set(key, key);
  EXPECT_TRUE(runner.batch().full());
  for (const QueryResult& result : runner.Run()) ASSERT_EQ(result.reply.outcome, Outcome::kStored);
  for (const std::string& key : keys) runner.Read(key);
  runner.Run();
  for (uint32_t i = 0; i < Batch::kQueriesMax; i++) ASSERT_EQ(runner.result(i).value, keys[i]);
}

TEST(CpuStage, VersionsShownInABatchRiseWithTheNextSet) {
  CacheOptions options;
  options.append_lanes = 1;
  const auto store = OpenStore(options);
  Client client(store.get());
  // The key lies in a segment that was opened after the one its next version goes to.
  client.Set("early", "v");
  client.Set("k", "v", base::NowSeconds() + 100);
  Runner runner(store.get());
  Command gets = Client::Of(Verb::kRead, "k");
  gets.want_cas = true;
  runner.Add(gets);
  runner.Set("k", "w");
  runner.Add(gets);
  const std::vector<QueryResult>& results = runner.Run();
  EXPECT_EQ(results[2].value, "w");
  EXPECT_GT(results[2].reply.cas, results[0].reply.cas);
}

TEST(CpuStage, FlushInTheMiddleDividesTheBatch) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("old", "v");
  Runner runner(store.get());
  runner.other = [&](uint32_t) { store->Flush(runner.session(), 0); };
  runner.Read("old");
  runner.Set("before", "v");
  runner.Other();
  runner.Set("after", "v");
  runner.Read("old");
  runner.Read("before");
  runner.Read("after");
  const std::vector<QueryResult>& results = runner.Run();
  EXPECT_EQ(results[0].value, "v");
  EXPECT_EQ(results[1].reply.outcome, Outcome::kStored);
  EXPECT_EQ(results[4].reply.outcome, Outcome::kMiss);
  EXPECT_EQ(results[5].reply.outcome, Outcome::kMiss);
  EXPECT_EQ(results[6].value, "v");
  EXPECT_EQ(client.Value("before"), "(none)");
  EXPECT_EQ(client.Value("after"), "v");
}

TEST(CpuStage, FlushByAnotherWhileTheIndexGrowsLeavesPositionsGood) {
  const auto store = OpenStore();
  Client other(store.get());
  cache::Index& index = store->index();
  for (int i = 0; i < 40; i++) other.Set("k" + std::to_string(i), "v");
  ASSERT_TRUE(index.StartGrowth().ok());
  while (index.current().insert_newer == 0) other.Get("x");
  Runner runner(store.get());
  runner.other = [&](uint32_t) {
    // Growth goes on and another client flushes, while this batch stays in its phase.
    while (index.current().newer.buckets != nullptr) other.Get("x");
    other.Flush();
  };
  // The first half meets the flush in an append; positions of the second were noted before it.
  runner.Other();
  Command append = Client::Of(Verb::kStore, "k0");
  append.store_mode = cache::StoreMode::kAppend;
  append.value = "+";
  runner.Add(append);
  for (int i = 0; i < 31; i++) runner.Read("k" + std::to_string(i));
  for (const QueryResult& result : runner.Run()) {
    if (result.reply.outcome == Outcome::kHit) {
      EXPECT_EQ(result.value.substr(0, 1), "v");
    }
  }
  EXPECT_EQ(other.Value("k0"), "(none)");
}

// Random batches give what the same commands give one by one.
class Pair {
 public:
  Pair(const CacheOptions& options, bool fills, uint64_t seed)
      : random_(seed),
        fills_(fills),
        batched_(fills ? cache::OpenFillingStore(options) : OpenStore(options)),
        single_(OpenStore(options)),
        runner_(batched_.get()),
        client_(single_.get()) {}

  void RunBatch() {
    const uint32_t count = random_() % 150;
    std::vector<Entered> entered(count);
    for (uint32_t i = 0; i < count; i++) {
      Enter(&entered[i]);
      if (entered[i].kind == QueryKind::kRead)
        runner_.Read(entered[i].key);
      else if (entered[i].kind == QueryKind::kOther)
        runner_.Other();
      else
        runner_.Add(CommandOf(entered[i], batched_cas_));
    }
    runner_.other = [this](uint32_t) { batched_->Flush(runner_.session(), 0); };
    runner_.Run();
    for (uint32_t i = 0; i < count && !testing::Test::HasFatalFailure(); i++)
      Compare(entered[i], runner_.result(i));
  }
  void CompareContents() {
    Client batched(batched_.get());
    for (uint32_t i = 0; i < kKeys; i++) {
      const std::string key = "k" + std::to_string(i);
      const cache::Answer a = batched.Get(key), b = client_.Get(key);
      ASSERT_EQ(a.reply.outcome, b.reply.outcome) << key;
      ASSERT_EQ(a.value, b.value) << key;
      ASSERT_EQ(a.reply.client_flags, b.reply.client_flags) << key;
    }
    EXPECT_EQ(batched_->Stats().evictions, 0u);
  }
  uint32_t hits() const { return hits_; }
  uint64_t overwritten() { return runner_.session().counters().overwritten.value(); }

 private:
  static constexpr uint32_t kKeys = 40;

  struct Entered {
    QueryKind kind = QueryKind::kRead;
    std::string key, value;
    Command command;
  };

  void Enter(Entered* entered) {
    const uint32_t number = random_() % kKeys;
    entered->key = "k" + std::to_string(number);
    if (random_() % 2 == 0) return;
    if (random_() % (fills_ ? 3000 : 100) == 0) {  // no hole outlives a flush
      entered->kind = QueryKind::kOther;
      return;
    }
    entered->kind = QueryKind::kCommand;
    Command& c = entered->command;
    const char letter = static_cast<char>('a' + random_() % 26);
    entered->value = random_() % 3 == 0 ? std::to_string(random_() % 100)
                                        : std::string(random_() % 300 / (fills_ ? 100 : 1), letter);
    c.client_flags = random_() % 2 == 0 ? 0 : static_cast<uint32_t>(random_());
    // Where a version was shown, what is added since fills no hole.
    c.want_cas = random_() % 4 == 0 && (!fills_ || shows_);
    if (fills_ && random_() % 4000 == 0) shows_ = true;
    c.expiry = random_() % 4 == 0 ? base::NowSeconds() + 5000 : 0;
    switch (random_() % 12) {
      case 0:
      case 1:
      case 2: c.verb = Verb::kStore; break;
      case 3:
        c.verb = Verb::kStore;
        c.store_mode = static_cast<cache::StoreMode>(random_() % 5);
        break;
      case 4:
        c.verb = Verb::kStore;
        c.compare_cas = true;
        break;
      case 5:
        c.verb = Verb::kArithmetic;
        c.delta = random_() % 9;
        c.decrement = random_() % 2;
        break;
      case 6:
        c.verb = Verb::kArithmetic;
        c.vivify = true;
        c.initial = 7;
        break;
      case 7: c.verb = Verb::kTouch; break;
      case 8: c.verb = Verb::kDelete; break;
      case 9:
        c.verb = Verb::kDelete;
        c.invalidate = true;
        break;
      case 10:
        c.verb = Verb::kRead;
        c.vivify = random_() % 2;
        c.hand_out_win = true;
        break;
      case 11:
        c.verb = Verb::kRead;
        c.update_expiry = true;
        c.want_cas = !fills_ || shows_;
        break;
    }
    if (c.verb == Verb::kStore && random_() % 60 == 0) entered->value.assign(1 << 20, 'L');
  }

  using Versions = std::map<std::string, uint64_t>;
  static Command CommandOf(const Entered& entered, const Versions& versions) {
    Command command = entered.command;
    command.key = entered.key;
    command.value = entered.value;
    const auto known = versions.find(entered.key);
    // Otherwise one that neither store gives: which object gets a small one differs between them.
    if (command.compare_cas)
      command.cas_expected = known == versions.end() ? uint64_t{1} << 60 : known->second;
    return command;
  }

  void Compare(const Entered& entered, const QueryResult& result) {
    ASSERT_EQ(result.state, QueryState::kDone);
    if (entered.kind == QueryKind::kOther) return client_.Flush();
    cache::Answer answer;
    if (entered.kind == QueryKind::kRead) {
      answer = client_.Get(entered.key);
    } else {
      // Versions that single calls learned before this batch, as the batch did.
      answer = client_.Run(CommandOf(entered, single_cas_before_));
    }
    ASSERT_EQ(result.reply.outcome, answer.reply.outcome) << entered.key;
    ASSERT_EQ(result.reply.number, answer.reply.number) << entered.key;
    if (answer.reply.outcome == Outcome::kHit) {
      hits_++;
      ASSERT_EQ(result.value, answer.value) << entered.key;
      ASSERT_EQ(result.reply.client_flags, answer.reply.client_flags);
      if (entered.kind == QueryKind::kCommand) {
        ASSERT_EQ(result.reply.stale, answer.reply.stale);
        ASSERT_EQ(result.reply.won, answer.reply.won);
        ASSERT_EQ(result.reply.win_taken, answer.reply.win_taken);
      }
    }
    if (entered.kind == QueryKind::kCommand && entered.command.want_cas &&
        answer.reply.outcome == Outcome::kHit) {
      next_batched_[entered.key] = result.reply.cas;
      next_single_[entered.key] = answer.reply.cas;
    }
  }

 public:
  // What this batch was shown is what the next may name.
  void LearnVersions() {
    batched_cas_ = next_batched_;
    single_cas_before_ = next_single_;
  }

 private:
  std::mt19937_64 random_;
  const bool fills_;
  bool shows_ = false;
  const std::unique_ptr<cache::Store> batched_, single_;
  Runner runner_;
  Client client_;
  Versions batched_cas_, single_cas_before_, next_batched_, next_single_;
  uint32_t hits_ = 0;
};

TEST(CpuStage, RandomBatchesEqualTheSameCommandsOneByOne) {
  uint64_t overwritten = 0;
  for (const uint32_t bits : {3u, 10u, 64u}) {
    for (const IndexPolicy policy : {IndexPolicy::kCuckoo, IndexPolicy::kSetAssociative}) {
      CacheOptions options;
      options.memory_bytes = 128 << 20;
      options.hash_bits = bits;
      options.index_policy = policy;
      options.prefetch = bits != 10;
      for (const bool fills : {false, true}) {
        Pair pair(options, fills, TestSeed() + bits);
        const uint32_t rounds = fills ? 150 : Rounds(100);  // holes come late
        for (uint32_t round = 0; round < rounds && !HasFatalFailure(); round++) {
          pair.RunBatch();
          pair.LearnVersions();
        }
        ASSERT_FALSE(HasFatalFailure()) << bits << " bits";
        pair.CompareContents();
        EXPECT_GT(pair.hits(), rounds * 10);
        overwritten += pair.overwritten();
      }
    }
  }
  EXPECT_GT(overwritten, 0u);
}

// Where nothing may be evicted, much is copied to gather what is dead, and a store may be refused
// nevertheless.
TEST(CpuStage, WhatIsCopiedForAStoreThatIsRefusedCountsAsRewritten) {
  CacheOptions options;
  options.memory_bytes = 16 << 20;
  options.evict = false;
  const auto store = OpenStore(options);
  Client client(store.get());
  std::vector<std::string> keys;
  for (int refused = 0; refused < 50;) {
    const std::string key = cache::Key(keys.size());
    if (client.Set(key, std::string(200, 'v')) == Outcome::kStored)
      keys.push_back(key);
    else
      refused++;
  }
  // An eighteenth of every segment: less than the large one needs.
  for (size_t i = 0; i < keys.size(); i += 18) ASSERT_EQ(client.Delete(keys[i]), Outcome::kDeleted);
  Runner runner(store.get());
  const std::string value((1 << 20) - 100, 'x');
  const uint32_t refused = runner.batch().AddSource(kMuchRoom);
  const uint32_t other = runner.batch().AddSource(kMuchRoom);
  runner.Set(refused, "large", value);
  runner.Read(refused, keys[1]);
  runner.Read(other, keys[1]);
  runner.Run();
  EXPECT_EQ(runner.result(0).reply.outcome, Outcome::kNoMemory);
  EXPECT_EQ(runner.result(1).state, QueryState::kSkipped);
  EXPECT_EQ(runner.result(2).reply.outcome, Outcome::kHit);
}

}  // namespace
}  // namespace weft::pipeline
