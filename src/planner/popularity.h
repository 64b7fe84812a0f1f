// planner/popularity.h: what Zipf's law says of a workload's keys: how much of the work the most
// popular ones make, and how skewed a sample of accesses shows it to be.
//
// The key of rank i, from 1, has frequency i^-s of PowerSum(n, s). Exponent s = 0 is the uniform
// distribution. Counts are doubles: they are estimates, and some are larger than 2^32.
//
// Threads   pure functions.
// Cost      some tens of powers a call, whatever n is, of WrittenKeys some hundreds; PowerSum's
//           error is below 1e-6 of the sum.
// Source    paper 000, section IV-B, "Key-Value Objects" (P); the estimate of s is ours and
//           docs/design/0009-choosing-a-plan.md says why it is not the paper's.
#pragma once

#include <vector>

namespace weft::planner {

// Sum of i^-s for i from 1 to n. REQUIRES: n >= 0, s >= 0
double PowerSum(double n, double s);

// P of paper 000: the share of all accesses that go to the `head` most popular of n keys.
double HeadShare(double head, double n, double s);

// Probability that two accesses are to one key.
double CollisionShare(double n, double s);

// The exponent at which `pairs` pairs of accesses to n keys have `collisions` of one key each; 0
// where so many are no sign of skew: within three standard deviations of what uniform keys have.
double ZipfOfCollisions(double collisions, double pairs, double n);

// Which share of accesses go to keys that were just written, by how many writes there were.
class WrittenKeys {
 public:
  WrittenKeys(double n, double s);
  // That go to a key which one or more of `writes` writes, drawn by the same law, were to.
  double Share(double writes) const;

 private:
  // Ranks that follow each other and are alike enough for one frequency.
  struct Run {
    double share;      // of accesses, to all of them
    double frequency;  // of one
  };
  std::vector<Run> runs_;
};

// Of one number of writes.
double WrittenShare(double writes, double n, double s);

}  // namespace weft::planner
