#include "processor/mirror/mirror_log.h"

#include <algorithm>

namespace weft::processor {
namespace {

using Claim = MirrorPlaces::Claim;

// Of one Follow, which jobs wait for: a millisecond or two.
constexpr uint64_t kBytesMax = 8ull << 20;

}  // namespace

Status MirrorLog::Open() {
  cache::ObjectLog& log = store_->log();
  log.Watch();
  Status status = memory_->NewLog(log.segment_count(), log.geometry().segment_bytes);
  if (!status.ok()) return status;
  segments_.assign(log.segment_count(), Segment());
  uses_.assign(log.segment_count(), 0);
  places_.Open(log.segment_count());
  return Status::Ok();
}

Status MirrorLog::Follow(const task::LogRef& log) {
  store_->log().LookAt(&watched_);
  // Bytes reserved up to now are written when the batches of now have ended.
  const uint64_t stamp = store_->epochs().Retire();
  oldest_ = store_->epochs().Oldest();
  budget_ = kBytesMax;
  bytes_behind_ = 0;
  // What is being filled comes before what was full when it was found.
  std::partition(watched_.begin(), watched_.end(),
                 [](const Watched& each) { return each.growing; });
  for (const Watched& state : watched_) {
    places_.Note(state.segment, state.in_use, state.growing);
    Segment& segment = segments_[state.segment];
    if (segment.base != state.base) {
      if (Status status = Begin(state); !status.ok()) return status;
    }
    if (!places_.Holds(state.segment)) continue;
    if (Status status = Copy(log, state); !status.ok()) return status;
    if (segment.complete_units == 0 && state.fill_units > segment.copied_units) {
      segment.complete_units = state.fill_units;
      segment.stamp = stamp;
    }
    if (state.in_use && !segment.is_moved_in)
      bytes_behind_ += uint64_t{state.fill_units - segment.copied_units} * kLocationUnitBytes;
  }
  // What is whole, or counts no longer, is done with until it is filled anew; what has no memory,
  // until it gets some.
  std::erase_if(watched_, [this](const Watched& state) {
    return !places_.Holds(state.segment) || !state.in_use ||
           (!state.growing && segments_[state.segment].copied_units == state.fill_units);
  });
  begun_ = true;
  if (everything_fits() || !RoundIsOver()) return Status::Ok();
  const uint64_t start_ns = clocks_.cpu_ns();
  Status status = EndRound();
  const uint64_t took_ns = clocks_.cpu_ns() - start_ns;
  queries_ = 0;
  round_ends_ns_ = clocks_.now_ns() + kRestPerRound * took_ns;
  return status;
}

bool MirrorLog::RoundIsOver() const {
  return queries_ >= kUsesPerSegment * (segments_in_use_ + 1) && clocks_.now_ns() >= round_ends_ns_;
}

uint32_t MirrorLog::SegmentsOf(const Watched& state) const {
  return store_->log().SegmentsNeeded(uint64_t{state.fill_units} * kLocationUnitBytes);
}

Result<bool> MirrorLog::Hold(const Watched& state, Claim claim) {
  const uint32_t count = SegmentsOf(state);
  if (has_room_for_all() && places_.held() + count > places_.limit()) {
    LookAtAll();
    const uint32_t enough = count + places_.limit() / kMovedShare;
    if (Status status = places_.DropIdle(enough); !status.ok()) return status;
  }
  const uint64_t sent_away = places_.sent_away();
  Result<bool> held = places_.Hold(state.segment, count, claim);
  const bool is_held = held && held.value();
  if (is_held) {
    segments_[state.segment].copied_units = 0;
    segments_[state.segment].complete_units = 0;
  }
  // What had to go may be in use.
  lacks_ = lacks_ || !is_held || places_.sent_away() != sent_away;
  return held;
}

// The segment is filled anew, or seen for the first time.
Status MirrorLog::Begin(const Watched& state) {
  if (places_.Holds(state.segment)) {
    if (Status status = memory_->SetResident(state.segment, 0, state.base); !status.ok())
      return status;
  }
  Segment& segment = segments_[state.segment];
  if (segment.base == 0) segments_in_use_++;
  segment = Segment();
  segment.base = state.base;
  if (!state.in_use) return Status::Ok();  // it is over already, and may be part of a run by now
  if (Status status = places_.Begin(state.segment, SegmentsOf(state)); !status.ok()) return status;
  if (places_.Holds(state.segment)) return Status::Ok();
  // A large object is likely too large to be gathered on a device: it has to be wanted first.
  const bool is_new = state.growing || (begun_ && SegmentsOf(state) == 1);
  const Result<bool> held = Hold(state, is_new ? Claim::kNew : Claim::kIdle);
  return held ? Status::Ok() : held.error();
}

// Copies what is known to be written by now.
Status MirrorLog::Copy(const task::LogRef& log, const Watched& state) {
  Segment& segment = segments_[state.segment];
  if (!state.in_use || segment.complete_units == 0 || segment.stamp >= oldest_) return Status::Ok();
  const uint64_t bytes =
      uint64_t{segment.complete_units - segment.copied_units} * kLocationUnitBytes;
  if (bytes > budget_ && budget_ != kBytesMax) return Status::Ok();  // the next time
  budget_ -= std::min(budget_, bytes);
  const uint64_t offset = uint64_t{state.segment} * store_->log().geometry().segment_bytes +
                          uint64_t{segment.copied_units} * kLocationUnitBytes;
  if (Status status = memory_->WriteLog(offset, log.base + offset, bytes); !status.ok())
    return status;
  copied_bytes_ += bytes;
  segment.copied_units = segment.complete_units;
  segment.complete_units = 0;
  return memory_->SetResident(state.segment, segment.copied_units, segment.base);
}

// All segments and runs in use, as the last Follow or this call knows them.
std::vector<MirrorLog::Watched> MirrorLog::LookAtAll() {
  std::vector<Watched> all;
  for (const uint32_t first : places_.known()) all.push_back({first, 0, 0, false, false});
  store_->log().LookAgain(all);
  // What was begun meanwhile is the next Follow's.
  std::erase_if(all, [this](const Watched& state) {
    const bool counts = state.in_use && state.base == segments_[state.segment].base;
    places_.Note(state.segment, counts, counts && state.growing);
    return !counts;
  });
  return all;
}

Status MirrorLog::EndRound() {
  if (Status status = memory_->ReadUses(uses_); !status.ok()) return status;
  if (!places_.Age(uses_)) return Status::Ok();
  use_tick_++;
  std::vector<Watched> without = LookAtAll();
  segments_in_use_ = without.size();
  std::erase_if(without, [this](const Watched& state) { return places_.Holds(state.segment); });
  lacks_ = !without.empty();
  const bool all = has_room_for_all();
  std::erase_if(without, [&](const Watched& state) {
    return !all && !state.growing && places_.recency(state.segment) == 0;
  });
  const auto sooner = [this](const Watched& a, const Watched& b) {
    if (a.growing != b.growing) return a.growing;
    return places_.recency(a.segment) > places_.recency(b.segment);
  };
  const uint64_t moved = std::max(1u, places_.limit() / kMovedShare);
  const uint64_t enough = places_.limit() - places_.held() + 2 * moved + 16;
  if (without.size() > enough) {  // to order all of them takes long
    const auto end = without.begin() + static_cast<ptrdiff_t>(enough);
    std::nth_element(without.begin(), end, without.end(), sooner);
    without.erase(end, without.end());
  }
  std::sort(without.begin(), without.end(), sooner);
  const uint64_t end = places_.sent_away() + moved;
  for (const Watched& state : without) {
    if (places_.sent_away() >= end) break;
    const Result<bool> held = Hold(state, state.growing                     ? Claim::kNew
                                          : places_.IsWanted(state.segment) ? Claim::kWanted
                                                                            : Claim::kIdle);
    if (!held) return held.error();
    if (!held.value()) continue;
    segments_[state.segment].is_moved_in = true;
    watched_.push_back(state);
  }
  return Status::Ok();
}

}  // namespace weft::processor
