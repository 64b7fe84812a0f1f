// Plain reads in a row that no stage has answered, of memory alone: what most batches consist of.
// They are finished as RunQuery would, one after the other, with what all of them need at hand.
#include "cache/lookup_views.h"
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

// From `begin` on, up to `end`. Returns the first query that is RunQuery's: no such read, one whose
// object has ended, or one without room at hand. So are all above a disk.
uint32_t CpuStage::RunReads(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) {
  if (disk_ != nullptr) return begin;
  end = batch.UnansweredReadsEnd(begin, end);
  if (begin == end) return begin;
  const cache::LookupViews views(session);
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

}  // namespace weft::pipeline
