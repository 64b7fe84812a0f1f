// lsm/read_view.h: the view of a read: the memtables and the tables of one moment.
//
// A reader takes the view first and the sequence number after it. Then every entry that the view
// lacks (of a memtable begun since) is newer than all that it has. So the reader sees the store as
// it was after some write, never a mixture. No compaction since can have removed an entry that this
// sequence needs, because the view holds its own tables.
//
// Threads   ReadViews::Take: any. Install: one at a time (the store's mutex).
// Cost      Take is a spin lock and a reference count on lines that few threads share.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/striped_counters.h"
#include "lsm/memtable.h"
#include "lsm/version.h"

namespace weft::lsm {

struct ReadView {
  std::shared_ptr<MemTable> active;
  std::vector<std::shared_ptr<MemTable>> immutable;  // newest first
  std::shared_ptr<const Version> version;
};

class ReadViews {
 public:
  using Pointer = std::shared_ptr<const ReadView>;

  // The current view. Never null after the first Install.
  Pointer Take() const {
    const Stripe& stripe = stripes_[base::ThreadStripe() % kStripes];
    SpinLock lock(&stripe.locked);
    return stripe.view;
  }

  void Install(const Pointer& view) {
    for (Stripe& stripe : stripes_) {
      // Each stripe has its own count: readers of different stripes share no line.
      Pointer copy = view == nullptr ? nullptr : std::make_shared<const ReadView>(*view);
      SpinLock lock(&stripe.locked);
      stripe.view.swap(copy);
    }  // the old view goes after its lock
  }

 private:
  static constexpr size_t kStripes = 8;
  struct alignas(64) Stripe {
    mutable std::atomic<bool> locked{false};
    Pointer view;  // guarded by locked
  };
  // Held for a pointer's copy only.
  class SpinLock {
   public:
    explicit SpinLock(std::atomic<bool>* locked) : locked_(locked) {
      while (locked_->exchange(true, std::memory_order_acquire)) {
        // A holder that lost its processor gets it back sooner this way.
        while (locked_->load(std::memory_order_relaxed)) std::this_thread::yield();
      }
    }
    ~SpinLock() { locked_->store(false, std::memory_order_release); }
    SpinLock(const SpinLock&) = delete;
    SpinLock& operator=(const SpinLock&) = delete;

   private:
    std::atomic<bool>* const locked_;
  };

  std::array<Stripe, kStripes> stripes_;
};

}  // namespace weft::lsm
