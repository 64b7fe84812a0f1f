#include "cache/session.h"

#include "base/check.h"
#include "base/clock.h"
#include "cache/store.h"

namespace weft::cache {

Session::~Session() {
  WEFT_CHECK(!inside_);
  store_->Forget(this);
  epochs_->Release(slot_);
}

void Session::Begin() {
  WEFT_DCHECK(!inside_);
  epochs_->Enter(slot_);
  inside_ = true;
  now_s_ = base::NowSeconds();
  store_->FlushIfDue(now_s_);
  Refresh();
}

void Session::Refresh() {
  index_ = store_->index().current();
  RefreshLog();
}

void Session::RefreshLog() { log_ = store_->log().Ref(); }

void Session::End() {
  WEFT_DCHECK(inside_);
  if (items_delta_ != 0) {
    store_->CountItems(items_delta_);
    items_delta_ = 0;
  }
  inside_ = false;
  epochs_->Exit(slot_);
}

}  // namespace weft::cache
