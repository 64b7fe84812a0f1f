// processor/opencl/shared_pages.h: memory that host and device read and write at the same
// addresses.
//
// Fine-grained shared virtual memory with atomics (clSVMAlloc). A kernel may follow pointers into
// an allocation only if it was told of it beforehand (clSetKernelExecInfo), so the source keeps a
// list of what it has given out.
//
// Errors    kNoMemory.
// Threads   any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cache/pages.h"
#include "processor/opencl/api.h"

namespace weft::processor::opencl {

// Drivers need not align to more than their largest vector has, so pages are aligned here, out of
// an allocation so much larger.
inline constexpr size_t kPageAlignment = 4096;

class SharedPages final : public cache::PageSource {
 public:
  // `bytes_max`: of one Reserve; 0: unknown. `context`: its devices share the memory; it lives
  // until the last page goes. `inject`: as OpenClOptions has it.
  SharedPages(std::shared_ptr<const Context> context, std::string device, uint64_t bytes_max,
              std::function<int(const char* call)> inject);

  // Aligned to kPageAlignment.
  Result<cache::Pages> Reserve(size_t bytes, bool huge) override;

  // From now on nothing that was given out is freed: a job that never ends may touch it.
  void KeepAll();

  // If anything was given out or came back since the list was last taken: true, and *list is what
  // there is now.
  bool TakeChanges(std::vector<void*>* list);

 private:
  // Outlives the source, for the pages that are still out.
  struct State {
    std::shared_ptr<const Context> context;
    base::Mutex mutex;
    std::set<void*> allocations WEFT_GUARDED_BY(mutex);
    bool changed WEFT_GUARDED_BY(mutex) = false;
    bool keeps WEFT_GUARDED_BY(mutex) = false;
  };

  const std::string device_;
  const uint64_t bytes_max_;
  const std::function<int(const char* call)> inject_;
  const std::shared_ptr<State> state_;
};

}  // namespace weft::processor::opencl
