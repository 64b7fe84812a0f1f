#include "sim/prefetch/trigger_audit.h"

#include <algorithm>

namespace weft::sim {

std::deque<TriggerAudit::Waiting>& TriggerAudit::Of(int core) {
  const auto index = static_cast<size_t>(core);
  if (waiting_.size() <= index) waiting_.resize(index + 1);
  return waiting_[index];
}

void TriggerAudit::OnChoice(const Choice& choice) {
  std::deque<Waiting>& waiting = Of(choice.core);
  const size_t before = waiting.size();
  std::erase_if(waiting, [&](const Waiting& each) { return each.bucket == choice.bucket; });
  if (waiting.size() == kWaitingMax) waiting.pop_front();
  if (waiting.size() < before) ++counts_->addresses_unjudged;
  Waiting judged{.bucket = choice.bucket, .slots = 0, .is_empty = choice.count == 0};
  for (int i = 0; i < choice.count; ++i) {
    const uint8_t slot = choice.slots[static_cast<size_t>(i)];
    if (slot != kNoSlot) judged.slots |= uint32_t{1} << slot;
  }
  waiting.push_back(judged);
}

void TriggerAudit::OnHit(uint64_t bucket, uint8_t slot, int core) {
  std::deque<Waiting>& waiting = Of(core);
  const auto found = std::find_if(waiting.begin(), waiting.end(),
                                  [&](const Waiting& each) { return each.bucket == bucket; });
  if (found == waiting.end()) return;
  if (slot == kNoSlot) {
    ++counts_->addresses_absent;
  } else if (found->is_empty) {
    ++counts_->addresses_none;
  } else if ((found->slots >> slot & 1) != 0) {
    ++counts_->addresses_right;
  } else {
    ++counts_->addresses_wrong;
  }
  waiting.erase(found);
}

}  // namespace weft::sim
