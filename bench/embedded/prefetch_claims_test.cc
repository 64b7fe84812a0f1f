// Whether claims are judged as their figures say.

#include "bench/embedded/prefetch_claims.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

const std::vector<uint32_t> kValues = {128, 256, 512, 1024};
const std::vector<uint32_t> kPerBuckets = {1, 2, 4, 8};

Samples Around(double gain) {
  return Samples({gain - 0.003, gain - 0.001, gain, gain + 0.001, gain + 0.003});
}

// A machine on which all claims hold.
PrefetchGains Ideal() {
  PrefetchGains gains;
  for (size_t v = 0; v < kValues.size(); ++v) {
    const double size = static_cast<double>(v);
    const auto add = [&](uint32_t per_bucket, PrefetchWay way, double gain) {
      gains.Add({kValues[v], 32, per_bucket}, way, Around(gain));
    };
    constexpr PrefetchWay kStatic[] = {PrefetchWay::kStatic128, PrefetchWay::kStatic256,
                                       PrefetchWay::kStatic512, PrefetchWay::kStatic1024};
    for (size_t s = 0; s < 4; ++s) {
      const double off = static_cast<double>(s > v ? s - v : v - s);
      add(4, kStatic[s], 0.3 + 0.05 * size - 0.07 * off);
    }
    add(4, PrefetchWay::kExact, 0.4 + 0.05 * size);
    add(4, PrefetchWay::kRight20, 0.07 + 0.02 * size);
    add(4, PrefetchWay::kRight50, 0.2 + 0.02 * size);
    add(4, PrefetchWay::kRight80, 0.3 + 0.02 * size);
    for (const uint32_t k : kPerBuckets)
      add(k, PrefetchWay::kExhausted, 0.3 - 0.08 * k * (1 + size / 4));
  }
  return gains;
}

ClaimVerdict VerdictOn(const std::string& id, const PrefetchGains& gains) {
  const std::vector<Claim> claims = ClaimsOf(gains, kValues, kPerBuckets, 32);
  const auto found = std::find_if(claims.begin(), claims.end(),
                                  [&](const Claim& claim) { return claim.id == id; });
  EXPECT_NE(found, claims.end());
  EXPECT_FALSE(found->what.empty());
  return found->verdict;
}

TEST(PrefetchClaims, AllHoldWhereTheyShould) {
  const std::vector<Claim> claims = ClaimsOf(Ideal(), kValues, kPerBuckets, 32);
  ASSERT_EQ(claims.size(), 10u);
  for (const Claim& claim : claims)
    EXPECT_EQ(claim.verdict, ClaimVerdict::kHolds) << claim.id << " " << claim.what;
}

TEST(PrefetchClaims, EachFailsWhereItsFiguresDo) {
  const struct {
    const char* id;
    PrefetchGains::Case of;
    PrefetchWay way;
    double gain;
  } cases[] = {
      {"A1", {512, 32, 4}, PrefetchWay::kStatic128, 0.6},
      {"A2", {1024, 32, 4}, PrefetchWay::kStatic1024, 0.3},
      {"A3", {512, 32, 4}, PrefetchWay::kStatic128, -0.02},
      {"A4", {128, 32, 4}, PrefetchWay::kStatic1024, 0.5},
      {"B1", {256, 32, 4}, PrefetchWay::kExhausted, 0.5},
      {"B2", {128, 32, 8}, PrefetchWay::kExhausted, 0.02},
      {"B3", {1024, 32, 8}, PrefetchWay::kExhausted, -0.1},
      {"C1", {128, 32, 4}, PrefetchWay::kRight80, 0.1},
      {"C2", {256, 32, 4}, PrefetchWay::kRight20, 0.2},
      {"C2", {256, 32, 4}, PrefetchWay::kRight20, 0.01},
      {"C3", {1024, 32, 4}, PrefetchWay::kRight50, 0.1},
  };
  for (const auto& each : cases) {
    PrefetchGains gains = Ideal();
    gains.Add(each.of, each.way, Around(each.gain));
    EXPECT_EQ(VerdictOn(each.id, gains), ClaimVerdict::kFails) << each.id;
  }
}

TEST(PrefetchClaims, OverlappingRoundsAreUnclear) {
  PrefetchGains gains = Ideal();
  // Above the value before it by its median, and below by some rounds.
  gains.Add({256, 32, 4}, PrefetchWay::kRight50, Samples({0.1, 0.15, 0.22, 0.25, 0.3}));
  EXPECT_EQ(VerdictOn("C3", gains), ClaimVerdict::kUnclear);
  // One round that is far off, as where a neighbour came between, is none of it.
  gains.Add({256, 32, 4}, PrefetchWay::kRight50, Samples({-2, 0.219, 0.22, 0.221, 2}));
  EXPECT_EQ(VerdictOn("C3", gains), ClaimVerdict::kHolds);
}

}  // namespace
}  // namespace weft::bench
