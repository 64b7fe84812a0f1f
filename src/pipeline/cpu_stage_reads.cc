// Plain reads in a row that no stage has answered, of memory alone: what most batches consist of.
// They are finished as RunQuery would, one after the other, with what all of them need at hand.
#include "pipeline/cpu_stage.h"
#include "task/batch_tasks.h"

namespace weft::pipeline {
namespace {

// Of one row, by value: byte copies and columns could otherwise change them for all that the
// compiler knows.
struct Views {
  task::IndexRef index;
  task::LogRef log;
  uint32_t now_s;
  bool finds_plain;  // no object is elsewhere, or flushed
};

// Whether the candidate of query `i` is in its place still, and a plain object that has the key:
// one that cannot have ended. The slot is read anew, so that writes of the batch are seen.
inline bool IsPlainHit(const Views& views, const task::Columns& columns, uint32_t i) {
  const uint64_t word = columns.word[i];
  return word != 0 && views.finds_plain &&
         task::SameEntry(
             task::LoadAcquire64(task::SlotAtPosition(views.index, columns.position[i])), word) &&
         task::HasPlainKey(task::ObjectAt(views.log, task::SlotLocation(word)),
                           columns.keys + columns.key_at[i], columns.key_bytes[i]);
}

// Of any other: task KC. False: it has ended.
__attribute__((noinline)) bool CompareAny(const Views& views, const task::Columns& columns,
                                          uint32_t i, uint32_t* value_bytes) {
  task::CompareOne(views.index, views.log, columns, i);
  const uint64_t location = task::SlotLocation(columns.word[i]);
  if (location == 0) return true;
  const task::Object* const object = task::ObjectAt(views.log, location);
  *value_bytes = task::ValueBytes(object);
  return !task::IsEnded(views.log, location, object, views.now_s);
}

}  // namespace

// From `begin` on, up to `end`. Returns the first query that is RunQuery's: no such read, one whose
// object has ended, or one without room at hand. So are all above a disk.
uint32_t CpuStage::RunReads(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) {
  if (disk_ != nullptr) return begin;
  end = batch.UnansweredReadsEnd(begin, end);
  if (begin == end) return begin;
  const task::LogRef& log = session.log();
  const Views views = {session.index(), log, session.now_s(),
                       log.resident == nullptr && log.flush_floor == 0};
  const task::Columns columns = batch.columns();
  const uint32_t dice = session.NextDice(end - begin) - begin;
  uint64_t value_bytes = 0;
  uint32_t done = begin;
  for (bool has_room = true; has_room && done < end;) {
    const uint32_t source = batch.source(done);
    const uint32_t source_end = batch.SourceEnd(done, end);
    const int64_t room = batch.room(source);
    int64_t left = room;
    for (; done < source_end; done++) {
      uint32_t value = 0;
      if (WEFT_UNLIKELY(!IsPlainHit(views, columns, done))) {
        has_room = CompareAny(views, columns, done, &value);
        if (!has_room) break;
      } else {
        const uint64_t location = task::SlotLocation(columns.word[done]);
        value = task::ObjectAt(views.log, location)->shape & kShapeValueMask;
      }
      const int64_t bytes = Batch::kReplyBytes + columns.key_bytes[done] + value;
      has_room = bytes <= left;
      if (!has_room) break;
      left -= bytes;
      value_bytes += value;
      const uint64_t word = columns.word[done];
      if (word == 0) {
        batch.CountMiss();
        continue;
      }
      const task::Object* const object = task::ObjectAt(views.log, task::SlotLocation(word));
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

}  // namespace weft::pipeline
