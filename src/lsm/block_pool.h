// lsm/block_pool.h: the large blocks of memory that a memtable leaves to the next one.
//
// A fresh block costs its first writer the clearing of two mebibytes, in the middle of a write, and
// freeing it costs as much again. A store fills memtable after memtable, so the blocks go round.
//
// Threads   Take and Give: any at once.
// Memory    keeps at most `kept_max` blocks that nobody uses; Give frees what is more.
#pragma once

#include <cstddef>
#include <vector>

#include "base/mutex.h"

namespace weft::lsm {

class BlockPool {
 public:
  static constexpr size_t kBlockBytes = size_t{2} << 20;

  explicit BlockPool(size_t kept_max) : kept_max_(kept_max) {}
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // A block of kBlockBytes, at a multiple of them, for which huge pages were asked. What it holds
  // is not said. Whoever takes it gives it back, or frees it with Free.
  char* Take() WEFT_EXCLUDES(mutex_);
  void Give(char* block) WEFT_EXCLUDES(mutex_);

  // Without a pool.
  static char* New();
  static void Free(char* block);

 private:
  const size_t kept_max_;
  base::Mutex mutex_;
  std::vector<char*> kept_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::lsm
