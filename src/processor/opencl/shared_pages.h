// processor/opencl/shared_pages.h: memory that host and device use at the same addresses.
//
// Fine-grained shared virtual memory with atomics (clSVMAlloc). A kernel may follow pointers into
// an allocation only if clSetKernelExecInfo named it before. So the source keeps a list of all that
// it has given out.
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

// Drivers need not align beyond their largest vector, so pages are aligned here, within an
// allocation that is this much larger.
inline constexpr size_t kPageAlignment = 4096;

class SharedPages final : public cache::PageSource {
 public:
  // `bytes_max`: of one Reserve; 0: unknown. `context`: its devices share the memory; it lives
  // until the last page goes. `inject`: see OpenClOptions.
  SharedPages(std::shared_ptr<const Context> context, std::string device, uint64_t bytes_max,
              std::function<int(const char* call)> inject);

  // Aligned to kPageAlignment.
  Result<cache::Pages> Reserve(size_t bytes, bool huge) override;

  // From now on no page given out is freed: a job that never ends may touch it.
  void KeepAll();

  // If anything was given out or came back since the list was last taken: true, and *list is the
  // present one.
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
