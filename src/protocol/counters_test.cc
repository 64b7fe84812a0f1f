// What each command counts. tests/integration/counters_test.py holds the same against memcached.
#include "protocol/counters.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "protocol/parse.h"

namespace weft::protocol {
namespace {

using Counted = std::map<std::string, uint64_t>;

Counted Read(const CommandCounters& c) {
  Counted counted;
  for (const auto& [name, counter] :
       std::initializer_list<std::pair<const char*, const base::Counter*>>{
           {"cmd_get", &c.cmd_get},
           {"cmd_set", &c.cmd_set},
           {"cmd_touch", &c.cmd_touch},
           {"cmd_meta", &c.cmd_meta},
           {"get_hits", &c.get_hits},
           {"get_misses", &c.get_misses},
           {"get_expired", &c.get_expired},
           {"get_flushed", &c.get_flushed},
           {"delete_hits", &c.delete_hits},
           {"delete_misses", &c.delete_misses},
           {"incr_hits", &c.incr_hits},
           {"incr_misses", &c.incr_misses},
           {"decr_hits", &c.decr_hits},
           {"decr_misses", &c.decr_misses},
           {"cas_hits", &c.cas_hits},
           {"cas_misses", &c.cas_misses},
           {"cas_badval", &c.cas_badval},
           {"touch_hits", &c.touch_hits},
           {"touch_misses", &c.touch_misses},
           {"store_too_large", &c.store_too_large},
           {"store_no_memory", &c.store_no_memory},
           {"total_items", &c.total_items},
           {"auth_cmds", &c.auth_cmds},
           {"auth_errors", &c.auth_errors},
       }) {
    if (counter->value() != 0) counted[name] = counter->value();
  }
  return counted;
}

// What `input`, one request, counts where the store's answer is `reply`.
Counted CountedFor(std::string_view input, const cache::Reply& reply) {
  char scratch[kScratchBytes];
  ParseContext context;
  context.scratch = scratch;
  context.item_bytes_max = 4096;
  Request request;
  EXPECT_EQ(Parse(input, context, &request).status, ParseStatus::kRequest);
  CommandCounters counters;
  if (request.kind <= RequestKind::kMetaDebug) CountReply(request, reply, &counters);
  CountRefused(request.refused, &counters);
  return Read(counters);
}

Counted CountedFor(std::string_view input, Outcome outcome) {
  cache::Reply reply;
  reply.outcome = outcome;
  return CountedFor(input, reply);
}

TEST(Counters, ReadsThatTouchCountAsTouches) {
  EXPECT_EQ(CountedFor("get k\r\n", Outcome::kHit), (Counted{{"cmd_get", 1}, {"get_hits", 1}}));
  EXPECT_EQ(CountedFor("get k\r\n", Outcome::kMiss), (Counted{{"cmd_get", 1}, {"get_misses", 1}}));
  EXPECT_EQ(CountedFor("gat 9 k\r\n", Outcome::kHit),
            (Counted{{"cmd_touch", 1}, {"touch_hits", 1}}));
  EXPECT_EQ(CountedFor("gats 9 k\r\n", Outcome::kMiss),
            (Counted{{"cmd_touch", 1}, {"touch_misses", 1}}));
  EXPECT_EQ(CountedFor("mg k T9\r\n", Outcome::kHit),
            (Counted{{"cmd_touch", 1}, {"touch_hits", 1}}));
  EXPECT_EQ(CountedFor("mg k T9\r\n", Outcome::kMiss),
            (Counted{{"cmd_get", 1}, {"get_misses", 1}}));
  EXPECT_EQ(CountedFor("mg k N9\r\n", Outcome::kStored),
            (Counted{{"cmd_get", 1}, {"get_hits", 1}, {"total_items", 1}}));
  EXPECT_EQ(CountedFor("me k\r\n", Outcome::kHit), (Counted{{"cmd_meta", 1}}));
  EXPECT_EQ(CountedFor("touch k 9\r\n", Outcome::kMiss),
            (Counted{{"cmd_touch", 1}, {"touch_misses", 1}}));
  EXPECT_EQ(CountedFor("gat 9 k\r\n", Outcome::kNoMemory), (Counted{{"cmd_touch", 1}}));
}

TEST(Counters, WrongVersionIsNoDelete) {
  EXPECT_EQ(CountedFor("md k C5\r\n", Outcome::kExists), (Counted{{"delete_misses", 1}}));
  EXPECT_EQ(CountedFor("md k C5\r\n", Outcome::kDeleted), (Counted{{"delete_hits", 1}}));
  EXPECT_EQ(CountedFor("md k I\r\n", Outcome::kDeleted), (Counted{}));
  EXPECT_EQ(CountedFor("md k I\r\n", Outcome::kMiss), (Counted{{"delete_misses", 1}}));
  EXPECT_EQ(CountedFor("delete k\r\n", Outcome::kIoError), (Counted{}));
}

TEST(Counters, OnlyWhatReplacesAVersionIsACas) {
  const Counted set{{"cmd_set", 1}};
  EXPECT_EQ(CountedFor("ms k 1 MA C5\r\nx\r\n", Outcome::kExists), set);
  EXPECT_EQ(CountedFor("ms k 1 ME C5\r\nx\r\n", Outcome::kNotStored), set);
  EXPECT_EQ(CountedFor("ms k 1 MR C5\r\nx\r\n", Outcome::kExists),
            (Counted{{"cmd_set", 1}, {"cas_badval", 1}}));
  EXPECT_EQ(CountedFor("cas k 0 0 1 5\r\nx\r\n", Outcome::kMiss),
            (Counted{{"cmd_set", 1}, {"cas_misses", 1}}));
  EXPECT_EQ(CountedFor("cas k 0 0 1 5\r\nx\r\n", Outcome::kStored),
            (Counted{{"cmd_set", 1}, {"cas_hits", 1}, {"total_items", 1}}));
}

TEST(Counters, RefusedStoresCountInEveryMode) {
  const std::string large(5000, 'x');
  for (const std::string_view verb : {"set", "add", "append", "replace"}) {
    EXPECT_EQ(CountedFor(std::string(verb) + " k 0 0 5000\r\n" + large + "\r\n", Outcome::kMiss),
              (Counted{{"store_too_large", 1}}));
  }
  EXPECT_EQ(CountedFor("set k 0 0 1\r\nxyz", Outcome::kMiss), (Counted{{"cmd_set", 1}}));
  EXPECT_EQ(CountedFor("ms k 1\r\nxyz", Outcome::kMiss), (Counted{{"cmd_set", 1}}));
  EXPECT_EQ(CountedFor("set k 0 0 1\r\nx\r\n", Outcome::kNoMemory),
            (Counted{{"store_no_memory", 1}}));
}

TEST(Counters, OtherMechanismsAreFailedLogIns) {
  CommandCounters counters;
  CountRefused(Refused::kMechanism, &counters);
  EXPECT_EQ(Read(counters), (Counted{{"auth_cmds", 1}, {"auth_errors", 1}}));
}

TEST(Counters, ArithmeticMakesItemsToo) {
  cache::Reply reply;
  reply.outcome = Outcome::kNumber;
  EXPECT_EQ(CountedFor("incr k 1\r\n", reply), (Counted{{"incr_hits", 1}}));
  reply.lengthened = true;
  EXPECT_EQ(CountedFor("incr k 1\r\n", reply), (Counted{{"incr_hits", 1}, {"total_items", 1}}));
  EXPECT_EQ(CountedFor("ma k N9\r\n", Outcome::kStored), (Counted{{"total_items", 1}}));
  EXPECT_EQ(CountedFor("ma k MD\r\n", Outcome::kMiss), (Counted{{"decr_misses", 1}}));
  EXPECT_EQ(CountedFor("ma k C5\r\n", Outcome::kExists), (Counted{}));
}

TEST(Counters, WhatHasEndedIsTold) {
  cache::Reply reply;
  reply.miss = cache::Miss::kExpired;
  EXPECT_EQ(CountedFor("delete k\r\n", reply), (Counted{{"delete_misses", 1}, {"get_expired", 1}}));
  reply.outcome = Outcome::kStored;
  reply.miss = cache::Miss::kFlushed;
  EXPECT_EQ(CountedFor("set k 0 0 1\r\nx\r\n", reply),
            (Counted{{"cmd_set", 1}, {"total_items", 1}}));
}

}  // namespace
}  // namespace weft::protocol
