#include "net/room.h"

#include <algorithm>

#include "base/check.h"

namespace weft::net {

bool Room::TryTake(Holder& holder, size_t n, size_t of_lane) {
  base::MutexLock lock(&mutex_);
  WEFT_DCHECK(holder.client_ == nullptr);
  // Whoever needs many of the lane that others wait for queues with them, by rank.
  const bool may_pass = lane_many_.empty() || IsFew(holder.lane_ + of_lane);
  if (queue_.empty() && MayGiveLocked(n)) {
    holder.taken_ += n;
    common_ += n;
  } else if (of_lane != 0 && lane_few_.empty() && may_pass && FitsLaneLocked(holder, of_lane)) {
    holder.taken_ += of_lane;
    holder.in_lane_ = true;
    SetLaneLocked(holder, holder.lane_ + of_lane);
  } else {
    return false;
  }
  CountLocked();
  return true;
}

// A fifth is left to those who hold few, unless one who holds many needs it and is alone with them:
// those may take long. While somebody waits for many, that fifth is all that the others have.
bool Room::FitsLaneLocked(const Holder& holder, size_t n) const {
  const size_t lane = options_.lane_bytes;
  if (n > lane || lane_ > lane - n) return false;
  if (IsFew(holder.lane_ + n)) return lane_many_.empty() || lane_ - lane_of_many_ + n <= lane / 5;
  const size_t others = lane_of_many_ - (IsFew(holder.lane_) ? 0 : holder.lane_);
  return others == 0 || others + holder.lane_ + n <= lane - lane / 5;
}

void Room::ChangeLaneLocked(size_t had, size_t has) {
  lane_ = lane_ - had + has;
  lane_of_many_ = lane_of_many_ - (IsFew(had) ? 0 : had) + (IsFew(has) ? 0 : has);
}

void Room::SetLaneLocked(Holder& holder, size_t n) {
  ChangeLaneLocked(holder.lane_, n);
  holder.lane_ = n;
  if (n != 0 || !holder.leaves_lane_) return;
  holder.leaves_lane_ = false;
  std::erase(leaving_, &holder);
}

void Room::LeaveLane(Holder& holder) {
  base::MutexLock lock(&mutex_);
  holder.in_lane_ = holder.lane_ != 0;
  if (IsQueued(holder)) LeaveLaneQueueLocked(holder);
  if (holder.lane_ != 0 && !holder.leaves_lane_) {
    holder.leaves_lane_ = true;
    leaving_.push_back(&holder);
  }
  GrantLocked();
  CountLocked();
}

// Whoever leaves the lane is before all that wait for common bytes: it has what it needs already.
void Room::FreeLaneLocked() {
  while (!leaving_.empty() && common_ < options_.bytes) {
    Holder& holder = *leaving_.front();
    const size_t n = std::min(holder.lane_, options_.bytes - common_);
    common_ += n;
    if (IsQueued(holder)) queue_holds_ += n;
    SetLaneLocked(holder, holder.lane_ - n);
  }
}

void Room::Take(Holder& holder, size_t n) {
  base::MutexLock lock(&mutex_);
  holder.taken_ += n;
  common_ += n;
  if (IsQueued(holder)) queue_holds_ += n;
  CountLocked();
}

void Room::GiveBack(Holder& holder, size_t n) {
  base::MutexLock lock(&mutex_);
  WEFT_DCHECK(n <= holder.taken_);
  const size_t common = holder.taken_ - holder.lane_ - holder.newcomer_;
  const size_t of_newcomer = std::min(n, holder.newcomer_);  // others want it most
  const size_t of_common = std::min(n - of_newcomer, common);
  holder.taken_ -= n;
  holder.newcomer_ -= of_newcomer;
  newcomer_ -= of_newcomer;
  common_ -= of_common;
  if (IsQueued(holder)) queue_holds_ -= of_common;
  SetLaneLocked(holder, holder.lane_ - (n - of_newcomer - of_common));
  holder.in_lane_ = holder.lane_ != 0;
  GrantLocked();
  CountLocked();
}

void Room::Wait(Holder& holder, size_t n, uint64_t rank, Client* client, bool is_newcomer,
                OfLane of_lane) {
  base::MutexLock lock(&mutex_);
  WEFT_DCHECK(holder.client_ == nullptr);
  holder.client_ = client;
  holder.need_ = n;
  holder.granted_ = false;
  holder.place_ = queue_.emplace(rank, &holder);
  queue_holds_ += holder.taken_ - holder.lane_ - holder.newcomer_;
  holder.lane_need_ = of_lane.bytes;
  holder.lane_queue_ = nullptr;
  // What never fits would keep the lane from all behind it.
  if (of_lane.bytes != 0 && of_lane.bytes <= options_.lane_bytes) {
    holder.lane_queue_ = IsFew(holder.lane_ + of_lane.bytes) ? &lane_few_ : &lane_many_;
    holder.lane_place_ = holder.lane_queue_->emplace(of_lane.rank, &holder);
  }
  holder.arrival_ = is_newcomer ? ++arrivals_ : 0;
  if (is_newcomer) newcomers_.emplace(holder.arrival_, &holder);
  if (is_newcomer && n <= options_.newcomer_bytes) fit_newcomers_.emplace(holder.arrival_, &holder);
  GrantLocked();
  CountLocked();
}

void Room::Leave(Holder& holder) {
  if (holder.client_ == nullptr) return;  // written by its own thread alone
  base::MutexLock lock(&mutex_);
  if (holder.granted_) {
    std::erase(holder.client_->granted_, &holder);
    CountGrantLocked(holder, false);
  } else {
    DequeueLocked(holder);
  }
  holder.client_ = nullptr;
  GrantLocked();
  CountLocked();
}

std::vector<Room::Holder*> Room::Collect(Client* client) {
  base::MutexLock lock(&mutex_);
  for (Holder* const holder : client->granted_) {
    if (holder->granted_part_ == Part::kLane) {
      ChangeLaneLocked(holder->lane_need_, 0);
      SetLaneLocked(*holder, holder->lane_ + holder->lane_need_);
      holder->in_lane_ = true;
      holder->taken_ += holder->lane_need_;
    } else {
      holder->taken_ += holder->need_;
      if (holder->granted_part_ == Part::kNewcomersLane) holder->newcomer_ += holder->need_;
    }
    holder->client_ = nullptr;
  }
  return std::exchange(client->granted_, {});
}

void Room::LeaveLaneQueueLocked(Holder& holder) {
  if (holder.lane_queue_ != nullptr) holder.lane_queue_->erase(holder.lane_place_);
  holder.lane_queue_ = nullptr;
}

void Room::DequeueLocked(Holder& holder) {
  queue_.erase(holder.place_);
  LeaveLaneQueueLocked(holder);
  queue_holds_ -= holder.taken_ - holder.lane_ - holder.newcomer_;
  newcomers_.erase(holder.arrival_);
  fit_newcomers_.erase(holder.arrival_);
}

// Who is served next, and with what. Null: nobody may be.
// REQUIRES: somebody waits
Room::Holder* Room::NextLocked(Part* part) {
  const bool newest = options_.newest_too && newest_next_ && !newcomers_.empty();
  Holder* const next = newest ? newcomers_.rbegin()->second : queue_.begin()->second;
  *part = Part::kCommon;
  if (MayGiveLocked(next->need_)) return next;
  *part = Part::kLane;
  if (Holder* const proven = NextOfLaneLocked(); proven != nullptr) return proven;
  *part = Part::kNewcomersLane;
  return NextNewcomerLocked();
}

Room::Holder* Room::NextOfLaneLocked() {
  for (const Queue* queue : {&lane_many_, &lane_few_}) {
    if (queue->empty()) continue;
    Holder* const next = queue->begin()->second;
    if (FitsLaneLocked(*next, next->lane_need_)) return next;
  }
  return nullptr;
}

Room::Holder* Room::NextNewcomerLocked() {
  if (newcomer_ == 0) return fit_newcomers_.empty() ? nullptr : fit_newcomers_.rbegin()->second;
  const bool fits =
      IsQueued(*newcomer_holder_) && newcomer_holder_->need_ <= options_.newcomer_bytes - newcomer_;
  return fits ? newcomer_holder_ : nullptr;
}

// What was granted to it is the room's affair until its owner collects it.
void Room::CountGrantLocked(const Holder& holder, bool given) {
  const size_t n = holder.granted_part_ == Part::kLane ? holder.lane_need_ : holder.need_;
  if (holder.granted_part_ == Part::kLane) return ChangeLaneLocked(given ? 0 : n, given ? n : 0);
  size_t& part = holder.granted_part_ == Part::kCommon ? common_ : newcomer_;
  part = given ? part + n : part - n;
}

void Room::GrantLocked() {
  FreeLaneLocked();
  Part part;
  while (!queue_.empty()) {
    Holder* const holder = NextLocked(&part);
    if (holder == nullptr) return;
    DequeueLocked(*holder);
    holder->granted_ = true;
    holder->granted_part_ = part;
    CountGrantLocked(*holder, true);
    if (part == Part::kNewcomersLane) newcomer_holder_ = holder;
    if (part == Part::kCommon) newest_next_ = !newest_next_;
    Client& client = *holder->client_;
    client.granted_.push_back(holder);
    if (client.granted_.size() == 1) client.ring_();
  }
}

void Room::CountLocked() {
  waiting_.store(queue_.size(), std::memory_order_relaxed);
  used_.store(common_ + lane_ + newcomer_, std::memory_order_relaxed);
  // Two marks keep the loops from changing their ways at the limit with every request.
  const size_t mark = tight() ? options_.tight_bytes / 4 * 3 : options_.tight_bytes;
  tight_.store(!queue_.empty() || common_ > mark, std::memory_order_relaxed);
}

}  // namespace weft::net
