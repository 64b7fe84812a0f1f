#include "lsm/block_pool.h"

#include <sys/mman.h>

#include <new>

namespace weft::lsm {

BlockPool::~BlockPool() {
  const base::MutexLock lock(&mutex_);
  for (char* block : kept_) Free(block);
}

char* BlockPool::Take() {
  {
    const base::MutexLock lock(&mutex_);
    if (!kept_.empty()) {
      char* block = kept_.back();  // the one that is nearest still
      kept_.pop_back();
      return block;
    }
  }
  return New();
}

void BlockPool::Give(char* block) {
  {
    const base::MutexLock lock(&mutex_);
    if (kept_.size() < kept_max_) return kept_.push_back(block);
  }
  Free(block);
}

char* BlockPool::New() {
  // Freed by Free.
  char* block = static_cast<char*>(::operator new (kBlockBytes, std::align_val_t{kBlockBytes}));
  // Only advice: where there are no huge pages, small ones do.
  (void)::madvise(block, kBlockBytes, MADV_HUGEPAGE);
  return block;
}

void BlockPool::Free(char* block) { ::operator delete (block, std::align_val_t{kBlockBytes}); }

}  // namespace weft::lsm
