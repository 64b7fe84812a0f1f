#include "cache/session.h"

#include <atomic>

#include "base/check.h"
#include "base/clock.h"
#include "cache/store.h"

namespace weft::cache {

Session::Session(Store* store, const Slots& slots, uint32_t lane)
    : store_(store), slots_(slots), lane_(lane), holes_(&store->hole_budget()) {}

Session::~Session() {
  WEFT_CHECK(!inside_);
  GiveUpHoles();
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
  MarkDead(object);
}

// No locked write: what others note of it at the same time tells nothing any more. Release: pairs
// with Emptying::Collect, which then sees whether marks are trusted.
void Session::MarkDead(task::Object* object) {
  const std::atomic_ref<uint32_t> access(object->access);
  access.store(access.load(std::memory_order_relaxed) | kAccessDead, std::memory_order_release);
  WEFT_RECORD(task::RecordUpdate(&object->access, sizeof object->access, 0));
}

// A version that was shown must not come again: its place stays empty. Whoever shows one sets the
// mark, and then looks whether the object was replaced (op_read.cc, ShowVersion).
void Session::ReplaceObject(uint64_t location) {
  const ObjectLog& log = store_->log();
  task::Object* const object = ObjectAt(location);
  const bool was_shown = (task::LoadRelaxed32(&object->access) & kAccessCasSeen) != 0;
  if (!log.is_filling() || was_shown || task::ExpiryOf(object) != kNeverExpires)
    return ReleaseObject(location);
  const auto units = static_cast<uint32_t>(task::StoredBytes(object) / kLocationUnitBytes);
  Generation generation;
  const uint64_t version = log.VersionOfHole(location, &generation);
  if (version == 0 || units > Holes::kUnitsMax) return ReleaseObject(location);
  KeepHole({location, version, units, generation});
}

void Session::KeepHole(const Hole& hole) {
  if (!holes_.Keep(hole)) {
    GiveUpSome(kGivenUpForRoom);  // perhaps of a size that nobody asks for any more
    return ReleaseObject(hole.location);
  }
  hole_units_.Add(hole.units);
  MarkDead(ObjectAt(hole.location));
}

void Session::PrefetchNextHole(uint32_t units, Generation generation) const {
  const uint64_t next = holes_.NextLocation(units, generation);
  if (next == 0) return;
  const auto* const at = reinterpret_cast<const char*>(ObjectAt(next));
  for (uint64_t line = 0; line < units * kLocationUnitBytes; line += 64)
    __builtin_prefetch(at + line, 1);
}

uint64_t Session::TakeHole(uint32_t units, Generation generation) {
  for (uint32_t looks = 0; looks < kLooksForHole; looks++) {
    const Hole hole = holes_.Take(units, generation);
    if (hole.location == 0) return 0;
    if (store_->log().MayFill(hole.location, hole.version, generation)) {
      hole_units_.Add(uint64_t{0} - units);
      return hole.location;
    }
    GiveUp(hole);
  }
  return 0;
}

// Where it is no hole any more, its segment was emptied and counts nothing.
void Session::GiveUp(const Hole& hole) {
  hole_units_.Add(uint64_t{0} - hole.units);
  if (store_->log().IsHole(hole.location, hole.version))
    store_->log().Release(hole.location, uint64_t{hole.units} * kLocationUnitBytes);
}

void Session::GiveUpSome(size_t count) {
  for (; count != 0 && !holes_.empty(); count--) GiveUp(holes_.TakeAny());
}

void Session::GiveUpHoles() {
  WEFT_DCHECK(!inside_);
  if (holes_.empty()) return;
  store_->epochs().Enter(slots_.reading);
  GiveUpSome(SIZE_MAX);
  store_->epochs().Exit(slots_.reading);
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
  if (!holes_.empty() && !store_->is_filling()) GiveUpSome(kGivenUpPerBatch);
  if (changing_) store_->change_epochs().Exit(slots_.changing);
  changing_ = false;
  inside_ = false;
  store_->epochs().Exit(slots_.reading);
  holes_.Ripen(&store_->epochs());
}

}  // namespace weft::cache
