#include "bench/pipeline/request_ring.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bench/harness/defaults.h"
#include "task/table_test_kit.h"

namespace weft::bench {
namespace {

constexpr uint64_t kKeysDrawn = 1000;
constexpr size_t kRequests = 200'000;

Workload Named(const char* name) { return *ParseWorkload(name); }

// How often each key was drawn, SETs and GETs alike.
std::vector<double> Drawn(const RequestRing& ring) {
  std::vector<double> drawn(kKeysDrawn);
  for (size_t i = 0; i < ring.size(); ++i) drawn.at(NumberOfKey(ring.At(i).key.data())) += 1;
  return drawn;
}

double ChiSquare(const std::vector<double>& seen, const std::vector<double>& expected) {
  double sum = 0;
  for (size_t i = 0; i < seen.size(); ++i)
    if (expected[i] > 0) sum += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
  return sum;
}

TEST(RequestRing, UniformKeysAreDrawnEquallyOften) {
  RequestRing ring(Named("K16-G95-U"), kRequests);
  ring.Fill(KeyPicker(kKeysDrawn, false), task::TestSeed());
  // 999 degrees of freedom: mean 999, deviation 44.7; six deviations are chance once in 10^9.
  const std::vector<double> expected(kKeysDrawn, static_cast<double>(kRequests) / kKeysDrawn);
  const double chi_square = ChiSquare(Drawn(ring), expected);
  EXPECT_LT(chi_square, 1270);
  EXPECT_GT(chi_square, 730);
}

// Against the law itself: each key's probability is that of the ranks that are scrambled to it. The
// two most popular ranks are drawn exactly, the rest by an approximation that is up to a fifth off
// (base/zipf_test.cc).
TEST(RequestRing, SkewedKeysFollowZipfsLaw) {
  RequestRing ring(Named("K16-G95-S"), kRequests);
  ring.Fill(KeyPicker(kKeysDrawn, true), task::TestSeed());
  const base::Zipf zipf(kKeysDrawn, defaults::kZipfTheta);
  std::vector<double> expected(kKeysDrawn);
  for (uint64_t rank = 0; rank < kKeysDrawn; ++rank)
    expected[zipf.Scramble(rank)] += kRequests * zipf.Probability(rank);
  const std::vector<double> drawn = Drawn(ring);
  for (size_t key = 0; key < kKeysDrawn; ++key) {
    const double chance = 6 * std::sqrt(expected[key]);
    ASSERT_NEAR(drawn[key], expected[key], 0.2 * expected[key] + chance + 1) << key;
  }
  const double most = expected[zipf.Scramble(0)];
  EXPECT_NEAR(drawn[zipf.Scramble(0)], most, 0.02 * most);
  // Not the even distribution: there the most popular key would have 200.
  EXPECT_GT(most, 20'000);
}

TEST(RequestRing, RequestsAreWhatTheWorkloadSays) {
  for (const char* name : {"K8-G50-U", "K32-G95-S", "K128-G100-U"}) {
    const Workload workload = Named(name);
    RequestRing ring(workload, kRequests);
    ring.Fill(KeyPicker(kKeysDrawn, workload.zipf), task::TestSeed());
    double gets = 0;
    for (size_t i = 0; i < ring.size(); ++i) {
      const RequestView request = ring.At(i);
      const bool is_get = request.head.opcode == Opcode::kGet;
      gets += is_get;
      ASSERT_EQ(request.head.value_bytes, is_get ? 0 : workload.value_bytes);
      std::string key(workload.key_bytes, ' ');
      WriteBinaryKey(NumberOfKey(request.key.data()), key.data(), workload.key_bytes);
      ASSERT_EQ(request.key, key);
    }
    const double share = workload.get_share;
    const double chance = 6 * std::sqrt(share * (1 - share) / kRequests);
    EXPECT_NEAR(gets / kRequests, share, chance + 1e-12) << name;
  }
}

TEST(RequestRing, ASeedDrawsTheSameRequestsAndAnotherOneOthers) {
  const Workload workload = Named("K8-G50-S");
  const KeyPicker picker(kKeysDrawn, true);
  RequestRing first(workload, 1000), same(workload, 1000), other(workload, 1000);
  first.Fill(picker, 1);
  same.Fill(picker, 1);
  other.Fill(picker, 2);
  size_t equal = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first.At(i).key, same.At(i).key);
    ASSERT_EQ(first.At(i).head.opcode, same.At(i).head.opcode);
    equal += first.At(i).key == other.At(i).key;
  }
  EXPECT_LT(equal, 200u);
}

}  // namespace
}  // namespace weft::bench
