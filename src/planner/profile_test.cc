#include "planner/profile.h"

#include <gtest/gtest.h>

namespace weft::planner {
namespace {

TEST(HasMoved, NeedsMoreThanTheThreshold) {
  Profile from;
  EXPECT_FALSE(HasMoved(from, from));
  Profile to = from;
  to.value_bytes = from.value_bytes * 1.09;
  EXPECT_FALSE(HasMoved(from, to));
  to.value_bytes = from.value_bytes * 1.2;
  EXPECT_TRUE(HasMoved(from, to));
  EXPECT_TRUE(HasMoved(to, from));
  to = from;
  to.key_bytes = from.key_bytes / 2;
  EXPECT_TRUE(HasMoved(from, to));
}

// 95 to 100 % GETs is a twentieth more GETs, but no more stores at all.
TEST(HasMoved, LooksAtTheShareOfStoresToo) {
  Profile from, to;
  from.get_share = 0.95;
  to.get_share = 1;
  EXPECT_TRUE(HasMoved(from, to));
  to.get_share = 0.952;
  EXPECT_FALSE(HasMoved(from, to));
}

// Of 1,000 queries 50 stores in the mean; 65 of them are 2.2 deviations off.
TEST(HasMoved, DoesNotTakeChanceForAChange) {
  Profile from, to;
  from.get_share = 0.95;
  from.counted = 1000;
  to.get_share = 0.935;
  to.counted = 1000;
  EXPECT_FALSE(HasMoved(from, to));
  from.counted = to.counted = 1e6;
  EXPECT_TRUE(HasMoved(from, to));
}

TEST(HasMoved, FollowsTheSkew) {
  Profile from, to;
  to.zipf = 0.1;
  EXPECT_FALSE(HasMoved(from, to));
  to.zipf = 0.99;
  EXPECT_TRUE(HasMoved(from, to));
}

// Five of ten reads that missed are no other workload than one of 5,000.
TEST(HasMoved, CountsHitsOverReads) {
  Profile from, to;
  from.counted = to.counted = 10'000;
  from.get_share = to.get_share = 0.001;
  from.hit_share = 0.5;
  to.hit_share = 0.9;
  EXPECT_FALSE(HasMoved(from, to));
  from.get_share = to.get_share = 0.9;
  EXPECT_TRUE(HasMoved(from, to));
}

TEST(HasMoved, FollowsBatchesOnlyFarther) {
  Profile from, to;
  from.batch_queries = 1000;
  to.batch_queries = 800;
  EXPECT_FALSE(HasMoved(from, to));
  to.batch_queries = 600;
  EXPECT_TRUE(HasMoved(from, to));
}

TEST(HasMoved, LooksAtVictimsAsFarAsTheyCost) {
  Profile from, to;
  from.get_share = to.get_share = 0.99;
  to.looks_per_store = 4;
  EXPECT_FALSE(HasMoved(from, to));
  from.get_share = to.get_share = 0.5;
  EXPECT_TRUE(HasMoved(from, to));
}

TEST(WhatMoved, SaysWhatAndFromWhereToWhere) {
  Profile from, to;
  EXPECT_EQ(WhatMoved(from, to), "");
  from.get_share = 0.95;
  EXPECT_EQ(WhatMoved(from, to), "SET share 0.05 to 0.00");
  from.get_share = 0.5;
  to.value_bytes = 8;
  to.zipf = 0.99;
  EXPECT_EQ(WhatMoved(from, to),
            "GET share 0.50 to 1.00, value bytes 64.0 to 8.0, Zipf exponent 0.00 to 0.99");
}

TEST(ProfileOfWorkload, ReadsTheNames) {
  auto profile = ProfileOfWorkload("K32-G95-S");
  ASSERT_TRUE(profile);
  EXPECT_DOUBLE_EQ(profile->get_share, 0.95);
  EXPECT_NEAR(profile->store_share(), 0.05, 1e-12);
  EXPECT_EQ(profile->key_bytes, 32);
  EXPECT_EQ(profile->value_bytes, 256);
  EXPECT_EQ(profile->zipf, 0.99);
  EXPECT_EQ(ProfileOfWorkload("K8-G100-U")->zipf, 0);
}

TEST(ProfileOfWorkload, RefusesOthers) {
  for (const char* name : {"", "K16", "K16-G95", "K17-G95-U", "K16-G101-U", "K16-95-U", "K16-G-U",
                           "K16-G9x-U", "K16-G95-X", "K16--G95-U", "K16-G-5-U"}) {
    const auto profile = ProfileOfWorkload(name);
    ASSERT_FALSE(profile) << name;
    EXPECT_EQ(profile.error().code(), Code::kInvalidArgument);
  }
}

TEST(Describe, NamesTheSkew) {
  EXPECT_NE(Describe(*ProfileOfWorkload("K8-G50-S")).find("exponent 0.99"), std::string::npos);
  EXPECT_NE(Describe(*ProfileOfWorkload("K8-G50-U")).find("uniform"), std::string::npos);
}

}  // namespace
}  // namespace weft::planner
