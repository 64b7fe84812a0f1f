#include "processor/cuda/device_range.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <utility>

#include "base/cuda/cuda_status.h"

namespace weft::processor {
namespace {

// The driver's calls, by their names.
struct Driver {
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  bool complete = false;
};

// Toolkits before 12.5 look up what fits their own version, newer ones can be asked for an older.
cudaError_t LookUp(const char* name, void** found, cudaDriverEntryPointQueryResult* result) {
#if CUDART_VERSION >= 12050
  constexpr unsigned kOldestVersion = 10020;  // CUDA 10.2 has all of them
  return cudaGetDriverEntryPointByVersion(name, found, kOldestVersion, cudaEnableDefault, result);
#else
  return cudaGetDriverEntryPoint(name, found, cudaEnableDefault, result);
#endif
}

template <typename Call>
bool Find(const char* name, Call* call) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (LookUp(name, &found, &result) != cudaSuccess || result != cudaDriverEntryPointSuccess)
    return false;
  *call = reinterpret_cast<Call>(found);
  return true;
}

const Driver& TheDriver() {
  static const Driver driver = [] {
    Driver d;
    d.complete = Find("cuMemGetAllocationGranularity", &d.granularity) &&
                 Find("cuMemAddressReserve", &d.reserve) && Find("cuMemAddressFree", &d.free) &&
                 Find("cuMemCreate", &d.create) && Find("cuMemRelease", &d.release) &&
                 Find("cuMemMap", &d.map) && Find("cuMemUnmap", &d.unmap) &&
                 Find("cuMemSetAccess", &d.set_access);
    return d;
  }();
  return driver;
}

// The driver numbers its errors as the runtime does.
Status DriverStatus(CUresult result, const char* what, int line) {
  return base::CudaStatus(static_cast<int>(result), what, __FILE__, line);
}

CUmemAllocationProp MemoryOf(int device) {
  CUmemAllocationProp memory{};
  memory.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  memory.location.id = device;
  return memory;
}

}  // namespace

DeviceRange& DeviceRange::operator=(DeviceRange&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  std::swap(chunk_bytes_, other.chunk_bytes_);
  std::swap(device_, other.device_);
  std::swap(chunks_, other.chunks_);
  std::swap(held_chunks_, other.held_chunks_);
  return *this;
}

DeviceRange::~DeviceRange() {
  if (start_ == 0) return;
  for (uint64_t i = 0; i < chunks_.size(); i++) {
    if (chunks_[i].holders == 0) continue;
    chunks_[i].holders = 1;
    DropChunk(i);
  }
  TheDriver().free(start_, bytes_);  // after a lost device there is nobody left to tell
}

Result<DeviceRange> DeviceRange::Reserve(uint64_t bytes) {
  DeviceRange range;
  WEFT_CUDA_TRY(cudaGetDevice(&range.device_));
  WEFT_CUDA_TRY(cudaFree(nullptr));  // the driver's calls need the context that this makes
  if (!TheDriver().complete)
    return Status(Code::kUnsupported, "the CUDA driver does not support virtual memory management");
  const CUmemAllocationProp memory = MemoryOf(range.device_);
  size_t chunk = 0;
  CUresult result = TheDriver().granularity(&chunk, &memory, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  if (result != CUDA_SUCCESS)
    return DriverStatus(result, "cuMemGetAllocationGranularity", __LINE__);
  range.chunk_bytes_ = chunk;
  range.chunks_.resize((bytes + chunk - 1) / chunk);
  range.bytes_ = range.chunks_.size() * chunk;
  CUdeviceptr start = 0;
  result = TheDriver().reserve(&start, range.bytes_, 0, 0, 0);
  if (result != CUDA_SUCCESS) return DriverStatus(result, "cuMemAddressReserve", __LINE__);
  range.start_ = start;
  return Result<DeviceRange>(std::move(range));
}

uint64_t DeviceRange::MissingBytes(uint64_t offset, uint64_t bytes) const {
  const uint64_t end = (offset + bytes + chunk_bytes_ - 1) / chunk_bytes_;
  uint64_t missing = 0;
  for (uint64_t i = offset / chunk_bytes_; i < end; i++)
    if (chunks_[i].holders == 0) missing += chunk_bytes_;
  return missing;
}

Status DeviceRange::Hold(uint64_t offset, uint64_t bytes) {
  const uint64_t first = offset / chunk_bytes_;
  const uint64_t end = (offset + bytes + chunk_bytes_ - 1) / chunk_bytes_;
  for (uint64_t i = first; i < end; i++) {
    Status status = HoldChunk(i);
    if (status.ok()) continue;
    while (i > first) DropChunk(--i);
    return status;
  }
  return Status::Ok();
}

void DeviceRange::Drop(uint64_t offset, uint64_t bytes) {
  const uint64_t end = (offset + bytes + chunk_bytes_ - 1) / chunk_bytes_;
  for (uint64_t i = offset / chunk_bytes_; i < end; i++) DropChunk(i);
}

Status DeviceRange::HoldChunk(uint64_t number) {
  Chunk& chunk = chunks_[number];
  if (chunk.holders > 0) {
    chunk.holders++;
    return Status::Ok();
  }
  const Driver& driver = TheDriver();
  const CUmemAllocationProp memory = MemoryOf(device_);
  CUmemGenericAllocationHandle handle = 0;
  CUresult result = driver.create(&handle, chunk_bytes_, &memory, 0);
  if (result != CUDA_SUCCESS) return DriverStatus(result, "cuMemCreate", __LINE__);
  const CUdeviceptr at = start_ + number * chunk_bytes_;
  result = driver.map(at, chunk_bytes_, 0, handle, 0);
  if (result != CUDA_SUCCESS) {
    driver.release(handle);
    return DriverStatus(result, "cuMemMap", __LINE__);
  }
  CUmemAccessDesc access{};
  access.location = memory.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  result = driver.set_access(at, chunk_bytes_, &access, 1);
  if (result != CUDA_SUCCESS) {
    driver.unmap(at, chunk_bytes_);
    driver.release(handle);
    return DriverStatus(result, "cuMemSetAccess", __LINE__);
  }
  chunk = {handle, 1};
  held_chunks_++;
  return Status::Ok();
}

void DeviceRange::DropChunk(uint64_t number) {
  Chunk& chunk = chunks_[number];
  if (--chunk.holders > 0) return;
  TheDriver().unmap(start_ + number * chunk_bytes_, chunk_bytes_);
  TheDriver().release(chunk.memory);
  chunk = {};
  held_chunks_--;
}

}  // namespace weft::processor
