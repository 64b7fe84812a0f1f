#include <cuda_runtime.h>

#include <string>
#include <utility>

#include "base/cuda/cuda_status.h"
#include "processor/cuda/device_memory.h"

namespace weft::processor {

Result<int> DeviceCount() {
  int count = 0;
  WEFT_CUDA_TRY(cudaGetDeviceCount(&count));
  return count;
}

Status SetDevice(int number) {
  WEFT_CUDA_TRY(cudaSetDevice(number));
  return Status::Ok();
}

Result<DeviceFacts> FactsOfDevice(int number) {
  DeviceFacts facts;
  cudaDeviceProp properties;
  WEFT_CUDA_TRY(cudaGetDeviceProperties(&properties, number));
  int mode = 0;
  WEFT_CUDA_TRY(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, number));
  if (mode == cudaComputeModeProhibited)
    return Status(Code::kUnsupported,
                  "cuda:" + std::to_string(number) + " is in a mode that accepts no programs");
  WEFT_CUDA_TRY(cudaDriverGetVersion(&facts.driver));
  facts.name = properties.name;
  facts.memory_bytes = properties.totalGlobalMem;
  facts.cache_bytes = static_cast<uint64_t>(properties.l2CacheSize);
  facts.multiprocessors = static_cast<uint32_t>(properties.multiProcessorCount);
  return facts;
}

Result<uint64_t> FreeBytes() {
  size_t free_bytes = 0, all_bytes = 0;
  WEFT_CUDA_TRY(cudaMemGetInfo(&free_bytes, &all_bytes));
  return uint64_t{free_bytes};
}

Status CopyToHost(void* to, const void* from, size_t bytes, CudaStream stream) {
  WEFT_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
  return Status::Ok();
}

Status WaitForStream(CudaStream stream) {
  WEFT_CUDA_TRY(cudaStreamSynchronize(stream));
  return Status::Ok();
}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(stream_, other.stream_);
  return *this;
}

Stream::~Stream() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);  // as ~DeviceBuffer
}

Result<Stream> Stream::Create() {
  Stream stream;
  WEFT_CUDA_TRY(cudaStreamCreateWithFlags(&stream.stream_, cudaStreamNonBlocking));
  return Result<Stream>(std::move(stream));
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(event_, other.event_);
  return *this;
}

Event::~Event() {
  if (event_ != nullptr) cudaEventDestroy(event_);  // as ~DeviceBuffer
}

Result<Event> Event::Create() {
  Event event;
  WEFT_CUDA_TRY(cudaEventCreateWithFlags(&event.event_, cudaEventDisableTiming));
  return Result<Event>(std::move(event));
}

Status Event::Record(CudaStream stream) {
  WEFT_CUDA_TRY(cudaEventRecord(event_, stream));
  return Status::Ok();
}

bool Event::IsPassed() const { return cudaEventQuery(event_) != cudaErrorNotReady; }

Status Event::Wait() const {
  WEFT_CUDA_TRY(cudaEventSynchronize(event_));
  return Status::Ok();
}

Status Event::HoldBack(CudaStream stream) const {
  WEFT_CUDA_TRY(cudaStreamWaitEvent(stream, event_, 0));
  return Status::Ok();
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) cudaFree(data_);  // after a lost device there is nobody left to tell
}

Result<DeviceBuffer> DeviceBuffer::Create(size_t bytes) {
  DeviceBuffer buffer;
  WEFT_CUDA_TRY(cudaMalloc(&buffer.data_, bytes));
  buffer.size_ = bytes;
  return Result<DeviceBuffer>(std::move(buffer));
}

Status DeviceBuffer::CopyIn(const void* from, size_t bytes) {
  WEFT_CUDA_TRY(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice));
  return Status::Ok();
}

Status DeviceBuffer::CopyOut(void* to, size_t bytes) const {
  WEFT_CUDA_TRY(cudaMemcpy(to, data_, bytes, cudaMemcpyDeviceToHost));
  return Status::Ok();
}

Status DeviceBuffer::Fill(uint8_t byte, CudaStream stream) {
  WEFT_CUDA_TRY(cudaMemsetAsync(data_, byte, size_, stream));
  return Status::Ok();
}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ != nullptr) cudaFreeHost(data_);
}

Result<PinnedBuffer> PinnedBuffer::Create(size_t bytes) {
  PinnedBuffer buffer;
  WEFT_CUDA_TRY(cudaMallocHost(&buffer.data_, bytes));
  buffer.size_ = bytes;
  return Result<PinnedBuffer>(std::move(buffer));
}

}  // namespace weft::processor
