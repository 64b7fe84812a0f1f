#include "processor/cuda/staging.h"

#include <utility>

namespace weft::processor {

Result<Staging> Staging::Create() {
  Staging staging;
  auto memory = PinnedBuffer::Create(kParts * kPartBytes);
  if (!memory) return memory.error();
  staging.memory_ = std::move(*memory);
  for (Event& event : staging.read_) {
    auto created = Event::Create();
    if (!created) return created.error();
    event = std::move(*created);
  }
  return Result<Staging>(std::move(staging));
}

Result<uint8_t*> Staging::Next() {
  at_ = (at_ + 1) % kParts;
  if (Status status = read_[at_].Wait(); !status.ok()) return status;
  return static_cast<uint8_t*>(memory_.data()) + at_ * kPartBytes;
}

Status Staging::Enqueued(CudaStream stream) { return read_[at_].Record(stream); }

}  // namespace weft::processor
