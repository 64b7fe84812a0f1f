#include "net/room.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace weft::net {

bool Room::TryTake(Holder& holder, size_t n, bool proven) {
  base::MutexLock lock(&mutex_);
  WEFT_DCHECK(holder.client_ == nullptr);
  if (queue_.empty() && MayGiveLocked(n)) {
    holder.common_ += n;
    common_ += n;
  } else if (proven && FitsLaneLocked(n)) {
    holder.lane_ += n;
    lane_ += n;
  } else {
    return false;
  }
  CountLocked();
  return true;
}

// A fifth is left to small ones, unless one alone needs it: large ones may take long.
bool Room::FitsLaneLocked(size_t n) const {
  const size_t lane = options_.lane_bytes;
  const bool small = n <= lane / 8;
  return n <= lane && lane_ <= (small || lane_ == 0 ? lane : std::max(lane - lane / 5, n)) - n;
}

void Room::Take(Holder& holder, size_t n) {
  base::MutexLock lock(&mutex_);
  holder.common_ += n;
  common_ += n;
  if (IsQueued(holder)) queue_holds_ += n;
  CountLocked();
}

void Room::GiveBack(Holder& holder, size_t n) {
  base::MutexLock lock(&mutex_);
  WEFT_DCHECK(n <= holder.taken());
  const size_t of_newcomer = std::min(n, holder.newcomer_);  // others want it most
  const size_t of_common = std::min(n - of_newcomer, holder.common_);
  holder.newcomer_ -= of_newcomer;
  newcomer_ -= of_newcomer;
  holder.common_ -= of_common;
  common_ -= of_common;
  if (IsQueued(holder)) queue_holds_ -= of_common;
  holder.lane_ -= n - of_newcomer - of_common;
  lane_ -= n - of_newcomer - of_common;
  GrantLocked();
  CountLocked();
}

void Room::Wait(Holder& holder, size_t n, uint64_t rank, Client* client, bool is_newcomer) {
  base::MutexLock lock(&mutex_);
  WEFT_DCHECK(holder.client_ == nullptr);
  holder.client_ = client;
  holder.need_ = n;
  holder.granted_ = false;
  holder.place_ = queue_.emplace(rank, &holder);
  queue_holds_ += holder.common_;
  holder.arrival_ = is_newcomer ? ++arrivals_ : 0;
  if (is_newcomer) newcomers_.emplace(holder.arrival_, &holder);
  if (is_newcomer && n <= options_.newcomer_bytes) for_lane_.emplace(holder.arrival_, &holder);
  GrantLocked();
  CountLocked();
}

void Room::Leave(Holder& holder) {
  if (holder.client_ == nullptr) return;  // written by its own thread alone
  base::MutexLock lock(&mutex_);
  if (holder.granted_) {
    std::erase(holder.client_->granted_, &holder);
    (holder.granted_lane_ ? newcomer_ : common_) -= holder.need_;
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
    (holder->granted_lane_ ? holder->newcomer_ : holder->common_) += holder->need_;
    holder->client_ = nullptr;
  }
  return std::exchange(client->granted_, {});
}

void Room::DequeueLocked(Holder& holder) {
  queue_.erase(holder.place_);
  queue_holds_ -= holder.common_;
  newcomers_.erase(holder.arrival_);
  for_lane_.erase(holder.arrival_);
}

// Who is served next, and whether of the newcomers' lane. Null: nobody may be.
// REQUIRES: somebody waits
Room::Holder* Room::NextLocked(bool* of_lane) {
  *of_lane = false;
  const bool newest = options_.newest_too && newest_next_ && !newcomers_.empty();
  Holder* const next = newest ? newcomers_.rbegin()->second : queue_.begin()->second;
  if (MayGiveLocked(next->need_)) return next;
  *of_lane = true;
  return NextOfLaneLocked();
}

Room::Holder* Room::NextOfLaneLocked() {
  if (newcomer_ == 0) return for_lane_.empty() ? nullptr : for_lane_.rbegin()->second;
  const bool fits =
      IsQueued(*lane_holder_) && lane_holder_->need_ <= options_.newcomer_bytes - newcomer_;
  return fits ? lane_holder_ : nullptr;
}

void Room::GrantLocked() {
  bool of_lane;
  while (!queue_.empty()) {
    Holder* const holder = NextLocked(&of_lane);
    if (holder == nullptr) return;
    DequeueLocked(*holder);
    (of_lane ? newcomer_ : common_) += holder->need_;
    if (of_lane) lane_holder_ = holder;
    holder->granted_ = true;
    holder->granted_lane_ = of_lane;
    if (!of_lane) newest_next_ = !newest_next_;
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
