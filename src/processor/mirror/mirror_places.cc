#include "processor/mirror/mirror_places.h"

#include <algorithm>

#include "base/check.h"

namespace weft::processor {
namespace {

constexpr uint32_t kJustUsed = 1u << 31;

}  // namespace

void MirrorPlaces::Open(uint32_t segments) {
  places_.assign(segments, Place());
  known_.clear();
  victims_.clear();
  held_ = 0;
  limit_ = memory_->SegmentsMax();
}

void MirrorPlaces::Note(uint32_t first, bool in_use, bool growing) {
  places_[first].in_use = in_use;
  places_[first].growing = growing;
}

Status MirrorPlaces::Begin(uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; i++) {
    const uint32_t owner = places_[i].owner;
    if (owner == 0 || (owner == first && places_[first].held == count)) continue;
    if (Status status = SendAway(owner); !status.ok()) return status;
  }
  // Those behind it that began runs of their own once are no longer any.
  for (uint32_t i = first + 1; i < first + count; i++) Note(i, false, false);
  places_[first].used = kJustUsed;
  if (!places_[first].known) known_.push_back(first);
  places_[first].known = true;
  return Status::Ok();
}

Result<bool> MirrorPlaces::Hold(uint32_t first, uint32_t count, Claim claim) {
  WEFT_DCHECK(!Holds(first));
  // Where the device has less than it said, once more, with what others give up.
  for (int attempt = 0; attempt < 2; attempt++) {
    const Result<bool> room = MakeRoom(count, claim);
    if (!room || !room.value()) return room;
    const Status status = HoldAll(first, count);
    if (status.ok()) return true;
    if (status.code() != Code::kNoMemory) return status;
    limit_ = held_;
  }
  return false;
}

Status MirrorPlaces::HoldAll(uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; i++) {
    const Status status = memory_->Hold(i);
    if (status.ok()) continue;
    for (uint32_t taken = first; taken < i; taken++)
      if (Status dropped = memory_->Drop(taken); !dropped.ok()) return dropped;
    return status;
  }
  for (uint32_t i = first; i < first + count; i++) places_[i].owner = first;
  places_[first].held = count;
  held_ += count;
  return Status::Ok();
}

Status MirrorPlaces::SendAway(uint32_t first) {
  Place& place = places_[first];
  if (Status status = memory_->SetResident(first, 0, 0); !status.ok()) return status;
  for (uint32_t i = first; i < first + place.held; i++) {
    if (Status status = memory_->Drop(i); !status.ok()) return status;
    places_[i].owner = 0;
  }
  sent_away_ += place.held;
  held_ -= place.held;
  place.held = 0;
  return Status::Ok();
}

Status MirrorPlaces::DropIdle(uint32_t enough) {
  for (const uint32_t first : known_) {
    if (held_ + enough <= limit_) break;
    if (places_[first].held == 0 || places_[first].in_use) continue;
    if (Status status = SendAway(first); !status.ok()) return status;
  }
  return Status::Ok();
}

uint64_t MirrorPlaces::RankEnd(Claim claim) {
  switch (claim) {
    case Claim::kIdle: return 1;
    case Claim::kWanted: return (uint64_t{1} << (32 - kRestRounds)) + 1;
    case Claim::kNew: return UINT64_MAX;
  }
  return 0;
}

void MirrorPlaces::FindVictims() {
  victims_.clear();
  for (const uint32_t first : known_) {
    const Place& place = places_[first];
    if (place.held != 0 && !place.growing) victims_.push_back({RankOf(first), first});
  }
  const auto sooner = [](const Victim& a, const Victim& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.first < b.first;
  };
  // More than are sent away in a round, mostly; to order all of them takes long.
  const size_t enough = victims_.size() / 16 + 16;
  if (victims_.size() > enough) {
    const auto end = victims_.begin() + static_cast<ptrdiff_t>(enough);
    std::nth_element(victims_.begin(), end, victims_.end(), sooner);
    victims_.erase(end, victims_.end());
  }
  std::sort(victims_.rbegin(), victims_.rend(), sooner);
}

uint32_t MirrorPlaces::NextVictim(size_t* at, uint64_t end) const {
  while (*at > 0) {
    const Victim& victim = victims_[*at - 1];
    if (victim.rank >= end) return 0;
    --*at;
    // It may have gone, or been filled anew, since.
    if (places_[victim.first].held != 0 && !places_[victim.first].growing &&
        RankOf(victim.first) <= victim.rank)
      return victim.first;
  }
  return 0;
}

Result<bool> MirrorPlaces::MakeRoom(uint32_t count, Claim claim) {
  if (held_ + count <= limit_) return true;
  if (count > limit_) return false;
  const uint32_t needed = held_ + count - limit_;
  const uint64_t end = RankEnd(claim);
  for (const bool again : {false, true}) {
    if (again && claim != Claim::kNew) return false;  // who was found last is who may go
    if (again) FindVictims();
    size_t at = victims_.size();
    uint32_t gained = 0;
    while (gained < needed) {
      const uint32_t victim = NextVictim(&at, end);
      if (victim == 0) break;
      gained += places_[victim].held;
    }
    if (gained < needed) continue;
    while (held_ + count > limit_) {
      size_t last = victims_.size();
      const uint32_t victim = NextVictim(&last, end);
      victims_.resize(last);
      if (Status status = SendAway(victim); !status.ok()) return status;
    }
    return true;
  }
  return false;
}

bool MirrorPlaces::Age(std::span<const uint32_t> uses) {
  const bool any = std::any_of(known_.begin(), known_.end(), [&](uint32_t first) {
    return places_[first].use_seen != uses[first];
  });
  if (!any) return false;
  for (const uint32_t first : known_) {
    Place& place = places_[first];
    place.used = place.used >> 1 | (place.use_seen != uses[first] ? kJustUsed : 0);
    place.use_seen = uses[first];
  }
  limit_ = memory_->SegmentsMax();
  FindVictims();
  return true;
}

}  // namespace weft::processor
