#include "net/room.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace weft::net {

bool Room::TryTake(Holder& holder, size_t n, bool proven) {
  base::MutexLock lock(&mutex_);
  WEFT_DCHECK(holder.client_ == nullptr);
  if (queue_.empty() && FitsLocked(n)) {
    holder.common_ += n;
    common_ += n;
  } else if (proven && n <= options_.lane_bytes && lane_ <= options_.lane_bytes - n) {
    holder.lane_ += n;
    lane_ += n;
  } else {
    return false;
  }
  CountLocked();
  return true;
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
  const size_t of_common = std::min(n, holder.common_);
  holder.common_ -= of_common;
  common_ -= of_common;
  if (IsQueued(holder)) queue_holds_ -= of_common;
  holder.lane_ -= n - of_common;
  lane_ -= n - of_common;
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
  if (is_newcomer) newest_rank_ = std::max(newest_rank_, rank);
  GrantLocked();
  CountLocked();
}

void Room::Leave(Holder& holder) {
  if (holder.client_ == nullptr) return;  // written by its own thread alone
  base::MutexLock lock(&mutex_);
  if (holder.granted_) {
    std::erase(holder.client_->granted_, &holder);
    common_ -= holder.need_;
  } else {
    queue_.erase(holder.place_);
    queue_holds_ -= holder.common_;
  }
  holder.client_ = nullptr;
  GrantLocked();
  CountLocked();
}

std::vector<Room::Holder*> Room::Collect(Client* client) {
  base::MutexLock lock(&mutex_);
  for (Holder* const holder : client->granted_) {
    holder->common_ += holder->need_;
    holder->client_ = nullptr;
  }
  return std::exchange(client->granted_, {});
}

// REQUIRES: somebody waits
std::multimap<uint64_t, Room::Holder*>::iterator Room::NextLocked() {
  if (!options_.newest_too || !newest_next_) return queue_.begin();
  const auto behind = queue_.upper_bound(newest_rank_);
  return behind == queue_.begin() ? behind : std::prev(behind);
}

void Room::GrantLocked() {
  while (!queue_.empty()) {
    const auto place = NextLocked();
    Holder* const holder = place->second;
    if (!FitsLocked(holder->need_)) return;
    common_ += holder->need_;
    queue_holds_ -= holder->common_;
    holder->granted_ = true;
    queue_.erase(place);
    newest_next_ = !newest_next_;
    Client& client = *holder->client_;
    client.granted_.push_back(holder);
    if (client.granted_.size() == 1) client.ring_();
  }
}

void Room::CountLocked() {
  waiting_.store(queue_.size(), std::memory_order_relaxed);
  used_.store(common_ + lane_, std::memory_order_relaxed);
  // Two marks keep the loops from changing their ways at the limit with every request.
  const size_t mark = tight() ? options_.tight_bytes / 4 * 3 : options_.tight_bytes;
  tight_.store(!queue_.empty() || common_ > mark, std::memory_order_relaxed);
}

}  // namespace weft::net
