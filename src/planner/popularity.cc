#include "planner/popularity.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::planner {
namespace {

constexpr double kExactRanks = 16;  // summed one by one
constexpr double kZipfMax = 3;
constexpr double kRare = 1e-3;      // below it two terms of the exponential are exact to 1e-6 of it
constexpr double kZipfStep = 1e-4;  // that an estimate is exact to

// Natural logarithms of 1, 2, 3, ...
const std::array<double, 16> kLogs = [] {
  std::array<double, 16> logs{};
  for (size_t i = 0; i < logs.size(); i++) logs[i] = std::log(static_cast<double>(i + 1));
  return logs;
}();

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
  for (size_t i = 0; i < static_cast<size_t>(exact); i++) sum += std::exp(-s * kLogs[i]);
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
  while (high - low > kZipfStep) {
    const double middle = (low + high) / 2;
    (CollisionShare(n, middle) < share ? low : high) = middle;
  }
  return low;
}

WrittenKeys::WrittenKeys(double n, double s) {
  if (n <= 0) return;
  const double sum = PowerSum(n, s);
  // Each run a quarter longer than what came before it.
  double from_sum = 0;
  for (double from = 0; from < n;) {
    const double to = std::min(n, std::max(from + 1, std::floor(from * 1.25)));
    const double to_sum = PowerSum(to, s);
    const double share = (to_sum - from_sum) / sum;
    runs_.push_back({share, share / (to - from)});
    from = to;
    from_sum = to_sum;
  }
}

double WrittenKeys::Share(double writes) const {
  double share = 0;
  if (writes <= 0) return share;
  for (const Run& run : runs_) {
    const double times = writes * run.frequency;
    // Most keys are hardly ever written.
    share += run.share * (times < kRare ? times - times * times / 2 : -std::expm1(-times));
  }
  return share;
}

double WrittenShare(double writes, double n, double s) { return WrittenKeys(n, s).Share(writes); }

}  // namespace weft::planner
