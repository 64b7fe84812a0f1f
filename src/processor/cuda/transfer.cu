#include "processor/cuda/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/cuda/cuda_status.h"

namespace weft::processor {
namespace {

constexpr uint32_t kBlockLanes = 256;
constexpr uint32_t kWarpLanes = 32;

// A warp a parcel.
__global__ void ScatterKernel(const uint8_t* memory, const Parcel* parcels, uint32_t count) {
  const uint32_t at = (blockIdx.x * kBlockLanes + threadIdx.x) / kWarpLanes;
  const uint32_t lane = threadIdx.x % kWarpLanes;
  if (at >= count) return;
  const Parcel parcel = parcels[at];
  const uint8_t* from = memory + parcel.from;
  if (parcel.bytes == 4) {
    if (lane == 0)
      *reinterpret_cast<uint32_t*>(parcel.to) = *reinterpret_cast<const uint32_t*>(from);
    return;
  }
  auto* const to = reinterpret_cast<uint64_t*>(parcel.to);
  for (uint32_t word = lane; word < parcel.bytes / 8; word += kWarpLanes)
    to[word] = reinterpret_cast<const uint64_t*>(from)[word];
}

}  // namespace

Result<Transfer> Transfer::Create() {
  Transfer transfer;
  auto ring = PinnedRing::Create(kPartBytes);
  if (!ring) return ring.error();
  transfer.ring_ = std::move(*ring);
  return Result<Transfer>(std::move(transfer));
}

// Bytes that still fit beside the parcels, which lie behind them, and one more.
uint32_t Transfer::Room() const {
  const uint64_t parcels = (parcels_.size() + 1) * sizeof(Parcel);
  const uint64_t left = kPartBytes - used_;
  return static_cast<uint32_t>(left - std::min(parcels, left));
}

Status Transfer::Add(void* to, const void* from, uint64_t bytes, CudaStream stream) {
  auto* target = static_cast<uint8_t*>(to);
  auto* source = static_cast<const uint8_t*>(from);
  while (bytes > 0) {
    const auto piece = static_cast<uint32_t>(std::min<uint64_t>(bytes, kParcelBytesMax));
    const uint32_t taken = (piece + 7) & ~7u;
    if (Room() < taken) {
      if (Status status = Flush(stream); !status.ok()) return status;
    }
    std::memcpy(ring_.part() + used_, source, piece);
    parcels_.push_back({reinterpret_cast<uint64_t>(target), used_, piece});
    used_ += taken;
    target += piece;
    source += piece;
    bytes -= piece;
  }
  return Status::Ok();
}

Status Transfer::Flush(CudaStream stream) {
  if (parcels_.empty()) return Status::Ok();
  const auto count = static_cast<uint32_t>(parcels_.size());
  auto* const list = reinterpret_cast<Parcel*>(ring_.part() + used_);
  std::memcpy(list, parcels_.data(), count * sizeof(Parcel));
  const uint32_t blocks = (count * kWarpLanes + kBlockLanes - 1) / kBlockLanes;
  ScatterKernel<<<blocks, kBlockLanes, 0, stream>>>(ring_.part(), list, count);
  if (Status status = base::LaunchStatus("ScatterKernel", __FILE__, __LINE__); !status.ok())
    return status;
  if (Status status = ring_.End(stream); !status.ok()) return status;
  used_ = 0;
  parcels_.clear();
  return ring_.Begin();
}

}  // namespace weft::processor
