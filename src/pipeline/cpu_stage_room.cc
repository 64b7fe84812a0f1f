// What replies take of their sources' room, before they are written: see Batch::AddSource and
// Sink::MoreRoom. A query whose reply finds none is not carried out, but where another one of its
// source, that has been already, follows it (Batch::MustAnswer): then it takes what there is not.
// That is rare, for WantMarker lets a stage change nothing before which the reads might not fit;
// but others may have made values longer since. So there is a bound, beyond which it is refused.
#include <algorithm>

#include "pipeline/cpu_stage.h"
#include "task/batch_tasks.h"

namespace weft::pipeline {
namespace {

constexpr uint32_t kValuesAhead = 64;  // gathered values that are asked for ahead
// Of a source's room that is overdrawn by reads that must be answered.
constexpr int64_t kOverdraftMax = int64_t{1} << 20;

// Of gathered reads [begin, end), with their values' lines asked for ahead. *any_wants_note becomes
// true where one of them wants it.
int64_t BytesOfReplies(const Batch& batch, uint32_t begin, uint32_t end, bool* any_wants_note) {
  const Batch::GatheredValues values = batch.gathered();
  const uint32_t last = batch.size() - 1;  // what is behind `end` comes next
  int64_t bytes = 0;
  bool wants_note = false;
  for (uint32_t i = begin; i < end; i++) {
    values.Prefetch(std::min(i + kValuesAhead, last));
    const Batch::Gathered gathered = values[i];
    values.PrefetchRest(i);  // it is written when all are counted
    bytes += batch.ReplyBytes(i) + static_cast<int64_t>(gathered.value.size());
    wants_note |= gathered.wants_note;
  }
  *any_wants_note |= wants_note;
  return bytes;
}

}  // namespace

void CpuStage::SkipQuery(Batch& batch, uint32_t i, cache::Session& session) {
  if (batch.placed(i) != 0) store_->Abandon(session, batch.placed(i));
  batch.placed(i) = 0;
  batch.Skip(i);
  batch.EndRoom(batch.source(i));  // nothing of its may overtake this one
  if (disk_ != nullptr) disk_->LookAhead(batch, i, session);
}

void CpuStage::RunOther(Batch& batch, uint32_t i, cache::Session& session) {
  const uint32_t source = batch.source(i);
  if (HasRoom(batch, source, Batch::kReplyBytes) || batch.MustAnswer(i)) {
    batch.TakeRoom(source, Batch::kReplyBytes);
    batch.SetState(i, QueryState::kDone);
    sink_->RunOther(batch, i, session);
  } else {
    batch.SetState(i, QueryState::kSkipped);
  }
  if (batch.state(i) == QueryState::kSkipped) batch.EndRoom(source);
}

// Of gathered reads [begin, end). Returns the first for which its source has no room.
uint32_t CpuStage::TakeRoomOfGathered(Batch& batch, uint32_t begin, uint32_t end,
                                      bool* any_wants_note) {
  uint32_t done = begin;
  while (done < end) {
    const uint32_t run_end = batch.SourceEnd(done, end);
    const uint32_t source = batch.source(done);
    const int64_t room_before = batch.room(source);
    const uint32_t run_begin = done;
    if (const int64_t bytes = BytesOfReplies(batch, done, run_end, any_wants_note);
        bytes <= room_before) {
      batch.TakeRoom(source, bytes);
      done = run_end;
    }
    for (; done < run_end; done++) {
      const int64_t bytes =
          batch.ReplyBytes(done) + static_cast<int64_t>(batch.gathered(done).value.size());
      if (!HasRoom(batch, source, bytes) &&
          (!batch.MustAnswer(done) || batch.room(source) < -kOverdraftMax))
        break;
      batch.TakeRoom(source, bytes);
    }
    for (uint32_t i = run_begin; i < done; i++)
      batch.CountValueBytes(batch.gathered(i).value.size());
    if (done < run_end) break;
  }
  return done;
}

// A read that may not wait finds no room, nor any to overdraw.
void CpuStage::RefuseRead(Batch& batch, uint32_t i) {
  const bool is_read = batch.kind(i) == QueryKind::kRead;
  cache::Reply& reply = is_read ? batch.TurnIntoCommand(i) : batch.reply(i);
  reply = {};
  reply.outcome = Outcome::kNoMemory;
  batch.TakeRoom(batch.source(i), batch.ReplyBytes(i));
}

// Null: it was taken. Otherwise this is the read's end: its source has to wait for room; or it
// can't wait, and is told that there is none.
std::optional<CpuStage::Progress> CpuStage::TakeRoomOfRead(Batch& batch, uint32_t i,
                                                           uint64_t value_bytes) {
  const uint32_t source = batch.source(i);
  const int64_t bytes = batch.ReplyBytes(i) + static_cast<int64_t>(value_bytes);
  if (!HasRoom(batch, source, bytes)) {
    if (!batch.MustAnswer(i)) return Progress::kWaits;
    if (batch.room(source) < -kOverdraftMax) {
      RefuseRead(batch, i);
      return Progress::kDone;
    }
  }
  batch.TakeRoom(source, bytes);
  batch.CountValueBytes(value_bytes);
  return std::nullopt;
}

// The same for a command, of whose reply no room is taken yet. `word`: the entry that was found, or
// 0. Null: as far as the reply is concerned, it may be carried out.
std::optional<CpuStage::Progress> CpuStage::EndWithoutRoom(Batch& batch, uint32_t i, uint64_t word,
                                                           const cache::Session& session) {
  const cache::Command& command = batch.command(i);
  if (command.verb != cache::Verb::kRead || !command.want_value) return std::nullopt;
  uint64_t value_bytes = disk_ != nullptr ? disk_->BroughtBytes(batch, i) : 0;
  if (word != 0) value_bytes = task::ValueBytes(session.ObjectAt(task::SlotLocation(word)));
  const uint32_t source = batch.source(i);
  if (HasRoom(batch, source, batch.ReplyBytes(i) + static_cast<int64_t>(value_bytes)))
    return std::nullopt;
  if (!batch.MustAnswer(i)) return Progress::kWaits;
  if (batch.room(source) >= -kOverdraftMax) return std::nullopt;
  RefuseRead(batch, i);
  return Progress::kDone;
}

// Whether a command is not left for another turn for what it would write again, or read in vain.
// `word`: the entry that was found, or 0. What is only on disk is not known to be long.
bool CpuStage::MayRewriteNow(Batch& batch, uint32_t i, uint64_t word, cache::Session& session) {
  if (word == 0 || !cache::MayRewrite(batch.command(i)) || batch.MustAnswer(i)) return true;
  if (task::ValueBytes(session.ObjectAt(task::SlotLocation(word))) < kHeavyBytesMin) return true;
  if (sink_->MayRewrite(batch, i)) return true;
  if (batch.placed(i) != 0) store_->Abandon(session, batch.placed(i));
  batch.placed(i) = 0;
  return false;
}

// Of one that was carried out.
void CpuStage::TakeRoomOfCommand(Batch& batch, uint32_t i) {
  const cache::Command& command = batch.command(i);
  const bool shows_value = command.verb == cache::Verb::kRead && command.want_value;
  const uint64_t value_bytes = batch.reply(i).value.size();
  batch.CountValueBytes(value_bytes);
  batch.TakeRoom(batch.source(i),
                 batch.ReplyBytes(i) + (shows_value ? static_cast<int64_t>(value_bytes) : 0));
}

// A command wrote or read in vain `bytes`. Every change of a large item writes all of it, and a
// number may be refused for its last byte. So a few kilobytes of requests may be seconds of work.
// But what a stage before has changed must be answered.
void CpuStage::CountRewritten(Batch& batch, uint32_t i, uint64_t bytes) {
  const uint32_t source = batch.source(i);
  bytes -= std::min<uint64_t>(bytes, batch.command(i).value.size());
  batch.rewritten(source) += bytes;
  if (cache::MayRewrite(batch.command(i))) sink_->Rewrote(batch, i, bytes);
  if (batch.rewritten(source) >= kRewrittenBytesMax && !batch.MustAnswerFrom(i + 1, source))
    batch.EndRoom(source);
}

}  // namespace weft::pipeline
