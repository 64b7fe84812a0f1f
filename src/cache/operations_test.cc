// Every outcome of every operation, on one thread.
//
// Threads   one.
#include <gtest/gtest.h>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

class Operations : public testing::Test {
 protected:
  uint32_t now() const { return base::NowSeconds(); }
  const std::unique_ptr<Store> store_ = OpenStore();
  Client client_{store_.get()};
};

using Set = Operations;
using Cas = Operations;
using Concatenate = Operations;
using Touch = Operations;
using Delete = Operations;
using Meta = Operations;
using Flush = Operations;

TEST_F(Set, StoresAndOverwrites) {
  EXPECT_EQ(client_.Get("k").reply.outcome, Outcome::kMiss);
  EXPECT_EQ(client_.Set("k", "one"), Outcome::kStored);
  EXPECT_EQ(client_.Value("k"), "one");
  EXPECT_EQ(client_.Set("k", ""), Outcome::kStored);
  EXPECT_EQ(client_.Value("k"), "");
  EXPECT_EQ(store_->Stats().items, 1u);
}

TEST_F(Set, KeepsFlagsAndTimeToLive) {
  Command command = Client::Of(Verb::kStore, "k");
  command.value = "v";
  command.client_flags = 0xffffffff;
  command.expiry = now() + 100;
  client_.Run(command);
  const Reply reply = client_.Get("k").reply;
  EXPECT_EQ(reply.client_flags, 0xffffffff);
  EXPECT_GE(reply.ttl_s, 98);
  EXPECT_LE(reply.ttl_s, 100);
  client_.Set("k", "v");
  EXPECT_EQ(client_.Get("k").reply.client_flags, 0u);
  EXPECT_EQ(client_.Get("k").reply.ttl_s, -1);
}

TEST_F(Set, OfObjectsOfOneSizeIsWhatIsExpected) {
  for (const uint32_t value_bytes : {8u, 80u, 1024u, 0u}) {
    const std::string value(value_bytes, 'v');
    for (uint32_t i = 0; i < 5000; i++)
      ASSERT_EQ(client_.Set(std::to_string(10'000'000 + i), value), Outcome::kStored);
    EXPECT_EQ(store_->expected_object_bytes(), 8 + 8 + value_bytes);
  }
}

TEST_F(Set, OfAnEndedObjectIsStoredAndUnseen) {
  EXPECT_EQ(client_.Set("k", "v"), Outcome::kStored);
  EXPECT_EQ(client_.Set("k", "v", kExpiredAtOnce), Outcome::kStored);
  const Reply reply = client_.Get("k").reply;
  EXPECT_EQ(reply.outcome, Outcome::kMiss);
  EXPECT_EQ(reply.miss, Miss::kExpired);
  EXPECT_EQ(client_.Get("other").reply.miss, Miss::kAbsent);
}

TEST_F(Set, LargestObjectFitsAndOneByteMoreDoesNot) {
  const std::string largest((1 << 20) - 1, 'x');
  EXPECT_EQ(client_.Set("k", largest), Outcome::kStored);
  EXPECT_EQ(client_.Value("k"), largest);
  EXPECT_EQ(client_.Set("k", largest + "x"), Outcome::kTooLarge);
  EXPECT_EQ(client_.Value("k"), largest);
}

TEST_F(Set, EverySizeAroundTheBordersComesBackWhole) {
  const uint64_t segment = store_->log().geometry().segment_bytes;
  for (const uint64_t border :
       {uint64_t{0}, uint64_t{64}, segment / 2, segment, 2 * segment, (uint64_t{1} << 20) - 300}) {
    for (uint64_t bytes = border < 40 ? 0 : border - 40; bytes <= border + 40; bytes++) {
      std::string value(bytes, static_cast<char>('a' + bytes % 26));
      if (bytes != 0) value.back() = '!';
      ASSERT_EQ(client_.Set("k", value), Outcome::kStored) << bytes;
      ASSERT_EQ(client_.Value("k"), value) << bytes;
    }
  }
}

TEST_F(Set, AddWantsAnAbsentKey) {
  EXPECT_EQ(client_.Put(StoreMode::kAdd, "k", "one").reply.outcome, Outcome::kStored);
  EXPECT_EQ(client_.Put(StoreMode::kAdd, "k", "two").reply.outcome, Outcome::kNotStored);
  EXPECT_EQ(client_.Value("k"), "one");
  client_.Set("ended", "v", now() - 1);
  EXPECT_EQ(client_.Put(StoreMode::kAdd, "ended", "new").reply.outcome, Outcome::kStored);
  EXPECT_EQ(client_.Value("ended"), "new");
  EXPECT_EQ(store_->Stats().items, 2u);
}

TEST_F(Set, ReplaceWantsAPresentKey) {
  EXPECT_EQ(client_.Put(StoreMode::kReplace, "k", "one").reply.outcome, Outcome::kNotStored);
  EXPECT_EQ(client_.Value("k"), "(none)");
  client_.Set("k", "one");
  EXPECT_EQ(client_.Put(StoreMode::kReplace, "k", "two").reply.outcome, Outcome::kStored);
  EXPECT_EQ(client_.Value("k"), "two");
  client_.Set("ended", "v", now() - 1);
  EXPECT_EQ(client_.Put(StoreMode::kReplace, "ended", "x").reply.outcome, Outcome::kNotStored);
}

TEST_F(Set, LongestKeysAreToldApart) {
  std::string a(250, 'k'), b(250, 'k');
  b.back() = 'l';
  client_.Set(a, "a");
  client_.Set(b, "b");
  client_.Set(a.substr(0, 249), "shorter");
  EXPECT_EQ(client_.Value(a), "a");
  EXPECT_EQ(client_.Value(b), "b");
  EXPECT_EQ(client_.Value(a.substr(0, 249)), "shorter");
}

TEST_F(Cas, ActsOnTheVersionShownOnly) {
  EXPECT_EQ(client_.Cas("k", "v", 1), Outcome::kMiss);
  client_.Set("k", "one");
  const uint64_t cas = client_.Gets("k").reply.cas;
  EXPECT_EQ(client_.Gets("k").reply.cas, cas);
  EXPECT_EQ(client_.Cas("k", "x", cas + 1), Outcome::kExists);
  EXPECT_EQ(client_.Value("k"), "one");
  EXPECT_EQ(client_.Cas("k", "two", cas), Outcome::kStored);
  EXPECT_EQ(client_.Cas("k", "three", cas), Outcome::kExists);
  EXPECT_EQ(client_.Value("k"), "two");
}

TEST_F(Cas, EveryChangeMakesANewVersionAndVersionsRise) {
  uint64_t last = 0;
  client_.Set("k", "5");
  for (int i = 0; i < 50; i++) {
    switch (i % 6) {
      case 0: client_.Set("k", "5"); break;
      case 1: client_.Set("k", "5", now() + 1000); break;  // another group of segments
      case 2: client_.Count("k", 1); break;
      case 3: client_.Put(StoreMode::kAppend, "k", "1"); break;
      case 4: client_.Put(StoreMode::kReplace, "k", "7"); break;
      case 5: client_.Set("k", "7", now() + 100000); break;
    }
    const uint64_t cas = client_.Gets("k").reply.cas;
    ASSERT_GT(cas, last) << i;
    last = cas;
  }
}

// What it replaces may have been shown just before.
TEST_F(Cas, AVersionIsAboveTheOneThatItReplacesAlsoWhereItWasPlacedBefore) {
  client_.Set("other", "value");
  client_.Gets("other");  // from now on somebody looks at versions
  const auto session = store_->NewSession(&client_.session());
  Command set = Client::Of(Verb::kStore, "k");
  set.hash = store_->HashOf("k");
  set.value = "first";
  session->Begin();
  Hint hint;
  hint.placed = store_->Place(*session, set);
  const auto version = [&](const Reply& reply) {
    return task::CasOf(session->log(), reply.published);
  };
  const uint64_t between = version(client_.Put(StoreMode::kSet, "k", "second").reply);
  ASSERT_GT(between, task::CasOf(session->log(), hint.placed));
  EXPECT_GT(version(store_->Execute(*session, set, &hint)), between);
  session->End();
  EXPECT_EQ(client_.Value("k"), "first");
}

TEST_F(Cas, ExplicitVersionIsTakenAndTheNextIsAnother) {
  Command command = Client::Of(Verb::kStore, "k");
  command.value = "v";
  command.explicit_cas = true;
  command.cas_new = uint64_t{1} << 60;
  EXPECT_EQ(client_.Run(command).reply.outcome, Outcome::kStored);
  EXPECT_EQ(client_.Gets("k").reply.cas, uint64_t{1} << 60);
  client_.Set("k", "w");
  EXPECT_EQ(client_.Cas("k", "x", uint64_t{1} << 60), Outcome::kExists);
}

TEST_F(Cas, SetThatAsksForItsVersionGetsTheOneThatCounts) {
  Command command = Client::Of(Verb::kStore, "k");
  command.value = "v";
  command.want_cas = true;
  const uint64_t cas = client_.Run(command).reply.cas;
  EXPECT_EQ(client_.Gets("k").reply.cas, cas);
  EXPECT_EQ(client_.Cas("k", "w", cas), Outcome::kStored);
}

TEST_F(Concatenate, WantsAPresentKeyAndKeepsFlagsAndExpiry) {
  EXPECT_EQ(client_.Put(StoreMode::kAppend, "k", "x").reply.outcome, Outcome::kNotStored);
  EXPECT_EQ(client_.Put(StoreMode::kPrepend, "k", "x").reply.outcome, Outcome::kNotStored);
  Command command = Client::Of(Verb::kStore, "k");
  command.value = "-";
  command.client_flags = 7;
  command.expiry = now() + 50;
  client_.Run(command);
  EXPECT_EQ(client_.Put(StoreMode::kAppend, "k", "tail").reply.outcome, Outcome::kStored);
  EXPECT_EQ(client_.Put(StoreMode::kPrepend, "k", "head").reply.outcome, Outcome::kStored);
  EXPECT_EQ(client_.Value("k"), "head-tail");
  const Reply reply = client_.Get("k").reply;
  EXPECT_EQ(reply.client_flags, 7u);
  EXPECT_GE(reply.ttl_s, 48);
  EXPECT_LE(reply.ttl_s, 50);
}

TEST_F(Concatenate, BeyondTheLargestObjectIsRefusedAndKeepsTheOld) {
  const std::string value((1 << 20) - 10, 'x');
  client_.Set("k", value);
  EXPECT_EQ(client_.Put(StoreMode::kAppend, "k", "0123456789").reply.outcome, Outcome::kTooLarge);
  EXPECT_EQ(client_.Value("k"), value);
}

TEST_F(Concatenate, VivifiesWhereAsked) {
  Command command = Client::Of(Verb::kStore, "k");
  command.store_mode = StoreMode::kAppend;
  command.value = "v";
  command.vivify = true;
  command.vivify_expiry = now() + 30;
  EXPECT_EQ(client_.Run(command).reply.outcome, Outcome::kStored);
  EXPECT_EQ(client_.Value("k"), "v");
  EXPECT_GE(client_.Get("k").reply.ttl_s, 28);
}

TEST_F(Touch, ChangesTheExpiryAndNothingElse) {
  EXPECT_EQ(client_.Touch("k", now() + 10), Outcome::kMiss);
  Command command = Client::Of(Verb::kStore, "k");
  command.value = "v";
  command.client_flags = 9;
  client_.Run(command);
  const uint64_t cas = client_.Gets("k").reply.cas;
  EXPECT_EQ(client_.Touch("k", now() + 10), Outcome::kTouched);
  const Answer answer = client_.Gets("k");
  EXPECT_EQ(answer.value, "v");
  EXPECT_EQ(answer.reply.client_flags, 9u);
  EXPECT_GE(answer.reply.ttl_s, 8);
  EXPECT_EQ(answer.reply.cas, cas);
  EXPECT_EQ(client_.Cas("k", "w", cas), Outcome::kStored);
  EXPECT_EQ(client_.Touch("k", now() - 1), Outcome::kTouched);
  EXPECT_EQ(client_.Get("k").reply.outcome, Outcome::kMiss);
  EXPECT_EQ(client_.Touch("k", 0), Outcome::kMiss);
}

TEST_F(Touch, GetAndTouchReadsAndTouches) {
  client_.Set("k", "v", now() + 10);
  Command command = Client::Of(Verb::kRead, "k");
  command.update_expiry = true;
  command.expiry = kNeverExpires;
  command.want_cas = true;
  const Answer answer = client_.Run(command);
  EXPECT_EQ(answer.reply.outcome, Outcome::kHit);
  EXPECT_EQ(answer.value, "v");
  EXPECT_EQ(answer.reply.ttl_s, -1);
  EXPECT_EQ(client_.Gets("k").reply.cas, answer.reply.cas);
  command.key = "absent";
  EXPECT_EQ(client_.Run(command).reply.outcome, Outcome::kMiss);
}

TEST_F(Delete, RemovesOnce) {
  EXPECT_EQ(client_.Delete("k"), Outcome::kMiss);
  client_.Set("k", "v");
  EXPECT_EQ(client_.Delete("k"), Outcome::kDeleted);
  EXPECT_EQ(client_.Delete("k"), Outcome::kMiss);
  EXPECT_EQ(client_.Value("k"), "(none)");
  EXPECT_EQ(store_->Stats().items, 0u);
  EXPECT_EQ(store_->Stats().object_bytes, 0u);
}

TEST_F(Delete, ComparesTheVersionWhereAsked) {
  client_.Set("k", "v");
  Command command = Client::Of(Verb::kDelete, "k");
  command.compare_cas = true;
  command.cas_expected = client_.Gets("k").reply.cas + 1;
  EXPECT_EQ(client_.Run(command).reply.outcome, Outcome::kExists);
  command.cas_expected--;
  EXPECT_EQ(client_.Run(command).reply.outcome, Outcome::kDeleted);
}

TEST_F(Meta, StaleObjectHandsOutOneWin) {
  client_.Set("k", "v");
  Command invalidate = Client::Of(Verb::kDelete, "k");
  invalidate.invalidate = true;
  invalidate.update_expiry = true;
  invalidate.expiry = now() + 30;
  EXPECT_EQ(client_.Run(invalidate).reply.outcome, Outcome::kDeleted);
  Command read = Client::Of(Verb::kRead, "k");
  read.hand_out_win = true;
  read.want_cas = true;
  const Answer first = client_.Run(read), second = client_.Run(read);
  EXPECT_EQ(first.value, "v");
  EXPECT_TRUE(first.reply.stale);
  EXPECT_TRUE(first.reply.won);
  EXPECT_FALSE(first.reply.win_taken);
  EXPECT_TRUE(second.reply.stale);
  EXPECT_FALSE(second.reply.won);
  EXPECT_TRUE(second.reply.win_taken);
  EXPECT_EQ(first.reply.cas, second.reply.cas);
  EXPECT_GE(second.reply.ttl_s, 28);
  // The winner's cas refreshes it.
  EXPECT_EQ(client_.Cas("k", "new", first.reply.cas), Outcome::kStored);
  const Reply fresh = client_.Run(read).reply;
  EXPECT_FALSE(fresh.stale);
  EXPECT_FALSE(fresh.won);
  EXPECT_FALSE(fresh.win_taken);
}

TEST_F(Meta, InvalidationHandsOutTheWinAfresh) {
  client_.Set("k", "v");
  Command invalidate = Client::Of(Verb::kDelete, "k");
  invalidate.invalidate = true;
  Command read = Client::Of(Verb::kRead, "k");
  read.hand_out_win = true;
  client_.Run(invalidate);
  EXPECT_TRUE(client_.Run(read).reply.won);
  EXPECT_FALSE(client_.Run(read).reply.won);
  client_.Run(invalidate);
  EXPECT_TRUE(client_.Run(read).reply.won);
}

TEST_F(Meta, OlderVersionIsStoredAsStaleWhereAsked) {
  client_.Set("k", "v");
  const uint64_t cas = client_.Gets("k").reply.cas;
  Command invalidate = Client::Of(Verb::kDelete, "k");
  invalidate.invalidate = true;
  client_.Run(invalidate);
  Command store = Client::Of(Verb::kStore, "k");
  store.value = "late";
  store.compare_cas = true;
  store.cas_expected = cas;
  EXPECT_EQ(client_.Run(store).reply.outcome, Outcome::kExists);
  store.invalidate = true;
  EXPECT_EQ(client_.Run(store).reply.outcome, Outcome::kStored);
  Answer answer = client_.Gets("k");
  EXPECT_EQ(answer.value, "late");
  EXPECT_TRUE(answer.reply.stale);
  store.cas_expected = answer.reply.cas + 1000000;
  EXPECT_EQ(client_.Run(store).reply.outcome, Outcome::kExists);
}

TEST_F(Meta, RecacheHandsOutTheWinWhenLittleTimeIsLeft) {
  client_.Set("k", "v", now() + 20);
  Command read = Client::Of(Verb::kRead, "k");
  read.hand_out_win = true;
  read.recache = true;
  read.recache_s = 10;
  EXPECT_FALSE(client_.Run(read).reply.won);
  read.recache_s = 30;
  EXPECT_TRUE(client_.Run(read).reply.won);
  const Reply reply = client_.Run(read).reply;
  EXPECT_FALSE(reply.won);
  EXPECT_TRUE(reply.win_taken);
  client_.Set("forever", "v");
  read.key = "forever";
  EXPECT_FALSE(client_.Run(read).reply.won);
}

TEST_F(Meta, VivifyMakesAnEmptyObjectForItsWinner) {
  Command read = Client::Of(Verb::kRead, "k");
  read.vivify = true;
  read.vivify_expiry = now() + 30;
  read.hand_out_win = true;
  const Reply first = client_.Run(read).reply;
  EXPECT_EQ(first.outcome, Outcome::kStored);
  EXPECT_TRUE(first.won);
  const Answer second = client_.Run(read);
  EXPECT_EQ(second.reply.outcome, Outcome::kHit);
  EXPECT_EQ(second.value, "");
  EXPECT_FALSE(second.reply.won);
  EXPECT_TRUE(second.reply.win_taken);
  EXPECT_GE(second.reply.ttl_s, 28);
}

TEST_F(Meta, DropValueKeepsTheObject) {
  Command store = Client::Of(Verb::kStore, "k");
  store.value = "long value";
  store.client_flags = 5;
  store.expiry = now() + 100;
  client_.Run(store);
  Command drop = Client::Of(Verb::kDelete, "k");
  drop.drop_value = true;
  EXPECT_EQ(client_.Run(drop).reply.outcome, Outcome::kDeleted);
  const Answer answer = client_.Get("k");
  EXPECT_EQ(answer.reply.outcome, Outcome::kHit);
  EXPECT_EQ(answer.value, "");
  EXPECT_EQ(answer.reply.client_flags, 0u);
  EXPECT_GE(answer.reply.ttl_s, 98);
}

TEST_F(Meta, HitBeforeTellsOfEarlierReadsAndQuietOnesLeaveNoTrace) {
  client_.Set("k", "v");
  Command quiet = Client::Of(Verb::kRead, "k");
  quiet.quiet_access = true;
  quiet.want_access = true;
  EXPECT_FALSE(client_.Run(quiet).reply.hit_before);
  EXPECT_FALSE(client_.Run(quiet).reply.hit_before);
  Command read = Client::Of(Verb::kRead, "k");
  read.want_access = true;
  EXPECT_FALSE(client_.Run(read).reply.hit_before);
  EXPECT_TRUE(client_.Run(read).reply.hit_before);
  EXPECT_TRUE(client_.Run(quiet).reply.hit_before);
}

TEST_F(Meta, BinaryKeyIsRemembered) {
  Command store = Client::Of(Verb::kStore, "k");
  store.value = "v";
  store.binary_key = true;
  client_.Run(store);
  EXPECT_TRUE(client_.Get("k").reply.binary_key);
  client_.Set("k", "v");
  EXPECT_FALSE(client_.Get("k").reply.binary_key);
}

TEST_F(Flush, EndsEverythingBeforeItAndNothingAfter) {
  for (int i = 0; i < 1000; i++) client_.Set("k" + std::to_string(i), "v");
  client_.Set("timed", "v", now() + 1000);
  client_.Flush();
  for (int i = 0; i < 1000; i++) {
    const Reply reply = client_.Get("k" + std::to_string(i)).reply;
    ASSERT_EQ(reply.outcome, Outcome::kMiss);
  }
  EXPECT_EQ(client_.Value("timed"), "(none)");
  EXPECT_EQ(client_.Put(StoreMode::kAppend, "k1", "x").reply.outcome, Outcome::kNotStored);
  EXPECT_EQ(client_.Put(StoreMode::kAdd, "k1", "new").reply.outcome, Outcome::kStored);
  EXPECT_EQ(client_.Set("k2", "new"), Outcome::kStored);
  EXPECT_EQ(client_.Value("k1"), "new");
  EXPECT_EQ(client_.Value("k2"), "new");
}

TEST_F(Flush, WithinABatchIsSeenByWhatFollows) {
  client_.Set("k", "v");
  Session& session = client_.session();
  Command read = Client::Of(Verb::kRead, "k");
  read.hash = store_->HashOf("k");
  session.Begin();
  EXPECT_EQ(store_->Execute(session, read).outcome, Outcome::kHit);
  store_->Flush(session, 0);
  const Reply reply = store_->Execute(session, read);
  EXPECT_EQ(reply.outcome, Outcome::kMiss);
  session.End();
}

TEST_F(Flush, FlushedObjectsAreFreedAndCountedOut) {
  for (int i = 0; i < 20000; i++) client_.Set("k" + std::to_string(i), std::string(100, 'v'));
  client_.Flush();
  for (int i = 0; i < 2000 && store_->Stats().items != 0; i++) {
    client_.Flush();
    client_.session().Begin();
    client_.session().End();
    store_->MakeRoom(client_.session(), 1 << 20);
    client_.Get("x");
  }
  // What is left waits until its memory is needed; nothing of it is seen.
  for (int i = 0; i < 20000; i += 100) ASSERT_EQ(client_.Value("k" + std::to_string(i)), "(none)");
  for (int i = 0; i < 600000; i++) {
    ASSERT_EQ(client_.Set("n" + std::to_string(i % 1000), std::string(100, 'v')), Outcome::kStored);
  }
  EXPECT_EQ(store_->Stats().items, 1000u);
  EXPECT_EQ(store_->Stats().evictions, 0u);
}

TEST_F(Flush, WithADelayWaitsForItsSecond) {
  uint32_t due = 0;
  std::string before;
  do {  // again where that took until its second
    client_.Set("k", "v");
    due = now() + 2;
    client_.Flush(due);
    before = client_.Value("k");
  } while (now() >= due);
  EXPECT_EQ(before, "v");
  // Not asked in the meantime: the first look after the second sees the empty store.
  timespec wait = {0, 50'000'000};
  while (now() < due) nanosleep(&wait, nullptr);
  EXPECT_EQ(client_.Value("k"), "(none)");
  EXPECT_EQ(client_.Set("k", "w"), Outcome::kStored);
  EXPECT_EQ(client_.Value("k"), "w");
}

}  // namespace
}  // namespace weft::cache
