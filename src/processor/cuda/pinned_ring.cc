#include "processor/cuda/pinned_ring.h"

#include <utility>

namespace weft::processor {

Result<PinnedRing> PinnedRing::Create(size_t part_bytes) {
  PinnedRing ring;
  auto memory = PinnedBuffer::Create(kParts * part_bytes);
  if (!memory) return memory.error();
  ring.memory_ = std::move(*memory);
  ring.part_bytes_ = part_bytes;
  for (Event& event : ring.read_) {
    auto created = Event::Create();
    if (!created) return created.error();
    event = std::move(*created);
  }
  return Result<PinnedRing>(std::move(ring));
}

Status PinnedRing::End(CudaStream stream) {
  if (Status status = read_[at_].Record(stream); !status.ok()) return status;
  at_ = (at_ + 1) % kParts;
  return Status::Ok();
}

}  // namespace weft::processor
