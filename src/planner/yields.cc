#include "planner/yields.h"

#include <algorithm>
#include <cmath>

namespace weft::planner {
namespace {

constexpr double kZipfAlike = 0.3;
constexpr double kObjectsAlike = 2;  // a factor

bool HaveSameSharesAndSizes(const Profile& known, const Profile& now) {
  Profile compared = now;
  compared.looks_per_store = known.looks_per_store;
  compared.zipf = known.zipf;
  compared.objects = known.objects;
  return !HasMoved(known, compared);
}

bool AreAlike(const Profile& known, const Profile& now) {
  Profile compared = now;
  compared.looks_per_store = known.looks_per_store;
  if (std::abs(now.zipf - known.zipf) < kZipfAlike) compared.zipf = known.zipf;
  if (now.objects < known.objects * kObjectsAlike && known.objects < now.objects * kObjectsAlike)
    compared.objects = known.objects;
  return !HasMoved(known, compared);
}

// Whether it was counted over more queries.
bool IsOfMore(const Profile& profile, const Profile& other) {
  if (other.counted == 0) return false;  // exact
  return profile.counted == 0 || profile.counted > other.counted;
}

}  // namespace

size_t Yields::Find(const Profile& profile) const {
  size_t found = workloads_.size();
  for (size_t i = 0; i < workloads_.size(); i++) {
    if (!AreAlike(workloads_[i].profile, profile)) continue;
    // Of several the one that says most of now.
    if (found == workloads_.size() || workloads_[i].visited > workloads_[found].visited) found = i;
  }
  return found;
}

size_t Yields::RoomForAnother() {
  if (workloads_.size() < kWorkloads) {
    workloads_.emplace_back();
    return workloads_.size() - 1;
  }
  const auto older = [](const Workload& a, const Workload& b) { return a.visited < b.visited; };
  return static_cast<size_t>(std::min_element(workloads_.begin(), workloads_.end(), older) -
                             workloads_.begin());
}

bool Yields::Visit(const Profile& profile, uint64_t now_ns) {
  size_t at = Find(profile);
  const bool is_another = at == workloads_.size() || at != at_;
  const bool stays =
      at_ < workloads_.size() && HaveSameSharesAndSizes(workloads_[at_].profile, profile);
  if (is_another && !stays && at_ < workloads_.size()) {
    double& stay_ns = workloads_[at_].stay_ns;
    const double ended_ns = std::max(static_cast<double>(now_ns - since_ns_), 1.0);
    stay_ns = stay_ns == 0 ? ended_ns : std::sqrt(stay_ns * ended_ns);
  }
  if (at == workloads_.size()) {
    at = RoomForAnother();
    workloads_[at] = {profile,
                      ++numbers_,
                      0,
                      0,
                      {std::vector<Plan>(candidates_), std::vector<Plan>(candidates_)},
                      std::vector<bool>(candidates_)};
  } else if (IsOfMore(profile, workloads_[at].profile)) {
    workloads_[at].profile = profile;  // what few queries said of it was chance, in part
  }
  if (is_another && !stays) since_ns_ = now_ns;
  at_ = at;
  workloads_[at].visited = ++visits_;
  return is_another;
}

bool Yields::IsLong(uint64_t now_ns) const {
  if (at_ >= workloads_.size() || now_ns - since_ns_ >= kLongNs) return true;
  const double expected_ns = workloads_[at_].stay_ns;
  return expected_ns == 0 || expected_ns >= kLongNs;
}

void Yields::Note(size_t candidate, bool is_fresh, double queries_per_s, double part) {
  if (!std::isfinite(queries_per_s) || queries_per_s <= 0 || part <= 0) return;
  std::vector<Plan>& plans = workloads_[at_].plans[is_fresh];
  for (Plan& plan : plans) plan.belief *= 1 - kForgotten;
  Plan& plan = plans[candidate];
  part = std::min(part, 1.0);
  if (plan.trials == 0) plan.queries_per_s = queries_per_s;
  const double weight = std::max(part / (plan.trials + part), kPart * part);
  plan.queries_per_s *= std::pow(queries_per_s / plan.queries_per_s, weight);
  plan.trials += part;
  plan.belief = 1;
}

Yields::Yield Yields::YieldOf(const Plan& plan, double promise) {
  return {std::pow(std::clamp(plan.queries_per_s / promise, kMin, kMax), plan.belief),
          plan.trials >= kTrials, plan.trials};
}

std::vector<Yields::Yield> Yields::Of(std::span<const double> promises, bool is_fresh,
                                      std::optional<Held> held) const {
  std::vector<Yield> yields(candidates_);
  if (at_ >= workloads_.size()) return yields;
  const std::vector<Plan>& plans = workloads_[at_].plans[is_fresh];
  for (size_t i = 0; i < candidates_; i++) {
    if (plans[i].trials == 0 || promises[i] <= 0) continue;
    yields[i] = YieldOf(plans[i], promises[i]);
  }
  if (held && !yields[held->candidate].is_known) yields[held->candidate].ratio = held->ratio;
  const double one_stage = yields[0].ratio;
  double sum = 0, tried = 0;
  for (size_t i = 1; i < candidates_; i++) {
    if (plans[i].trials == 0) continue;
    sum += std::log(yields[i].ratio / one_stage);
    tried++;
  }
  const double other = one_stage * std::exp(sum / (tried + kOthers));
  for (size_t i = 1; i < candidates_; i++)
    if (plans[i].trials == 0 && !(held && held->candidate == i)) yields[i].ratio = other;
  return yields;
}

Yields::Yield Yields::OfTried(size_t candidate, double promise, bool is_fresh) const {
  if (at_ >= workloads_.size()) return {};
  const Plan& plan = workloads_[at_].plans[is_fresh][candidate];
  return plan.trials == 0 ? Yield() : YieldOf(plan, promise);
}

void Yields::NoteExplored(size_t candidate) { workloads_[at_].explored[candidate] = true; }

void Yields::NoteAllExplored() {
  std::vector<bool>& explored = workloads_[at_].explored;
  std::fill(explored.begin(), explored.end(), true);
}

bool Yields::WasExplored(size_t candidate) const {
  return at_ < workloads_.size() && workloads_[at_].explored[candidate];
}

size_t Yields::explored() const {
  if (at_ >= workloads_.size()) return 0;
  const std::vector<bool>& explored = workloads_[at_].explored;
  return static_cast<size_t>(std::count(explored.begin(), explored.end(), true));
}

}  // namespace weft::planner
