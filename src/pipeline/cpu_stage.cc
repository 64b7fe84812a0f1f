#include "pipeline/cpu_stage.h"

#include <algorithm>
#include <bit>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/ticks.h"
#include "cache/entry.h"
#include "pipeline/prefetch.h"
#include "task/batch_tasks.h"

namespace weft::pipeline {
namespace {

constexpr uint32_t kStarvedTimesMax = 32;  // then the client is told that there is no memory
static_assert(CpuStage::kGroupQueries <= DiskTurn::kGroupQueriesMax);

// Notes the access of a gathered read where whoever gathered it worked on a mirror.
void NoteOne(const Batch& batch, uint32_t i, bool wants_note, cache::Session& session) {
  uint64_t* const slot = task::SlotAtPosition(session.index(), batch.position(i));
  const uint64_t word = task::LoadAcquire64(slot);
  if (!task::SameEntry(word, batch.word(i))) return;  // it may be another one by now
  task::NoteAccess(slot, word);
  if (wants_note) task::NoteRead(session.ObjectAt(task::SlotLocation(word)), session.now_s());
}

}  // namespace

// Adds the time since the last lap to a task. Reading the clock takes as long as some queries.
class CpuStage::Clock {
 public:
  explicit Clock(TaskTimes* times) : times_(times) { Restart(); }
  void Restart() { last_ = base::ReadTicks(); }
  void Lap(Task task, uint32_t queries) {
    const uint64_t now = base::ReadTicks();
    times_->Add(task, now - last_, queries);
    last_ = now;
  }
  // The same of KC's pass, which other tasks' queries are a part of.
  void LapOfCompare(uint32_t queries, Changes* inserts, Changes* deletes) {
    const uint64_t now = base::ReadTicks();
    uint64_t left = now - last_;
    last_ = now;
    for (const auto& [task, changes] :
         {std::pair(Task::kInsert, inserts), std::pair(Task::kDelete, deletes)}) {
      if (changes->queries == 0) continue;
      const uint64_t ticks = std::min(changes->ticks, left);  // some are estimated
      left -= ticks;
      times_->Add(task, ticks, changes->queries);
      *changes = {};
    }
    times_->Add(Task::kCompare, left, queries);
  }
  // The same to MM, for room for stores that are counted already.
  void LapOfRoom() {
    times_->maintain_ticks.Add(base::ReadTicks() - last_);
    Lap(Task::kMemory, 0);
  }

 private:
  TaskTimes* const times_;
  uint64_t last_ = 0;
};

void CpuStage::Run(Batch& batch, cache::Session& session, Sink& sink) {
  writes_ = 0;
  left_ = false;
  batch.ForgetEntries();
  session.Begin();
  RunGroups(batch, session, sink);
}

void CpuStage::RunLast(Batch& batch, cache::Session& session, Sink& sink) {
  writes_ = 0;
  if (session.inside()) {
    session.BeginChanging();
    SettleChanges(batch, session);
    left_ = false;
  } else {
    session.Begin();
    left_ = true;
  }
  RunGroups(batch, session, sink);
}

void CpuStage::Leave(Batch& batch, cache::Session& session) {
  session.BeginChanging();
  SettleChanges(batch, session);
  ForgetLocations(batch, 0, session);
  session.End();
}

// Counts what the stages before have changed in the index, while the old objects are still there.
void CpuStage::SettleChanges(Batch& batch, cache::Session& session) {
  cache::ObjectLog& log = store_->log();
  // A flush in the meantime has emptied what was placed before it.
  if (log.flush_floor() != session.log().flush_floor) session.RefreshLog();
  const uint32_t end = batch.has_commands() ? batch.size() : 0;
  for (uint32_t i = 0; i < end; i++) {
    const uint8_t result = batch.result(i);
    const uint64_t placed = batch.placed(i);
    if (placed != 0 && batch.command(i).verb == cache::Verb::kDelete) TakeGrave(batch, i, session);
    if (result != kResultStored && result != kResultDeleted) continue;
    const uint64_t old = task::SlotLocation(batch.word(i));
    if (result == kResultStored) store_->InheritMark(session, batch.command(i), old, placed);
    if (old != 0) session.ReleaseObject(old);
    session.AddItems((result == kResultStored ? 1 : 0) - (old != 0 ? 1 : 0));
    batch.placed(i) = 0;
    // Such a store came before the flush, as far as anybody can tell; it would come twice if it
    // were done again, for it may have been seen. But where it has replaced what was stored after
    // the flush it came after it, and is done again, with an object that counts.
    if (result == kResultStored && old != 0 && task::IsFlushed(session.log(), placed) &&
        !task::IsFlushed(session.log(), old))
      batch.SetResult(i, kResultNone);
    writes_++;
  }
}

// The word that a delete left in its entry's place goes; nobody else has changed it.
void CpuStage::TakeGrave(Batch& batch, uint32_t i, cache::Session& session) {
  const uint64_t grave = std::exchange(batch.placed(i), 0);
  if (batch.result(i) == kResultDeleted) {
    const task::IndexRef& index = session.index();
    task::Found found{task::SlotAtPosition(index, batch.position(i)), 0};
    found.word = task::LoadAcquire64(found.slot);
    if (task::SlotLocation(found.word) != grave)
      found = task::FindLocation(index, batch.hash(i), grave);
    WEFT_CHECK(found.slot != nullptr && task::SlotState(found.word) == kSlotTentative);
    task::MarkSlot(session.index_to_change(), found.slot);
    task::CompareAndSwap64(found.slot, found.word, kSlotEmpty);
  }
  store_->Abandon(session, grave);
}

void CpuStage::RunGroups(Batch& batch, cache::Session& session, Sink& sink) {
  sink_ = &sink;
  starving_ = UINT32_MAX;
  PrefetchGroup(batch, 0, kGroupQueries, session);
  batch.PrefetchResults(0, kGatheredQueries);
  Clock clock(times_);
  for (uint32_t i = 0; i < batch.size();) {
    if (batch.kind(i) == QueryKind::kOther) {
      RunOther(batch, i, session);
      sink.Write(batch, i, i + 1, session);
      i++;
      clock.Restart();
      continue;
    }
    // Who found no room goes alone: objects placed for those behind it would take what was freed.
    const uint32_t end = starving_ == i ? i + 1 : GroupEnd(batch, i);
    if (disk_ != nullptr) {
      disk_->Lock(batch, i, end, session);
      clock.Restart();
    }
    const uint32_t done = RunGroup(batch, i, end, session, &clock);
    session.ChangesDone();
    sink.Write(batch, i, done, session);
    clock.Lap(Task::kWrite, done - i);
    // Before the epoch is left, which Commit may do.
    if (done < end) ForgetLocations(batch, done, session);
    if (disk_ != nullptr) disk_->Commit(batch, session);
    if (wants_room_) {
      LeaveAndMakeRoom(batch, done, session);
      clock.LapOfRoom();
    }
    i = done;
  }
  session.End();
  if (disk_ != nullptr) disk_->EndBatch();
  CountBatch(batch);
  clock.Restart();
  store_->Maintain(session, writes_, session.now_s());
  clock.LapOfRoom();
}

// Queries [begin, result) run together: none of kind kOther among them, and more than kGroupQueries
// only where all are gathered reads, which no disk has a part in.
uint32_t CpuStage::GroupEnd(const Batch& batch, uint32_t begin) const {
  const uint32_t limit = std::min(batch.size(), begin + kGroupQueries);
  const uint32_t gathered = disk_ != nullptr ? kGroupQueries : kGatheredQueries;
  uint32_t end = batch.GatheredEnd(begin, std::min(batch.size(), begin + gathered));
  if (batch.has_only_reads() || (disk_ == nullptr && batch.others() == 0))
    return std::max(end, limit);
  // Where the group would be full, nothing is placed that would have to be placed again.
  uint64_t bytes = 0;
  while (end < limit && batch.kind(end) != QueryKind::kOther &&
         (disk_ == nullptr || bytes <= DiskTurn::kGroupBytesMax)) {
    if (batch.kind(end) == QueryKind::kCommand) bytes += batch.command(end).value.size();
    end++;
  }
  return end;
}

// Returns the first query that was not run; `end` unless one found no room (wants_room_), or the
// group is full.
uint32_t CpuStage::RunGroup(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session,
                            Clock* clock) {
  const bool prefetch = store_->options().prefetch;
  if (batch.has_commands()) {
    PlaceObjects(batch, begin, end, session);
    clock->Lap(Task::kMemory, end - begin);
  } else {
    times_->Add(Task::kMemory, 0, end - begin);
  }
  if (prefetch) batch.PrefetchResults(end + kGroupQueries, kGatheredQueries);
  PrefetchGroup(batch, end, kGroupQueries, session);
  if (!batch.searched()) {
    SearchGroup(batch, begin, end, session);
    clock->Lap(Task::kSearch, end - begin);
  }
  wants_room_ = false;
  uint32_t done = begin, gathered_end = begin;
  while (done < end) {
    if (done >= gathered_end) gathered_end = batch.GatheredEnd(done, end);
    if (done < gathered_end) {
      done = FinishGathered(batch, done, gathered_end, session);
    } else {
      done = RunRow(batch, done, end, session);
      if (done < end && batch.result(done) == kResultRead) continue;
    }
    if (done == end || (disk_ != nullptr && disk_->IsFull(batch, done))) break;
    wants_room_ = RunQuery(batch, done, session) == Progress::kNeedsRoom;
    if (wants_room_) break;
    done++;
  }
  clock->LapOfCompare(done - begin, &inserts_, &deletes_);
  return done;
}

// Those that an earlier stage has carried out are left as they are.
void CpuStage::SearchGroup(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) {
  const uint32_t bytes = store_->options().prefetch ? store_->expected_object_bytes() : 0;
  const task::Columns columns = batch.columns();
  if (batch.UnansweredEnd(begin, end) == end) {
    task::Search(session.index(), session.log(), columns, begin, end, bytes);
    return;
  }
  for (uint32_t i = begin; i < end; i++) {
    if (batch.result(i) == kResultNone)
      task::SearchFirstOne(session.index(), session.log(), columns, i, bytes);
  }
  for (uint32_t i = begin; i < end; i++) {
    if (batch.result(i) == kResultNone)
      task::SearchSecondOne(session.index(), session.log(), columns, i, bytes);
  }
}

// While holes are filled, what a set replaces decides where its object may lie: nothing is placed
// ahead.
void CpuStage::PlaceObjects(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) {
  if (!batch.has_commands() || store_->is_filling()) return;
  for (uint32_t i = begin; i < end; i++) {
    if (batch.kind(i) != QueryKind::kCommand || batch.placed(i) != 0 ||
        batch.result(i) != kResultNone)
      continue;
    const cache::Command& command = batch.command(i);
    if (command.verb == cache::Verb::kStore) batch.placed(i) = store_->Place(session, command);
  }
}

void CpuStage::PlaceForStages(Batch& batch, uint32_t tasks, bool stores, cache::Session& session) {
  if (!batch.has_commands()) return;
  const uint32_t access = (tasks & kRunInsert) != 0 ? kAccessUnseen : 0;
  for (uint32_t i = 0; i < batch.size(); i++) {
    if (stores && i % kGroupQueries == 0 && store_->options().prefetch)
      PrefetchGhosts(batch, i, std::min(batch.size(), i + kGroupQueries), store_->ghosts());
    if (batch.kind(i) != QueryKind::kCommand) continue;
    const cache::Command& command = batch.command(i);
    if (stores && command.verb == cache::Verb::kStore)
      batch.placed(i) = store_->Place(session, command, access);
    if ((tasks & kRunDelete) != 0 && command.verb == cache::Verb::kDelete)
      batch.placed(i) = store_->PlaceGrave(session, command);
  }
}

// A query that waits is skipped here.
CpuStage::Progress CpuStage::RunQuery(Batch& batch, uint32_t i, cache::Session& session) {
  // A gathered one comes here when there is no room for it, nor any to overdraw.
  const bool is_gathered = batch.result(i) == kResultRead;
  const bool has_room = !is_gathered && HasRoom(batch, batch.source(i), batch.ReplyBytes(i));
  if (!has_room && !batch.MustAnswer(i)) {
    SkipQuery(batch, i, session);
    return Progress::kWaits;
  }
  if (is_gathered) {
    RefuseRead(batch, i);
    batch.SetState(i, QueryState::kDone);
    return Progress::kDone;
  }
  switch (batch.result(i)) {
    case kResultNone: task::CompareOne(session.index(), session.log(), batch.columns(), i); break;
    case kResultMissed: batch.SetMiss(i, cache::Miss::kAbsent); break;
    case kResultStored:
    case kResultDeleted: FinishChanged(batch, i); return Progress::kDone;
    default: break;  // kResultFound: the entry of the key, at an instant of this batch
  }
  const Progress progress = batch.kind(i) == QueryKind::kRead ? FinishRead(batch, i, session)
                                                              : FinishCommand(batch, i, session);
  switch (progress) {
    case Progress::kDone: batch.SetState(i, QueryState::kDone); break;
    case Progress::kNeedsRoom: break;
    case Progress::kWaits:
      batch.Skip(i);
      batch.EndRoom(batch.source(i));  // nothing of its may overtake this one
      break;
  }
  return progress;
}

// Queries [begin, end) are gathered reads. Returns the first whose source has no room for it.
uint32_t CpuStage::FinishGathered(Batch& batch, uint32_t begin, uint32_t end,
                                  cache::Session& session) {
  // In another epoch than when an entry was found it may be anything.
  const bool notes = batch.notes_due() && !left_;
  if (notes) PrefetchNoted(batch, begin, end, session);
  bool any_wants_note = false;
  const uint32_t done = TakeRoomOfGathered(batch, begin, end, &any_wants_note);
  batch.SetDone(begin, done);
  if (notes) NoteGathered(batch, begin, done, any_wants_note, session);
  return done;
}

// The first row of reads that are noted which ends behind `i`; the others follow it in steps.
uint32_t CpuStage::NotedRow(const Batch& batch, uint32_t i) {
  const uint32_t row = i / kNoteRowQueries;
  return (row + (0u - row - batch.note_row()) % kNoteRows) * kNoteRowQueries;
}

// Asks for the slots of those among [begin, end), and for what says where those behind them are.
void CpuStage::PrefetchNoted(const Batch& batch, uint32_t begin, uint32_t end,
                             const cache::Session& session) const {
  const uint32_t next_end = std::min(batch.size(), end + kGatheredQueries);
  for (uint32_t row = NotedRow(batch, end); row < next_end; row += kNoteRowQueries * kNoteRows)
    batch.PrefetchEntry(row);
  for (uint32_t row = NotedRow(batch, begin); row < end; row += kNoteRowQueries * kNoteRows)
    for (uint32_t i = std::max(row, begin); i < std::min(row + kNoteRowQueries, end); i++)
      task::Prefetch(task::SlotAtPosition(session.index(), batch.position(i)));
}

void CpuStage::NoteGathered(const Batch& batch, uint32_t begin, uint32_t end, bool any_wants_note,
                            cache::Session& session) const {
  const Batch::GatheredValues values = batch.gathered();
  for (uint32_t row = NotedRow(batch, begin); row < end; row += kNoteRowQueries * kNoteRows)
    for (uint32_t i = std::max(row, begin); i < std::min(row + kNoteRowQueries, end); i++)
      NoteOne(batch, i, values[i].wants_note, session);
  for (uint32_t i = begin; any_wants_note && i < end; i++) {
    const bool is_noted = task::IsInNoteRow(batch.note_row(), i);
    if (values[i].wants_note && !is_noted) NoteOne(batch, i, true, session);
  }
}

void CpuStage::FinishChanged(Batch& batch, uint32_t i) {
  const bool stored = batch.result(i) == kResultStored;
  cache::Reply& reply = batch.reply(i);
  reply.outcome = stored ? Outcome::kStored : Outcome::kDeleted;
  reply.removed = !stored;
  batch.TakeRoom(batch.source(i), batch.ReplyBytes(i));
  batch.SetState(i, QueryState::kDone);
}

// Whether the version of what a read found, if it found anything, may be told.
static bool ShowsVersion(const Batch& batch, uint32_t i, cache::Session& session) {
  const uint64_t word = batch.word(i);
  return word == 0 || cache::ShowVersion(
                          session, task::SlotAtPosition(session.index(), batch.position(i)), word);
}

CpuStage::Progress CpuStage::FinishRead(Batch& batch, uint32_t i, cache::Session& session) {
  if (disk_ != nullptr && !DiskTurn::IsInMemory(batch, i, session))
    return ReadFromDisk(batch, i, session);
  while (batch.shows_versions(batch.source(i)) && !ShowsVersion(batch, i, session)) {
    std::this_thread::yield();  // for another thread, which changes the entry
    task::CompareOne(session.index(), session.log(), batch.columns(), i);
  }
  const uint64_t word = batch.word(i);
  if (word == 0) {
    batch.TakeRoom(batch.source(i), batch.ReplyBytes(i));
    batch.CountMiss();
    return Progress::kDone;
  }
  const task::Object* object = session.ObjectAt(task::SlotLocation(word));
  if (task::IsEnded(session.log(), task::SlotLocation(word), object, session.now_s())) {
    batch.SetMiss(i, cache::WhyEnded(session, task::SlotLocation(word)));
    batch.TakeRoom(batch.source(i), batch.ReplyBytes(i));
    batch.CountMiss();
    return Progress::kDone;
  }
  if (const auto end = TakeRoomOfRead(batch, i, task::ValueBytes(object))) return *end;
  // At once, not when the group is done: a later query of the batch may ask whether it was read.
  const uint32_t dice = session.NextDice();
  if (cache::Session::CountsHit(dice)) session.CountHit(task::SlotLocation(word));
  task::NoteHit(session.index(), session.log(), batch.columns(), i, session.now_s(), dice);
  return Progress::kDone;
}

CpuStage::Progress CpuStage::ReadFromDisk(Batch& batch, uint32_t i, cache::Session& session) {
  if (!disk_->Read(batch, i, session)) return Progress::kWaits;
  const cache::Reply& reply = batch.reply(i);
  if (TakeRoomOfRead(batch, i, reply.value.size()) == Progress::kWaits) return Progress::kWaits;
  if (reply.outcome == Outcome::kMiss) batch.CountMiss();
  writes_++;
  return Progress::kDone;
}

CpuStage::Progress CpuStage::FinishCommand(Batch& batch, uint32_t i, cache::Session& session) {
  const uint64_t start = base::ReadTicks();
  const cache::Command& command = batch.command(i);
  cache::Hint hint;
  hint.searched = true;
  hint.found.word = batch.word(i);
  if (hint.found.word != 0)
    hint.found.slot = task::SlotAtPosition(session.index(), batch.position(i));
  hint.placed = batch.placed(i);
  if (const auto end = EndWithoutRoom(batch, i, hint.found.word, session)) return *end;
  if (!MayRewriteNow(batch, i, hint.found.word, session)) return Progress::kWaits;
  cache::Reply& reply = batch.reply(i);
  const bool room_is_out = starving_ == i && starved_times_ >= kStarvedTimesMax;
  const uint64_t appended_before = session.appended_bytes();
  bool waits = false;
  if (disk_ != nullptr) {
    waits = !disk_->Execute(batch, i, hint, session, room_is_out, &reply);
  } else {
    // The reply is made in its place: a copy would wait for the stores before it.
    static_assert(std::is_trivially_destructible_v<cache::Reply>);
    new (&reply) cache::Reply(store_->Execute(session, command, &hint));
  }
  batch.placed(i) = 0;
  if (waits) return Progress::kWaits;
  if (reply.needs_room && !room_is_out) return Progress::kNeedsRoom;
  reply.needs_room = false;
  if (reply.outcome == Outcome::kNoMemory && command.clears_when_full) Clear(batch, i, session);
  TakeRoomOfCommand(batch, i);
  CountRewritten(batch, i,
                 session.appended_bytes() - appended_before + reply.worked_bytes +
                     (starving_ == i ? in_vain_bytes_ : 0));
  if (command.verb != cache::Verb::kRead) {
    writes_++;
    Changes& changes = command.verb == cache::Verb::kDelete ? deletes_ : inserts_;
    changes.ticks += base::ReadTicks() - start;
    changes.queries++;
  } else if (reply.outcome == Outcome::kMiss) {
    batch.CountMiss();
  }
  return Progress::kDone;
}

// Query `i` is a store that was refused: what its key held goes (Command::clears_when_full).
void CpuStage::Clear(const Batch& batch, uint32_t i, cache::Session& session) {
  if (disk_ != nullptr) return disk_->Clear(batch, i, session);
  store_->Execute(session, cache::Removal(batch.key(i), batch.hash(i)));
}

// Placed objects, and what was found, are safe within the epoch only.
void CpuStage::ForgetLocations(Batch& batch, uint32_t begin, cache::Session& session) {
  for (uint32_t i = begin; i < batch.size(); i++) {
    if (batch.placed(i) != 0) store_->Abandon(session, batch.placed(i));
    batch.placed(i) = 0;
    if (batch.result(i) == kResultFound) batch.SetResult(i, kResultNone);
  }
  batch.set_searched(false);
  left_ = true;
}

// Query `i` found no room: leaves the epoch, so that memory can be freed, and comes back.
// REQUIRES: ForgetLocations from it on
void CpuStage::LeaveAndMakeRoom(Batch& batch, uint32_t i, cache::Session& session) {
  if (starving_ != i) in_vain_bytes_ = 0;
  in_vain_bytes_ += batch.reply(i).worked_bytes;
  starved_times_ = starving_ == i ? starved_times_ + 1 : 1;
  starving_ = i;
  session.End();
  if (before_room_) before_room_();
  const uint64_t carried_before = session.carried_bytes();
  if (!store_->MakeRoomFor(session, batch.reply(i))) {
    starved_times_ = kStarvedTimesMax;
    in_vain_bytes_ += session.carried_bytes() - carried_before;
  }
  session.Begin();
}

void CpuStage::CountBatch(const Batch& batch) {
  times_->batches.Add(1);
  const size_t size_class = static_cast<size_t>(std::bit_width(batch.size())) - 1;
  if (batch.size() != 0)
    times_->batch_sizes[std::min(size_class, times_->batch_sizes.size() - 1)].Add(1);
}

}  // namespace weft::pipeline
