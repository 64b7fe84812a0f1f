#include "processor/cuda/group_streams.h"

#include <utility>

namespace weft::processor {

Result<GroupStreams> GroupStreams::Create() {
  GroupStreams streams;
  auto changes = Stream::Create();
  if (!changes) return changes.error();
  streams.changes_ = std::move(*changes);
  auto changed = Event::Create();
  if (!changed) return changed.error();
  streams.changed_ = std::move(*changed);
  for (Group& group : streams.groups_) {
    auto stream = Stream::Create();
    if (!stream) return stream.error();
    group.stream = std::move(*stream);
    auto done = Event::Create();
    if (!done) return done.error();
    group.done = std::move(*done);
  }
  return Result<GroupStreams>(std::move(streams));
}

CudaStream GroupStreams::ToChange() {
  has_changed_ = true;
  return changes_.get();
}

Result<CudaStream> GroupStreams::ToReplace() {
  for (uint32_t i = 0; has_launched_ && i < under_way_; i++) {
    const Group& group = groups_[(oldest_ + i) % kGroups];
    if (Status status = group.done.HoldBack(changes_.get()); !status.ok()) return status;
  }
  has_launched_ = false;
  return ToChange();
}

Result<CudaStream> GroupStreams::NextGroup() {
  if (has_changed_) {
    if (Status status = changed_.Record(changes_.get()); !status.ok()) return status;
    has_changed_ = false;
    is_behind_.fill(true);
  }
  const CudaStream stream = groups_[next()].stream.get();
  if (is_behind_[next()]) {
    if (Status status = changed_.HoldBack(stream); !status.ok()) return status;
    is_behind_[next()] = false;
  }
  return stream;
}

Status GroupStreams::GroupBegun() {
  Group& group = groups_[next()];
  has_launched_ = true;
  if (Status status = group.done.Record(group.stream.get()); !status.ok()) {
    // Nobody could tell later when it is done.
    const Status waited = WaitForStream(group.stream.get());
    return waited.ok() ? status : waited;
  }
  under_way_++;
  return Status::Ok();
}

Status GroupStreams::TakeOldest() {
  const Status status = groups_[oldest_].done.Wait();
  oldest_ = (oldest_ + 1) % kGroups;
  under_way_--;
  return status;
}

Status GroupStreams::Settle() {
  Status status = WaitForStream(changes_.get());
  for (const Group& group : groups_) {
    const Status ended = WaitForStream(group.stream.get());
    if (status.ok()) status = ended;
  }
  return status;
}

}  // namespace weft::processor
