// task/query_job.h: the tasks of a batch's queries as one stage of a plan runs them, on any
// processor, and its results for the stages after it.
//
// The owner of the batch decides what each query wants of a stage (QueryJob::wanted). A stage runs
// those of its tasks that the query needs and says in `result` how far it came. The last stage of
// the plan does the rest on the CPU, whatever the reason. So a stage may always do less than was
// wanted (a full table, an entry that moves, a value too long to gather). A stage that failed may
// be run again: see `again`.
//
// Again     a failed job may have stopped anywhere. A change writes its result before it takes
//           effect (Announce). The second run believes that only if the index confirms it, whatever
//           others have done to the key meanwhile:
//           - A store's object is laid with kAccessUnseen. It is in the index, or was there and was
//           seen, or never was. If it is there but tentative, it is taken back.
//           - A delete puts the word of its grave in the entry's place: tentative, with the same
//           tag; the grave is an object without a key. Searches pass over it, inserts find another
//           key there, nothing displaces or evicts it, and growth cannot begin to drain before the
//           batch ends. The last stage takes it out (pipeline/cpu_stage.h). The owner of a job that
//           is never run again may give no graves: then the entry goes at once.
//           The log moves no object of a batch while the batch is in its epoch, because its segment
//           is no victim before that (cache/object_log.h).
// Order     queries of one job run in any order, at once. The owner wants nothing of a query whose
//           key another query of the batch writes.
// Sets      kSetQueries queries in a row. With `set_claims` several processors share a job: whoever
//           turns a set's claim from 0 to 1 runs it (paper 000, section IV-C, work stealing).
// Threads   index, log and claims are shared and atomic; a query's entries of the other columns
//           belong to whoever runs it.
#pragma once

#include "task/batch_tasks.h"
#include "task/delete.h"
#include "task/insert.h"

WEFT_TASK_BEGIN

#define kSetQueries 64u

// QueryJob::tasks
#define kRunSearch 1u   // IN.search
#define kRunCompare 2u  // KC
#define kRunRead 4u     // RD
#define kRunInsert 8u   // IN.insert
#define kRunDelete 16u  // IN.delete

// QueryJob::wanted
#define kWantsNothing 0u  // no key, or one that this batch writes elsewhere
#define kWantsHint 1u     // only Search: its last stage runs it exactly
#define kWantsRead 2u     // Search, KC, RD
#define kWantsStore 3u    // IN.insert of the object in `placed`, over any entry
#define kWantsDelete 4u   // IN.delete, whatever the version; `placed` is its grave

// QueryJob::result
#define kResultNone 0u    // nothing that counts
#define kResultFound 1u   // KC: columns.word and .position are the key's entry
#define kResultMissed 2u  // KC: the key has none
#define kResultRead 3u    // RD: found, and its value lies in `values`
#define kResultStored 4u  // IN.insert: done; columns.word is the replaced entry, or 0
#define kResultDeleted \
  5u  // IN.delete: done; columns.word is the removed entry, and its grave's word must go
      // (columns.position)

// A value as RD gathers it: at 8 * value_at[i] in `values`, the client's flags (4 bytes), the
// value's bytes (4), the value, filler up to a multiple of 8.
#define kGatherHeaderBytes 8u
// Bit of value_at: the last stage must note the read. Set on a mirror, which also notes in its own
// copy of the object that it has asked.
#define kValueNoteBit (1u << 31)
// A longer value stays in the log.
#define kGatherBytesMax (16u << 10)

// Of the reads that were gathered from a mirror the last stage notes the accesses of some: of one
// row of kNoteRowQueries in kNoteRows, and those with kValueNoteBit. A note touches a line that
// nobody on the host needs otherwise; one in kNoteRows is enough to tell hot from cold. Rows,
// because the words and positions of a row lie on two lines.
#define kNoteRowQueries 8u
#define kNoteRows 8u

typedef struct QueryJob {
  IndexRef index;
  LogRef log;
  Columns columns;
  // In.
  WEFT_GLOBAL const u8* wanted;
  WEFT_GLOBAL const u64* placed;  // locations, task MM's: objects of stores, graves of deletes
  // Out, and in for the stages after the first.
  WEFT_GLOBAL u8* result;
  WEFT_GLOBAL u32* value_at;  // in 8-byte units
  WEFT_GLOBAL u8* values;
  WEFT_GLOBAL u32* values_used;  // one counter, in 8-byte units, from values_begin on; may pass
                                 // the capacity
  WEFT_GLOBAL u32* set_claims;   // one a set of the batch; null: nobody shares the job
  u32 values_begin;              // in 8-byte units; the part before belongs to others
  u32 values_capacity;           // in 8-byte units, from the beginning of `values`
  u32 begin;                     // queries [begin, end); begin is a multiple of kSetQueries
  u32 end;
  u32 tasks;          // kRun..., or-ed
  u32 now_s;          // the batch's clock
  u32 dice;           // differs from batch to batch (WantsAccessNote)
  u32 notes;          // 1: RD notes the access in index and object, as a reader does
  u32 again;          // 1: an earlier run may have done some of it
  u32 mirrored;       // 1: index and log are a copy, in which a key may be missing
  u32 key_bytes_all;  // not 0: a multiple of 8, as long as every key; key i lies at i times it
  u32 object_bytes;   // average bytes of the store's objects, a hint; 0: unknown
  u32 note_row;       // which rows are noted: IsInNoteRow
  // 1: columns.word and .position of gathered reads that are not noted are unused: a processor may
  // leave anything there.
  u32 sparse_entries;
  // 1: clients know versions. Then IN.insert leaves a store to the last stage if the entry that it
  // would replace has the higher version, which may have been shown.
  u32 rises;
} QueryJob;

// Whether the read is in a row that is noted.
WEFT_FN bool IsInNoteRow(u32 note_row, u32 i) {
  return (i / kNoteRowQueries + note_row) % kNoteRows == 0;
}

// Task KC of a read.
WEFT_FN void CompareTask(QueryJob job, u32 i) {
  CompareOne(job.index, job.log, job.columns, i);
  const u32 missed = job.mirrored != 0 ? kResultNone : kResultMissed;
  job.result[i] = (u8)(job.columns.word[i] != 0 ? kResultFound : missed);
}

// Task RD: gathers the value, unless the object has ended, is too long, or `values` is full.
// REQUIRES: result is kResultFound
WEFT_FN void ReadTask(QueryJob job, u32 i) {
  const u64 word = job.columns.word[i];
  if (!IsHere(job.log, SlotLocation(word))) return;
  WEFT_GLOBAL Object* object = ObjectAt(job.log, SlotLocation(word));
  const u32 bytes = ValueBytes(object);
  if (bytes > kGatherBytesMax || IsEnded(job.log, SlotLocation(word), object, job.now_s)) return;
  const u32 units = (kGatherHeaderBytes + bytes + 7) / 8;
  const u32 at = job.values_begin + FetchAdd32(job.values_used, units);
  if (at > job.values_capacity || units > job.values_capacity - at) return;
  WEFT_GLOBAL u8* to = job.values + (u64)at * 8;
  *(WEFT_GLOBAL u32*)to = ClientFlags(object);
  *(WEFT_GLOBAL u32*)(to + 4) = bytes;
  CopyBytes(to + kGatherHeaderBytes, ValueOf(object), bytes);
  job.value_at[i] = at;
  job.result[i] = (u8)kResultRead;
  if (job.mirrored != 0 && WantsReadNote(LoadRelaxed32(&object->access), job.now_s)) {
    NoteRead(object, job.now_s);
    job.value_at[i] = at | kValueNoteBit;
  }
  if (job.notes == 0) return;
  if (WantsAccessNote(word, job.dice + i))
    NoteAccess(SlotAtPosition(job.index, job.columns.position[i]), word);
  if (WantsReadNote(LoadRelaxed32(&object->access), job.now_s)) NoteRead(object, job.now_s);
}

// Rounds of a store or delete that loses races; then the last stage does it.
#define kMutationRounds 4

// Whether a store that an earlier run has announced took effect then. Its object is in the index;
// or it was, and whoever took it out first noted that it was seen there (NoteSeen).
WEFT_FN bool WasStored(QueryJob job, u32 i) {
  const u64 location = job.placed[i];
  const Found placed = FindLocation(job.index, job.columns.hash[i], location);
  if (placed.slot == 0)
    return (LoadRelaxed32(&ObjectAt(job.log, location)->access) & kAccessUnseen) == 0;
  if (SlotState(placed.word) != kSlotTentative) return true;
  CompareAndSwap64(placed.slot, placed.word, kSlotEmpty);  // or another insert has cleared it
  return false;
}

// The same for a delete: its grave is in the index until the last stage takes it out.
WEFT_FN bool WasDeleted(QueryJob job, u32 i) {
  return FindLocation(job.index, job.columns.hash[i], job.placed[i]).slot != 0;
}

// A change, or its next round, begins anew. The results of a first run may be half written.
WEFT_FN void ForgetChange(QueryJob job, u32 i) {
  job.result[i] = (u8)kResultNone;
  job.columns.word[i] = 0;
}

// Says that a change takes effect next; columns.word is the entry that it replaces or removes.
WEFT_FN void Announce(QueryJob job, u32 i, u32 result) {
  job.result[i] = (u8)result;
  FullFence();
}

// Whether the job's owner has left it (pipeline/batch.h, LeaveColumns) and runs the change itself.
// Ask after a look at the index. If false, what that found is older than the owner's run, so
// replacing it fails if anybody has changed it since.
WEFT_FN bool IsLeft(QueryJob job, u32 i) { return LoadAcquire8(&job.wanted[i]) == kWantsNothing; }

// The word with which a new key enters.
WEFT_FN u64 EnteringWord(QueryJob job, u32 i) {
  return MakeSlot(TagOfHash(job.columns.hash[i]), kSlotTentative, kByStage, job.placed[i]);
}

// Enters the object as the key's only entry. True: done, or no further round helps.
WEFT_FN bool EnterObject(QueryJob job, u32 i) {
  const Key key = KeyOfQuery(job.columns, i);
  u64 victim = 0;
  const u64 word = EnteringWord(job, i);
  Announce(job, i, kResultStored);
  WEFT_GLOBAL u64* slot =
      PlaceWord(job.index, job.index.older, job.log, key.hash, word, false, &victim);
  if (slot != 0 && SettleInsert(job.index, job.log, key, slot, word) == kInsertDone) return true;
  job.result[i] = (u8)kResultNone;
  return slot == 0;
}

// Task IN.insert: the object in `placed` replaces any entry that the key has, or enters.
WEFT_FN void InsertTask(QueryJob job, u32 i) {
  if (job.again != 0) {
    if (job.result[i] == kResultStored && WasStored(job, i)) return;
    ForgetChange(job, i);
  }
  for (u32 round = 0; round < kMutationRounds; round++) {
    CompareOne(job.index, job.log, job.columns, i);
    if (IsLeft(job, i)) return;
    const u64 word = job.columns.word[i];
    if (word == 0) {
      if (job.index.newer.buckets != 0) return;  // its owner counts the room while it grows
      if (EnterObject(job, i)) return;
      continue;
    }
    if (SlotState(word) != kSlotLive) continue;
    const u64 replaced = SlotLocation(word);
    if (job.rises != 0 && CasOf(job.log, replaced) > CasOf(job.log, job.placed[i])) return;
    WEFT_GLOBAL u64* slot = SlotAtPosition(job.index, job.columns.position[i]);
    MarkSlot(job.index, slot);
    NoteSeen(ObjectAt(job.log, replaced));
    Announce(job, i, kResultStored);
    if (ReplaceEntry(slot, word, WithLocation(word, job.placed[i]))) return;
    job.result[i] = (u8)kResultNone;
  }
}

// Task IN.delete: the word of the grave takes the entry's place. An ended entry is left to the last
// stage, which knows why it ended. So is every delete while the index grows, because draining waits
// until all tentative entries in the older table are gone.
WEFT_FN void DeleteTask(QueryJob job, u32 i) {
  const u64 grave = job.placed[i];
  if (job.again != 0) {
    if (job.result[i] == kResultDeleted && WasDeleted(job, i)) return;
    ForgetChange(job, i);
  }
  if (grave != 0 && job.index.newer.buckets != 0) return;
  const u64 tag = TagOfHash(job.columns.hash[i]);
  const u64 left = grave != 0 ? MakeSlot(tag, kSlotTentative, 0, grave) : kSlotEmpty;
  for (u32 round = 0; round < kMutationRounds; round++) {
    CompareOne(job.index, job.log, job.columns, i);
    if (IsLeft(job, i)) return;
    const u64 word = job.columns.word[i];
    if (word == 0) return;
    const u64 location = SlotLocation(word);
    WEFT_GLOBAL Object* object = ObjectAt(job.log, location);
    if (IsEnded(job.log, location, object, job.now_s)) return;
    if (SlotState(word) != kSlotLive) continue;
    WEFT_GLOBAL u64* slot = SlotAtPosition(job.index, job.columns.position[i]);
    MarkSlot(job.index, slot);
    NoteSeen(object);
    Announce(job, i, kResultDeleted);
    if (ReplaceEntry(slot, word, left)) return;
    job.result[i] = (u8)kResultNone;
  }
}

// Whether any task of the job has something to do for the query.
WEFT_FN bool NeedsStage(QueryJob job, u32 i) {
  const u32 wanted = job.wanted[i];
  if (wanted == kWantsNothing) return false;
  const u32 result = job.result[i];
  return result == kResultNone || (result == kResultFound && (job.tasks & kRunRead) != 0) ||
         ((result == kResultDeleted || result == kResultStored) && job.again != 0);
}

// Whether Search runs for it. A change that may be done already has its intent in the word.
WEFT_FN bool NeedsSearch(QueryJob job, u32 i) {
  return (job.tasks & kRunSearch) != 0 && NeedsStage(job, i) && job.result[i] < kResultStored;
}

// Task Search of one query, if it needs that.
WEFT_FN void SearchQuery(QueryJob job, u32 i, u32 prefetch_bytes) {
  if (!NeedsSearch(job, i)) return;
  SearchFirstOne(job.index, job.log, job.columns, i, prefetch_bytes);
  SearchSecondOne(job.index, job.log, job.columns, i, prefetch_bytes);
}

// The tasks after Search of one query, one after the other.
WEFT_FN void FinishQuery(QueryJob job, u32 i) {
  if (!NeedsStage(job, i)) return;
  const u32 wanted = job.wanted[i];
  if (wanted == kWantsRead) {
    if ((job.tasks & kRunCompare) != 0) CompareTask(job, i);
    if ((job.tasks & kRunRead) != 0 && job.result[i] == kResultFound) ReadTask(job, i);
  } else if (wanted == kWantsStore) {
    if ((job.tasks & kRunInsert) != 0) InsertTask(job, i);
  } else if (wanted == kWantsDelete) {
    if ((job.tasks & kRunDelete) != 0) DeleteTask(job, i);
  }
}

// All tasks of one query.
WEFT_FN void RunQuery(QueryJob job, u32 i) {
  SearchQuery(job, i, 0);
  FinishQuery(job, i);
}

// The same for queries [begin, end), task by task with prefetch between: the form for a CPU.
WEFT_FN void RunQueries(QueryJob job, u32 begin, u32 end, u32 prefetch_bytes) {
  if ((job.tasks & kRunSearch) != 0) {
    if (prefetch_bytes != 0) PrefetchBuckets(job.index, job.columns, begin, end);
    for (u32 i = begin; i < end; i++) {
      if (NeedsSearch(job, i)) SearchFirstOne(job.index, job.log, job.columns, i, prefetch_bytes);
    }
    for (u32 i = begin; i < end; i++) {
      if (NeedsSearch(job, i)) SearchSecondOne(job.index, job.log, job.columns, i, prefetch_bytes);
    }
  }
  for (u32 i = begin; i < end; i++) FinishQuery(job, i);
}

WEFT_FN u32 SetCount(QueryJob job) { return (job.end - job.begin + kSetQueries - 1) / kSetQueries; }
WEFT_FN u32 SetBegin(QueryJob job, u32 set) { return job.begin + set * kSetQueries; }
WEFT_FN u32 SetEnd(QueryJob job, u32 set) {
  const u32 end = SetBegin(job, set) + kSetQueries;
  return end < job.end ? end : job.end;
}

// True if the caller must run the set. Each set is run by one.
WEFT_FN bool ClaimSet(QueryJob job, u32 set) {
  return job.set_claims == 0 ||
         CompareAndSwap32(&job.set_claims[job.begin / kSetQueries + set], 0, 1);
}

WEFT_TASK_END
