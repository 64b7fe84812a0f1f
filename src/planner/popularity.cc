#include "planner/popularity.h"

#include <algorithm>
#include <cmath>

namespace weft::planner {
namespace {

constexpr double kExactRanks = 16;  // summed one by one
constexpr double kZipfMax = 3;

double IntegralOfPower(double from, double to, double s) {
  if (std::abs(s - 1) < 1e-9) return std::log(to / from);
  return (std::pow(to, 1 - s) - std::pow(from, 1 - s)) / (1 - s);
}

// Euler and Maclaurin's formula for the ranks from kExactRanks to n, both included.
double TailSum(double n, double s) {
  const double first = std::pow(kExactRanks, -s);
  const double last = std::pow(n, -s);
  return IntegralOfPower(kExactRanks, n, s) + (first + last) / 2 +
         s * (first / kExactRanks - last / n) / 12;
}

}  // namespace

double PowerSum(double n, double s) {
  if (s == 0) return n;
  double sum = 0;
  const double exact = n > kExactRanks ? kExactRanks - 1 : std::floor(n);
  for (double i = 1; i <= exact; i++) sum += std::pow(i, -s);
  if (n > kExactRanks) return sum + TailSum(n, s);
  // A part of a rank counts as that part of it.
  return sum + (n - exact) * std::pow(exact + 1, -s);
}

double HeadShare(double head, double n, double s) {
  if (head >= n) return 1;
  return head <= 0 ? 0 : PowerSum(head, s) / PowerSum(n, s);
}

double CollisionShare(double n, double s) {
  const double sum = PowerSum(n, s);
  return PowerSum(n, 2 * s) / (sum * sum);
}

double ZipfOfCollisions(double collisions, double pairs, double n) {
  if (pairs <= 0 || n < 2) return 0;
  const double uniform = pairs / n;
  if (collisions <= uniform + 3 * std::sqrt(std::max(uniform, 1.0))) return 0;
  const double share = collisions / pairs;
  double low = 0, high = kZipfMax;
  if (share >= CollisionShare(n, high)) return high;
  for (int i = 0; i < 40; i++) {
    const double middle = (low + high) / 2;
    (CollisionShare(n, middle) < share ? low : high) = middle;
  }
  return low;
}

double WrittenShare(double writes, double n, double s) {
  if (writes <= 0 || n <= 0) return 0;
  const double sum = PowerSum(n, s);
  // Ranks in runs, each a quarter longer than what came before it: alike enough for one frequency.
  double share = 0, from_sum = 0;
  for (double from = 0; from < n;) {
    const double to = std::min(n, std::max(from + 1, std::floor(from * 1.25)));
    const double to_sum = PowerSum(to, s);
    const double run = (to_sum - from_sum) / sum;
    share += run * -std::expm1(-writes * run / (to - from));
    from = to;
    from_sum = to_sum;
  }
  return share;
}

}  // namespace weft::planner
