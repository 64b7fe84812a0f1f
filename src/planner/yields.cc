#include "planner/yields.h"

#include <algorithm>
#include <cmath>

namespace weft::planner {
namespace {

constexpr double kZipfAlike = 0.3;
constexpr double kObjectsAlike = 2;  // a factor

bool AreAlike(const Profile& known, const Profile& now) {
  Profile compared = now;
  compared.looks_per_store = known.looks_per_store;
  if (std::abs(now.zipf - known.zipf) < kZipfAlike) compared.zipf = known.zipf;
  if (now.objects < known.objects * kObjectsAlike && known.objects < now.objects * kObjectsAlike)
    compared.objects = known.objects;
  return !HasMoved(known, compared);
}

}  // namespace

size_t Yields::Find(const Profile& profile) const {
  size_t found = workloads_.size();
  for (size_t i = 0; i < workloads_.size(); i++) {
    if (!AreAlike(workloads_[i].profile, profile)) continue;
    // Of several the one that says most of now.
    if (found == workloads_.size() || workloads_[i].used > workloads_[found].used) found = i;
  }
  return found;
}

void Yields::Note(const Profile& profile, size_t candidate, double ratio, double part) {
  if (!std::isfinite(ratio) || ratio <= 0 || part <= 0) return;
  size_t at = Find(profile);
  if (at == workloads_.size()) {
    if (at < kWorkloads) {
      workloads_.emplace_back();
    } else {
      const auto older = [](const Workload& a, const Workload& b) { return a.used < b.used; };
      at = static_cast<size_t>(
          std::min_element(workloads_.begin(), workloads_.end(), older) - workloads_.begin());
    }
    workloads_[at] = {profile, 0, std::vector<Yield>(candidates_)};
    workloads_[at].profile.counted = 0;  // it was taken for true
  }
  workloads_[at].used = ++notes_;
  for (Yield& yield : workloads_[at].yields) yield.ratio = std::pow(yield.ratio, 1 - kForgotten);
  Yield& yield = workloads_[at].yields[candidate];
  part = std::min(part, 1.0);
  const double weight = std::max(part / (yield.trials + part), kPart * part);
  yield.ratio = std::clamp(yield.ratio * std::pow(ratio / yield.ratio, weight), kMin, kMax);
  yield.trials += part;
}

std::vector<Yields::Yield> Yields::Of(const Profile& profile) const {
  const size_t at = Find(profile);
  if (at == workloads_.size()) return std::vector<Yield>(candidates_);
  std::vector<Yield> yields = workloads_[at].yields;
  double sum = 0, tried = 0;
  for (size_t i = 1; i < yields.size(); i++) {
    if (yields[i].trials == 0) continue;
    sum += std::log(yields[i].ratio);
    tried++;
  }
  const double other = std::exp(sum / (tried + kOthers));
  for (size_t i = 1; i < yields.size(); i++)
    if (yields[i].trials == 0) yields[i].ratio = other;
  return yields;
}

}  // namespace weft::planner
