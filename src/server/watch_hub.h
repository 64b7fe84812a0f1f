// server/watch_hub.h: from what workers do to the lines that watchers read.
//
//   workers -> a ring of events each (WatchPost) -> one thread -> a ring of lines each (Watcher)
//                                                            -> the watcher's own worker sends them
//
// Workers copy events and never wait: what finds no room in their ring is dropped and counted. The
// hub's thread makes lines of them. What finds no room in a watcher's ring is skipped, and the
// watcher is told how much that was. So neither much traffic nor a slow reader delays anybody.
// While nobody watches, the thread waits, or was never begun. A worker tests a word of memory a few
// times a batch, and when a connection comes or goes and when an item is evicted.
//
// Threads   WatchPost: its worker's, unless marked. WatchHub: any. A hub outlives the workers.
// Lock      mutex_: the list of watchers. Nothing is formatted or copied under it.
// Memory    worker_bytes a worker, watcher_bytes a watcher, of which there are kWatchersMax.
// Source    memcached's log watchers: the lines, the limits and the counters are theirs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "base/counter.h"
#include "base/mutex.h"
#include "cache/eviction_watch.h"
#include "server/byte_ring.h"
#include "server/watch_event.h"

namespace weft::server {

class WatchHub;
class WatchPost;

// One who watches. Its worker reads `lines`; the hub's thread writes them.
struct Watcher {
  Watcher(uint32_t its_classes, WatchPost* its_post, uint64_t its_connection, size_t bytes)
      : classes(its_classes), post(its_post), connection(its_connection), lines(bytes) {}

  const uint32_t classes;
  WatchPost* const post;
  const uint64_t connection;  // its id
  uint64_t first_number = 0;  // of the events that it is told of; set before the
                              // hub's thread knows of it
  ByteRing lines;
  // The hub's thread's.
  uint64_t skipped = 0;    // lines since the last one that it was sent
  bool has_more = false;   // lines, since its worker was last woken
  uint64_t seen_read = 0;  // how much of `lines` was read then
};

// Where one worker leaves its events.
class WatchPost final : public cache::EvictionWatch {
 public:
  WatchPost(WatchHub* hub, size_t bytes) : hub_(hub), ring_(bytes) {}

  WatchHub& hub() const { return *hub_; }
  // Has the worker look for lines. Set once, before anybody watches; called by the hub's thread.
  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }
  void Wake() const { wake_(); }

  // Which classes somebody watches now: bits of protocol::kWatch...
  uint32_t classes() const;
  bool IsWatched(uint32_t some_of) const { return (classes() & some_of) != 0; }
  // Records it, with a number and the time. Drops it where the ring is full.
  void Note(WatchEvent event, std::string_view text);
  void NoteTlsError(int fd, std::string_view message);
  // The plan that batches begin with from now on.
  void NotePlan(std::string_view plan);

  bool WatchesEvictions() const override { return IsWatched(protocol::kWatchEvictions); }
  void Note(const cache::Evicted& evicted) override;

  const base::Counter& written() const { return written_; }
  const base::Counter& dropped() const { return dropped_; }

 private:
  friend class WatchHub;

  WatchHub* const hub_;
  std::function<void()> wake_;
  ByteRing ring_;
  base::Counter written_;
  base::Counter dropped_;
};

class WatchHub {
 public:
  static constexpr size_t kWatchersMax = 20;
  static constexpr size_t kRingBytesMin = size_t{4} << 10;

  struct Options {
    bool allowed = true;
    uint32_t workers = 1;
    size_t worker_bytes = size_t{64} << 10;  // at least kRingBytesMin is used, of both
    size_t watcher_bytes = size_t{256} << 10;
    uint64_t idle_timeout_ms = 0;  // what connections are closed for, to say why
  };
  struct Counts {
    uint64_t worker_dropped = 0, worker_written = 0;
    uint64_t watcher_skipped = 0, watcher_sent = 0;
    uint64_t watchers = 0;
  };

  explicit WatchHub(const Options& options);
  ~WatchHub() { End(); }
  WatchHub(const WatchHub&) = delete;
  WatchHub& operator=(const WatchHub&) = delete;

  const Options& options() const { return options_; }
  WatchPost* post(uint32_t worker) const { return posts_[worker].get(); }
  // Which classes somebody watches now.
  uint32_t classes() const { return classes_.load(std::memory_order_relaxed); }

  // A connection of the worker `post` watches from now on, until Leave. kRetryLater: there are
  // kWatchersMax already; kNoMemory, kIoError: the system refused.
  Result<std::shared_ptr<Watcher>> Join(uint32_t classes, WatchPost* post, uint64_t connection)
      WEFT_EXCLUDES(mutex_);
  void Leave(const Watcher* watcher) WEFT_EXCLUDES(mutex_);
  // Ids of the connections that watch.
  std::vector<uint64_t> Connections() const WEFT_EXCLUDES(mutex_);
  Counts Count() const WEFT_EXCLUDES(mutex_);

  // Says that workers shall let their watchers go. Safe in a signal handler.
  void Close() { closing_.store(true, std::memory_order_relaxed); }
  bool closing() const { return closing_.load(std::memory_order_relaxed); }
  // Ends the thread. Before the loops that it wakes are destroyed.
  void End() WEFT_EXCLUDES(mutex_);

 private:
  friend class WatchPost;
  using Watchers = std::vector<std::shared_ptr<Watcher>>;

  void Run() WEFT_EXCLUDES(mutex_);
  bool Await(Watchers* watchers) WEFT_EXCLUDES(mutex_);
  void Rest(int ms) WEFT_EXCLUDES(mutex_);
  size_t Drain(WatchPost& post, uint64_t end, const Watchers& watchers);
  void Send(const WatchEvent& event, std::string_view text, const Watchers& watchers);
  void SetClassesLocked() WEFT_REQUIRES(mutex_);
  static void WakeOwners(const Watchers& watchers);

  // Constant after construction.
  const Options options_;
  std::vector<std::unique_ptr<WatchPost>> posts_;

  // Relaxed: who watches is told so after it was set, and what comes of that was caused by it. On a
  // line that hardly ever changes: all workers read it all the time.
  alignas(64) std::atomic<uint32_t> classes_{0};
  std::atomic<bool> closing_{false};
  alignas(64) std::atomic<uint64_t> next_number_{1};  // all workers count it up while some watch

  // The thread's own; read by any.
  alignas(64) base::Counter skipped_;
  base::Counter sent_;

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  Watchers watchers_ WEFT_GUARDED_BY(mutex_);
  bool ended_ WEFT_GUARDED_BY(mutex_) = false;
  std::thread thread_ WEFT_GUARDED_BY(mutex_);  // begun by the first who watches
};

inline uint32_t WatchPost::classes() const { return hub_->classes(); }

}  // namespace weft::server
