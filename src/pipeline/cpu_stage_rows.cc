// Plain reads and plain sets in a row that no stage has answered, of memory alone: what most
// batches consist of. They are finished as RunQuery would, one after the other, with what all of
// them need at hand.
#include <new>

#include "base/ticks.h"
#include "cache/entry.h"
#include "cache/lookup_views.h"
#include "cache/overwrite.h"
#include "pipeline/cpu_stage.h"
#include "task/batch_tasks.h"

namespace weft::pipeline {
namespace {

// Whether the candidate of query `i` is in its place still. The slot is read anew, so that writes
// of the batch are seen.
inline bool SlotStands(const task::IndexRef& index, const task::Columns& columns, uint32_t i) {
  const uint64_t* const slot = task::SlotAtPosition(index, columns.position[i]);
  return task::SameEntry(task::LoadAcquire64(slot), columns.word[i]);
}

}  // namespace

// From `begin` on, up to `end`. Returns the first query that is RunQuery's: neither such a read nor
// such a set, one whose object has ended or changes just now, one that finds no hole, or one
// without room at hand. So are all above a disk.
uint32_t CpuStage::RunRow(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) {
  if (disk_ != nullptr) return begin;
  const cache::LookupViews views(session);
  for (uint32_t done = begin;;) {
    const uint32_t reads_end = batch.UnansweredReadsEnd(done, end);
    const uint32_t sets = RunReads(views, batch, done, reads_end, session);
    if (sets != reads_end || sets == end || !batch.has_commands()) return sets;
    done = RunSets(views, batch, sets, end, session);
    if (done == sets || done == end) return done;
  }
}

// All from `begin` up to `end` are such reads.
inline uint32_t CpuStage::RunReads(const cache::LookupViews& views, Batch& batch, uint32_t begin,
                                   uint32_t end, cache::Session& session) {
  if (begin == end) return begin;
  const task::Columns columns = batch.columns();
  const uint32_t dice = session.NextDice(end - begin) - begin;
  uint64_t value_bytes = 0;
  uint32_t done = begin;
  for (bool has_room = true; has_room && done < end;) {
    const uint32_t source = batch.source(done);
    const uint32_t source_end = batch.SourceEnd(done, end);
    const bool shows_versions = batch.shows_versions(source);
    const int64_t room = batch.room(source);
    int64_t left = room;
    for (; done < source_end; done++) {
      const uint8_t* const key = columns.keys + columns.key_at[done];
      const uint32_t key_bytes = columns.key_bytes[done];
      const task::Object* object = nullptr;
      if (columns.word[done] != 0 && SlotStands(views.index, columns, done))
        object = cache::PlainHit(views, columns.word[done], key, key_bytes);
      if (WEFT_UNLIKELY(object == nullptr)) {
        object = cache::LiveObject(views, columns, done, key, key_bytes);
        has_room = object != nullptr || columns.word[done] == 0;
        if (!has_room) break;
      }
      const uint32_t value = object == nullptr ? 0 : task::ValueBytes(object);
      const int64_t bytes = Batch::kReplyBytes + key_bytes + value;
      has_room = bytes <= left;
      if (!has_room) break;
      if (WEFT_UNLIKELY(shows_versions) && object != nullptr &&
          !cache::ShowVersion(session, task::SlotAtPosition(views.index, columns.position[done]),
                              columns.word[done])) {
        has_room = false;  // RunQuery looks again
        break;
      }
      left -= bytes;
      value_bytes += value;
      if (object == nullptr) {
        batch.CountMiss();
        continue;
      }
      const uint64_t word = columns.word[done];
      if (cache::Session::CountsHit(dice + done)) session.CountHit(task::SlotLocation(word));
      if (task::WantsNote(word, object, views.now_s, dice + done))
        task::NoteHit(views.index, views.log, columns, done, views.now_s, dice + done);
    }
    batch.TakeRoom(source, room - left);
  }
  batch.CountValueBytes(value_bytes);
  batch.SetDone(begin, done);
  return done;
}

// Up to the first that is no such set.
inline uint32_t CpuStage::RunSets(const cache::LookupViews& views, Batch& batch, uint32_t begin,
                                  uint32_t end, cache::Session& session) {
  if (!store_->is_filling() || !views.finds_plain) return begin;
  const task::Columns columns = batch.columns();
  const bool is_timed = sets_timer_ == 0;
  const uint64_t start = is_timed ? base::ReadTicks() : 0;
  uint32_t done = begin;
  for (; done < end; done++) {
    if (batch.kind(done) != QueryKind::kCommand || batch.result(done) != kResultNone ||
        batch.placed(done) != 0)
      break;
    const cache::Command& command = batch.command(done);
    const uint32_t source = batch.source(done);
    const int64_t bytes = batch.ReplyBytes(done);
    if (!cache::IsBareSet(command) || bytes > batch.room(source) || starving_ == done ||
        batch.rewritten(source) >= kRewrittenBytesMax)
      break;
    const uint64_t location = cache::OverwriteCandidate(session, views, columns, done, command);
    if (location == 0) break;
    // The reply is made in its place: a copy would wait for the stores before it.
    new (&batch.reply(done)) cache::Reply(cache::Changed(Outcome::kStored, location));
    batch.TakeRoom(source, bytes);
  }
  const uint32_t sets = done - begin;
  if (sets == 0) return begin;
  batch.SetDone(begin, done);
  writes_ += sets;
  inserts_.queries += sets;
  if (is_timed) ticks_a_set_ = (base::ReadTicks() - start) / sets;
  inserts_.ticks += ticks_a_set_ * sets;
  sets_timer_ = (sets_timer_ + 1) % kRowsTimed;
  return done;
}

}  // namespace weft::pipeline
