#include "pipeline/wants.h"

#include <algorithm>
#include <bit>

#include "cache/store.h"

namespace weft::pipeline {
namespace {

constexpr uint8_t kWritten = 0x80;
constexpr uint8_t kOne = 1;
constexpr uint8_t kMany = 2;  // or more
constexpr uint32_t kMarksPerQuery = 8;

// A source whose reads before a change might fill its room by values of this size is not cut off
// there: it may get longer values than it has room for, but not many of them.
constexpr int64_t kValueBytesExpected = 16 << 10;

}  // namespace

WantMarker::WantMarker(uint32_t queries_max)
    : mask_(std::bit_ceil(uint64_t{queries_max} * kMarksPerQuery) - 1), marks_(mask_ + 1) {}

void WantMarker::CountKeys(const Batch& batch) {
  std::fill(marks_.begin(), marks_.end(), uint8_t{0});
  for (uint32_t i = 0; i < batch.size(); i++) {
    if (batch.kind(i) == QueryKind::kOther) continue;
    uint8_t& mark = MarkOf(batch.hash(i));
    const uint8_t written = batch.kind(i) == QueryKind::kCommand ? kWritten : mark & kWritten;
    mark = written | ((mark & (kOne | kMany)) == 0 ? kOne : kMany);
  }
}

uint8_t WantMarker::WantOfCommand(Batch* batch, uint32_t i, const cache::Session& session,
                                  uint32_t tasks) {
  if ((MarkOf(batch->hash(i)) & kMany) != 0) return kWantsHint;
  const uint32_t source = batch->source(i);
  if (int64_t{reads_before_[source]} * kValueBytesExpected > batch->room(source) ||
      batch->room(source) <= 0)
    return kWantsHint;
  const cache::Command& command = batch->command(i);
  // What is not plain has nothing placed, and what found no room waits for it in the last stage.
  if (batch->placed(i) == 0) return kWantsHint;
  if (command.verb == cache::Verb::kDelete) {
    if ((tasks & kRunDelete) == 0) return kWantsHint;
    batch->KeepUpTo(i);
    return kWantsDelete;
  }
  // A store that shows its version is no plain one.
  if ((tasks & kRunInsert) == 0 || command.want_cas) return kWantsHint;
  cache::ObjectLog& log = session.store().log();
  if (log.AnyShown() && !log.IsAboveShown(task::CasOf(session.log(), batch->placed(i))))
    return kWantsHint;
  batch->KeepUpTo(i);
  return kWantsStore;
}

uint8_t WantMarker::WantOf(Batch* batch, uint32_t i, const cache::Session& session,
                           uint32_t tasks) {
  switch (batch->kind(i)) {
    case QueryKind::kOther: return kWantsNothing;
    case QueryKind::kCommand: return WantOfCommand(batch, i, session, tasks);
    case QueryKind::kRead: break;
  }
  reads_before_[batch->source(i)]++;
  return (MarkOf(batch->hash(i)) & kWritten) != 0 ? kWantsHint : kWantsRead;
}

void WantMarker::Mark(Batch* batch, const cache::Session& session, uint32_t tasks) {
  if (batch->has_only_reads()) return batch->WantOfAll(kWantsRead);
  reads_before_.assign(batch->sources(), 0);
  if (batch->has_barrier()) {
    for (uint32_t i = 0; i < batch->size(); i++)
      batch->wanted(i) = batch->kind(i) == QueryKind::kOther ? kWantsNothing : kWantsHint;
    return;
  }
  CountKeys(*batch);
  for (uint32_t i = 0; i < batch->size(); i++)
    batch->wanted(i) = WantOf(batch, i, session, tasks);
}

}  // namespace weft::pipeline
