#include "processor/opencl/shared_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::processor::opencl {
namespace {

constexpr size_t kHugePageBytes = 2u << 20;

// Zeroes what is not zero. A driver on a CPU takes large ranges fresh from the system, and pages
// that are only read stay the system's one page of zeroes: writing would make all of them resident.
void MakeZero(uint8_t* data, size_t bytes) {
  static const uint8_t zeroes[kPageAlignment] = {};
  for (size_t at = 0; at < bytes; at += kPageAlignment) {
    const size_t length = std::min(kPageAlignment, bytes - at);
    if (std::memcmp(data + at, zeroes, length) != 0) std::memset(data + at, 0, length);
  }
}

// Asks for 2 MiB pages where whole ones lie within the range. A driver for a CPU takes its memory
// from the system, which may grant it; memory of any other origin refuses, and nothing is lost.
void AdviseHugePages(uint8_t* data, size_t bytes) {
  const uintptr_t start = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (start + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
  const uintptr_t end = (start + bytes) & ~(kHugePageBytes - 1);
  if (first < end) madvise(data + (first - start), end - first, MADV_HUGEPAGE);
}

}  // namespace

SharedPages::SharedPages(std::shared_ptr<const Context> context, std::string device,
                         uint64_t bytes_max, std::function<int(const char* call)> inject)
    : device_(std::move(device)),
      bytes_max_(bytes_max),
      inject_(std::move(inject)),
      state_(std::make_shared<State>()) {
  state_->context = std::move(context);
}

Result<cache::Pages> SharedPages::Reserve(size_t bytes, bool huge) {
  const std::string what =
      device_ + ": reserve " + std::to_string(bytes) + " bytes of shared virtual memory: ";
  if (bytes_max_ != 0 && bytes > bytes_max_) {
    return Status(Code::kNoMemory,
                  what + "one allocation can have at most " + std::to_string(bytes_max_) +
                      " bytes (the driver's CL_DEVICE_MAX_MEM_ALLOC_SIZE without alignment)");
  }
  void* const allocation =
      inject_ && inject_("clSVMAlloc") != CL_SUCCESS
          ? nullptr
          : clSVMAlloc(state_->context->get(),
                       CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS,
                       bytes + kPageAlignment, 0);
  if (allocation == nullptr)
    return Status(Code::kNoMemory, what + "the driver does not have as much");
  {
    base::MutexLock lock(&state_->mutex);
    state_->allocations.insert(allocation);
    state_->changed = true;
  }
  std::shared_ptr<void> owner(allocation, [state = state_](void* at) {
    base::MutexLock lock(&state->mutex);
    if (state->keeps) return;
    state->allocations.erase(at);
    state->changed = true;
    clSVMFree(state->context->get(), at);
  });
  const uintptr_t start = reinterpret_cast<uintptr_t>(allocation);
  uint8_t* const data = static_cast<uint8_t*>(allocation) + (-start & (kPageAlignment - 1));
  if (huge) AdviseHugePages(data, bytes);
  MakeZero(data, bytes);
  return cache::Pages(data, bytes, std::move(owner), false);
}

void SharedPages::KeepAll() {
  base::MutexLock lock(&state_->mutex);
  state_->keeps = true;
}

bool SharedPages::TakeChanges(std::vector<void*>* list) {
  base::MutexLock lock(&state_->mutex);
  if (!state_->changed) return false;
  state_->changed = false;
  list->assign(state_->allocations.begin(), state_->allocations.end());
  return true;
}

}  // namespace weft::processor::opencl
