// lsm/memtable_node.h: the nodes of a memtable's tree, and the word that tells readers of changes.
//
// A node holds up to kSlots keys in order. A key is an entry's address and its slice: eight bytes
// of the user key behind the first `skip`, which all keys of the node share. The keys of an inner
// node part its children: child i holds what is below key i and not below key i - 1.
//
// Bounds    `low` and `high` are entries: the node holds low <= key < high; null: no bound. `low`
//           never changes, and no node is ever freed or emptied, so `next` always begins at `high`.
// Threads   writers change a node while they hold its lock; readers look at any time, use nothing
//           they read without asking the version, and then begin anew. All that changes is
//           atomic and every address in it is good for the tree's life, so that a reader who is
//           overtaken by a writer sees a mixture, but never memory that isn't a node or an entry.
// Orders    (the rule for all words of a node but the version) stores are releases and loads
//           acquires. They pair: a reader who sees a word that a writer stored under the lock also
//           sees the lock taken, when it asks the version afterwards. On x86-64 both are plain
//           moves. The usual fences do the same, but the thread sanitizer knows none.
// Source    optimistic lock coupling (Leis et al., DaMoN 2016); right links as in Lehman and Yao's
//           B-link tree. The slices are ours.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace weft::lsm {

// Bit 0: locked. The rest counts changes.
class VersionLock {
 public:
  // The version to ask about later. Waits while a writer is at work.
  uint64_t Begin() const {
    for (int tries = 0;; ++tries) {
      // Acquire: pairs with Unlock's release, all changes made up to this version are seen.
      const uint64_t version = word_.load(std::memory_order_acquire);
      if ((version & 1) == 0) return version;
      if (tries >= kTriesBeforeYield) std::this_thread::yield();
    }
  }
  // True: nothing read since Begin was under change. Relaxed: the loads before it are acquires and
  // stay before it; see Orders.
  bool Unchanged(uint64_t version) const {
    return word_.load(std::memory_order_relaxed) == version;
  }
  // Locks, where nothing changed since Begin. Acquire: pairs with Unlock's release.
  bool TryLock(uint64_t version) {
    return word_.compare_exchange_strong(version, version | 1, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  // Relaxed loads: the word is ours. Releases: pair with Begin and TryLock.
  void Unlock() {
    word_.store(word_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void UnlockUnchanged() {
    word_.store(word_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }

 private:
  static constexpr int kTriesBeforeYield = 64;

  std::atomic<uint64_t> word_{0};
};

// A word of a node: see Orders above.
template <typename T>
class NodeWord {
 public:
  T Get() const { return word_.load(std::memory_order_acquire); }
  void Set(T value) { word_.store(value, std::memory_order_release); }

 private:
  std::atomic<T> word_{};
};

struct alignas(64) MemTableNode {
  static constexpr uint32_t kSlots = 60;

  MemTableNode(uint32_t levels_below, const char* lowest) : height(levels_below), low(lowest) {}

  bool is_leaf() const { return height == 0; }
  bool bounded() const { return low != nullptr && high.Get() != nullptr; }
  bool full() const { return count.Get() >= kSlots; }

  VersionLock lock;
  // Constant after construction.
  const uint32_t height;  // a leaf's is 0
  const char* const low;
  // Written under the lock.
  NodeWord<uint32_t> count;
  NodeWord<uint32_t> skip;
  NodeWord<const char*> high;
  NodeWord<MemTableNode*> next;  // of leaves
  NodeWord<uint64_t> slices[kSlots];
  NodeWord<const char*> entries[kSlots];
};

using MemTableLeaf = MemTableNode;

struct MemTableInner : MemTableNode {
  MemTableInner(uint32_t levels_below, const char* lowest) : MemTableNode(levels_below, lowest) {}

  NodeWord<MemTableNode*> children[kSlots + 1];
};

static_assert(sizeof(MemTableLeaf) == 1024, "a leaf takes a quarter of the smallest chunk");

}  // namespace weft::lsm
