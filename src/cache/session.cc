#include "cache/session.h"

#include <atomic>

#include "base/check.h"
#include "base/clock.h"
#include "cache/store.h"

namespace weft::cache {

Session::~Session() {
  WEFT_CHECK(!inside_);
  store_->Forget(this);
  store_->change_epochs().Release(slots_.changing);
  store_->epochs().Release(slots_.reading);
}

void Session::Begin() {
  BeginReading();
  BeginChanging();
}

void Session::BeginChanging() {
  WEFT_DCHECK(inside_);
  if (changing_) return;
  store_->change_epochs().Enter(slots_.changing);
  changing_ = true;
}

void Session::BeginReading() {
  WEFT_DCHECK(!inside_);
  store_->epochs().Enter(slots_.reading);
  inside_ = true;
  now_s_ = base::NowSeconds();
  store_->FlushIfDue(now_s_);
  TakeViews();
}

Epochs::Slot* Session::GiveAwayPlace() {
  WEFT_DCHECK(inside_);
  Epochs::Slot* const place = store_->epochs().Claim();
  if (place == nullptr) return nullptr;
  store_->epochs().Enter(place);
  return std::exchange(slots_.reading, place);
}

void Session::TakeViews() {
  index_ = store_->index().current();
  if (index_.marks != nullptr && ring_ == nullptr)
    ring_ = store_->change_rings().Of(store_->change_epochs().NumberOf(slots_.changing));
  RefreshLog();
}

void Session::RefreshLog() { log_ = store_->log().Ref(); }

void Session::ReleaseObject(uint64_t location) {
  task::Object* const object = ObjectAt(location);
  store_->log().Release(location, task::StoredBytes(object));
  // No locked write: what others note of it at the same time tells nothing any more. Release: pairs
  // with Emptying::Collect, which then sees whether marks are trusted.
  const std::atomic_ref<uint32_t> access(object->access);
  access.store(access.load(std::memory_order_relaxed) | kAccessDead, std::memory_order_release);
  WEFT_RECORD(task::RecordUpdate(&object->access, sizeof object->access, 0));
}

void Session::CountHit(uint64_t location) {
  const bool is_main = store_->log().GenerationOf(location) == Generation::kMain;
  (is_main ? counters_.main_hits : counters_.young_hits).Add(1);
}

void Session::CountItems() { store_->CountItems(std::exchange(items_delta_, 0)); }

void Session::End() {
  WEFT_DCHECK(inside_);
  if (items_delta_ != 0) CountItems();
  ChangesDone();
  if (changing_) store_->change_epochs().Exit(slots_.changing);
  changing_ = false;
  inside_ = false;
  store_->epochs().Exit(slots_.reading);
}

}  // namespace weft::cache
