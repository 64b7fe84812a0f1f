#include "pipeline/wants.h"

#include <bit>

#include "cache/store.h"
#include "pipeline/cpu_stage.h"

namespace weft::pipeline {
namespace {

// Of a mark: a query of the batch writes a key that has it; and another query has it as well.
constexpr uint8_t kWritten = 1;
constexpr uint8_t kShared = 2;
constexpr uint32_t kMarksPerQuery = 8;

}  // namespace

WantMarker::WantMarker(uint32_t queries_max)
    : mask_(std::bit_ceil(uint64_t{queries_max} * kMarksPerQuery) - 1),
      marks_(mask_ + 1),
      changes_(queries_max + 1) {}

void WantMarker::MarkWritten(const Batch& batch) {
  // Without branches, which would be guessed wrong where commands are many.
  Change* end = changes_.data();
  for (uint32_t i = 0; i < batch.size(); i++) {
    end->query = i;
    end += batch.kind(i) == QueryKind::kCommand;
  }
  changes_count_ = static_cast<size_t>(end - changes_.data());
  for (const Change& change : changes()) {
    uint8_t& mark = MarkOf(batch.hash(change.query));
    mark = mark == 0 ? kWritten : kWritten | kShared;
  }
}

// Of queries [begin, end), none of them a command.
void WantMarker::MarkReads(Batch* batch, uint32_t begin, uint32_t end) {
  const bool has_one_source = batch->sources() == 1;
  uint32_t reads = 0;
  for (uint32_t i = begin; i < end; i++) {
    if (batch->kind(i) == QueryKind::kOther) {
      batch->wanted(i) = kWantsNothing;
      continue;
    }
    reads++;
    if (!has_one_source) reads_before_[batch->source(i)]++;
    uint8_t& mark = MarkOf(batch->hash(i));
    batch->wanted(i) = mark == 0 ? kWantsRead : kWantsHint;
    if (mark != 0) mark = kWritten | kShared;
  }
  if (has_one_source) reads_before_[0] += reads;
}

uint8_t WantMarker::WantOfCommand(Batch* batch, const Change& change, const cache::Session& session,
                                  uint32_t tasks) {
  const uint32_t i = change.query;
  if ((MarkOf(batch->hash(i)) & kShared) != 0) return kWantsHint;
  const uint32_t source = batch->source(i);
  // What it asked for before must be answered then, so that all of it must fit.
  if (change.reads_before * reply_bytes_max_ > batch->room(source) || batch->room(source) <= 0)
    return kWantsHint;
  // All of that is then rewritten, too, in one turn (CpuStage::kRewrittenBytesMax).
  if (change.rewrites_before * static_cast<uint64_t>(reply_bytes_max_) >
      CpuStage::kRewrittenBytesMax)
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

void WantMarker::Mark(Batch* batch, const cache::Session& session, uint32_t tasks) {
  if (batch->has_only_reads()) return batch->WantOfAll(kWantsRead);
  reads_before_.assign(batch->sources(), 0);
  rewrites_before_.assign(batch->sources(), 0);
  if (batch->has_barrier()) {
    for (uint32_t i = 0; i < batch->size(); i++)
      batch->wanted(i) = batch->kind(i) == QueryKind::kOther ? kWantsNothing : kWantsHint;
    return;
  }
  MarkWritten(*batch);
  // Of any read: the largest object so far, and what the last stage may append to it.
  reply_bytes_max_ = Batch::kReplyBytes + session.store().largest_stored_bytes();
  for (const Change& change : changes())
    if (batch->placed(change.query) == 0)
      reply_bytes_max_ += static_cast<int64_t>(batch->command(change.query).value.size());
  uint32_t begin = 0;
  for (Change& change : changes()) {
    MarkReads(batch, begin, change.query);
    uint32_t& reads_before = reads_before_[batch->source(change.query)];
    change.reads_before = reads_before;
    const cache::Command& command = batch->command(change.query);
    reads_before += command.verb == cache::Verb::kRead && command.want_value ? 1 : 0;
    uint32_t& rewrites_before = rewrites_before_[batch->source(change.query)];
    change.rewrites_before = rewrites_before;
    rewrites_before += cache::MayRewrite(command) ? 1 : 0;
    begin = change.query + 1;
  }
  MarkReads(batch, begin, batch->size());
  for (const Change& change : changes())
    batch->wanted(change.query) = WantOfCommand(batch, change, session, tasks);
  for (const Change& change : changes()) MarkOf(batch->hash(change.query)) = 0;
}

}  // namespace weft::pipeline
