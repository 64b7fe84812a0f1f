#include "planner/exploration.h"

#include "base/check.h"

namespace weft::planner {

std::optional<size_t> Exploration::Next(const Yields& yields, std::span<const Estimate> estimates,
                                        std::span<const Yields::Yield> of_all, size_t standing) {
  if (yields.explored() >= kPlansMax || !estimates[standing].fits) return {};
  std::optional<size_t> next;
  double most = estimates[standing].queries_per_s / (1 + kDoubt);
  for (size_t i = 0; i < estimates.size(); i++) {
    if (i == standing || of_all[i].is_known || yields.WasExplored(i)) continue;
    if (!estimates[i].fits || estimates[i].queries_per_s <= most) continue;
    most = estimates[i].queries_per_s;
    next = i;
  }
  return next;
}

void Exploration::Begin(size_t candidate, double trials, size_t standing,
                        double standing_queries_per_s, uint64_t now_ns) {
  WEFT_DCHECK(!under_way_);
  under_way_ = {candidate, trials, standing, standing_queries_per_s, now_ns};
}

bool Exploration::IsOver(const Yields::Yield& yield, double promise, uint64_t now_ns) const {
  if (yield.is_known || now_ns - under_way_->since_ns >= kLimitNs) return true;
  return yield.trials >= kTrialsMin &&
         yield.ratio * promise < kReach * under_way_->standing_queries_per_s;
}

size_t Exploration::Abandon() {
  const size_t standing = under_way_->standing;
  under_way_.reset();
  return standing;
}

size_t Exploration::End(const Yields::Yield& yield, Yields* yields) {
  const UnderWay ended = *under_way_;
  under_way_.reset();
  if (yield.trials > ended.trials) {
    yields->NoteExplored(ended.candidate);
  } else {
    yields->NoteAllExplored();
  }
  return ended.standing;
}

}  // namespace weft::planner
