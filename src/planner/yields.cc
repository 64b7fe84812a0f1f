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

void Yields::Note(const Profile& profile, size_t candidate, double queries_per_s, double part) {
  if (!std::isfinite(queries_per_s) || queries_per_s <= 0 || part <= 0) return;
  size_t at = Find(profile);
  if (at == workloads_.size()) {
    if (at < kWorkloads) {
      workloads_.emplace_back();
    } else {
      const auto older = [](const Workload& a, const Workload& b) { return a.used < b.used; };
      at = static_cast<size_t>(
          std::min_element(workloads_.begin(), workloads_.end(), older) - workloads_.begin());
    }
    workloads_[at] = {profile, 0, std::vector<Plan>(candidates_)};
    workloads_[at].profile.counted = 0;  // it was taken for true
  }
  workloads_[at].used = ++notes_;
  for (Plan& plan : workloads_[at].plans) plan.belief *= 1 - kForgotten;
  Plan& plan = workloads_[at].plans[candidate];
  part = std::min(part, 1.0);
  if (plan.trials == 0) plan.queries_per_s = queries_per_s;
  const double weight = std::max(part / (plan.trials + part), kPart * part);
  plan.queries_per_s *= std::pow(queries_per_s / plan.queries_per_s, weight);
  plan.trials += part;
  plan.belief = 1;
}

Yields::Yield Yields::YieldOf(const Plan& plan, double promise) {
  return {std::pow(std::clamp(plan.queries_per_s / promise, kMin, kMax), plan.belief),
          plan.trials >= kTrials};
}

std::vector<Yields::Yield> Yields::Of(const Profile& profile,
                                      std::span<const double> promises) const {
  std::vector<Yield> yields(candidates_);
  const size_t at = Find(profile);
  if (at == workloads_.size()) return yields;
  const std::vector<Plan>& plans = workloads_[at].plans;
  for (size_t i = 0; i < candidates_; i++) {
    if (plans[i].trials == 0 || promises[i] <= 0) continue;
    yields[i] = YieldOf(plans[i], promises[i]);
  }
  const double one_stage = yields[0].ratio;
  double sum = 0, tried = 0;
  for (size_t i = 1; i < candidates_; i++) {
    if (plans[i].trials == 0) continue;
    sum += std::log(yields[i].ratio / one_stage);
    tried++;
  }
  const double other = one_stage * std::exp(sum / (tried + kOthers));
  for (size_t i = 1; i < candidates_; i++)
    if (plans[i].trials == 0) yields[i].ratio = other;
  return yields;
}

Yields::Yield Yields::OfTried(const Profile& profile, size_t candidate, double promise) const {
  const size_t at = Find(profile);
  if (at == workloads_.size() || workloads_[at].plans[candidate].trials == 0) return {};
  return YieldOf(workloads_[at].plans[candidate], promise);
}

}  // namespace weft::planner
