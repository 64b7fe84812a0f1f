// pipeline/cpu_stage.h: carries out the one-stage plan on the CPU, on the calling thread; and the
// last stage of every other plan.
//
// The batch goes through in groups of kGroupQueries. Within a group each task runs over all queries
// before the next task starts, with prefetch between: buckets (asked for one group ahead), then
// candidate objects. Queries take effect one after the other, in the batch's order, in task KC's
// pass. It reads each slot again, so a read sees every write before it and none after.
//
// As a last stage it takes the results of the stages before it (Batch::result) and does what they
// left: queries that had to wait for their turn, and whatever a device could not or did not finish.
// Consecutive reads whose values were gathered are finished together, up to kGatheredQueries of
// them: each only needs its bytes counted; the accesses of some are noted.
//
// A query that finds no memory ends its group early. The results so far are written out, the epoch
// is left, room is made, and the group goes on from there with a new search. So does a query that
// finds that the durable tier has enough to write (DiskTurn::IsFull).
//
// Threads   the worker's. Source: paper 000's tasks; batches with prefetch as in MICA (NSDI'14) and
//           paper 004's address and size units; docs/design/0001-batches-and-prefetch.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "cache/lookup_views.h"
#include "cache/session.h"
#include "cache/store.h"
#include "pipeline/batch.h"
#include "pipeline/disk_turn.h"
#include "pipeline/task_times.h"

namespace weft::pipeline {

// The stage's requests to its neighbours.
class Sink {
 public:
  virtual ~Sink() = default;
  // Task RD and WR for queries [begin, end), all done or skipped, in order. Their values stay
  // until it returns.
  virtual void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) = 0;
  // Carries out a query of kind kOther, within the epoch. If it can't be answered now, it is left
  // undone in state kSkipped.
  virtual void RunOther(Batch& batch, uint32_t i, cache::Session& session) = 0;
  // The next reply to `source` takes `bytes`, more than its room in the batch. Adds the missing
  // room (Batch::AddRoom), or returns false: then the rest of its queries is skipped.
  virtual bool MoreRoom(Batch&, uint32_t /*source*/, int64_t /*bytes*/) { return false; }
  // Whether command `i`, which may rewrite a whole item of kHeavyBytesMin or more, or read it in
  // vain, may run now. False: it is skipped, and so is the rest of its source's.
  virtual bool MayRewrite(const Batch&, uint32_t /*i*/) { return true; }
  // A command that may rewrite an item did, or was refused. It wrote `bytes` that it did not bring,
  // or read them in vain.
  virtual void Rewrote(const Batch&, uint32_t /*i*/, uint64_t /*bytes*/) {}
};

class CpuStage {
 public:
  static constexpr uint32_t kGroupQueries = 32;
  static constexpr uint32_t kGatheredQueries = 256;
  // Bytes that a source's requests may write without bringing them, or read in vain; then the
  // source goes on in another batch.
  static constexpr uint64_t kRewrittenBytesMax = uint64_t{4} << 20;
  // Below this, writing or reading costs no more than any other command.
  static constexpr uint64_t kHeavyBytesMin = 1024;

  // `disk`: the durable tier below the store, or null; its owner adds the batch's sources to it.
  CpuStage(cache::Store* store, TaskTimes* times, DiskTurn* disk = nullptr)
      : store_(store), times_(times), disk_(disk) {}

  // Runs the whole batch. REQUIRES: `session` is outside.
  void Run(Batch& batch, cache::Session& session, Sink& sink);
  // Runs the last stage of a batch that other stages have worked on, and leaves the epoch.
  // REQUIRES: `session` is inside, since before the first of them, or has left by Leave.
  void RunLast(Batch& batch, cache::Session& session, Sink& sink);
  // Takes what other stages have done, as far as it lasts, and leaves the epoch before the last
  // stage, which does the rest. So memory can be freed while the batch waits.
  void Leave(Batch& batch, cache::Session& session);
  // Called before the stage waits for memory: waiting batches must leave their epochs.
  void set_before_room(std::function<void()> ask) { before_room_ = std::move(ask); }

  // Task MM for the stores in [begin, end) whose objects do not depend on the present ones.
  void PlaceObjects(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session);
  // The same for the whole batch, before stages that carry out `tasks` (kRun...) and may be run
  // again. If `stores`: objects that nobody has seen yet. In any case: graves for plain deletes,
  // which Leave and RunLast take back.
  void PlaceForStages(Batch& batch, uint32_t tasks, bool stores, cache::Session& session);

 private:
  class Clock;
  // One row of sets in so many. A prime: batches of alike size have others timed each.
  static constexpr uint32_t kRowsTimed = 7;

  // What KC's pass took for queries that change something.
  struct Changes {
    uint64_t ticks = 0;
    uint32_t queries = 0;
  };
  // How far a query has come.
  enum class Progress : uint8_t {
    kDone,       // carried out, or refused
    kNeedsRoom,  // not run: memory must be freed for it first
    kWaits,      // not run: its source waits for the disk, for room for replies or for its turn
  };

  void RunGroups(Batch& batch, cache::Session& session, Sink& sink);
  // cpu_stage_room.cc
  bool HasRoom(Batch& batch, uint32_t source, int64_t bytes) {
    return bytes <= batch.room(source) ||
           (!batch.has_ended(source) && sink_->MoreRoom(batch, source, bytes));
  }
  void SkipQuery(Batch& batch, uint32_t i, cache::Session& session);
  void RunOther(Batch& batch, uint32_t i, cache::Session& session);
  uint32_t TakeRoomOfGathered(Batch& batch, uint32_t begin, uint32_t end, bool* any_wants_note);
  static void RefuseRead(Batch& batch, uint32_t i);
  std::optional<Progress> TakeRoomOfRead(Batch& batch, uint32_t i, uint64_t value_bytes);
  std::optional<Progress> EndWithoutRoom(Batch& batch, uint32_t i, uint64_t word,
                                         const cache::Session& session);
  bool MayRewriteNow(Batch& batch, uint32_t i, uint64_t word, cache::Session& session);
  void TakeRoomOfCommand(Batch& batch, uint32_t i);
  void CountRewritten(Batch& batch, uint32_t i, uint64_t bytes);

  void ForgetLocations(Batch& batch, uint32_t begin, cache::Session& session);
  void SettleChanges(Batch& batch, cache::Session& session);
  void TakeGrave(Batch& batch, uint32_t i, cache::Session& session);
  void SearchGroup(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session);
  uint32_t FinishGathered(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session);
  static uint32_t NotedRow(const Batch& batch, uint32_t i);
  void PrefetchNoted(const Batch& batch, uint32_t begin, uint32_t end,
                     const cache::Session& session) const;
  void NoteGathered(const Batch& batch, uint32_t begin, uint32_t end, bool any_wants_note,
                    cache::Session& session) const;
  static void FinishChanged(Batch& batch, uint32_t i);
  uint32_t GroupEnd(const Batch& batch, uint32_t begin) const;
  uint32_t RunGroup(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session,
                    Clock* clock);
  // cpu_stage_rows.cc
  uint32_t RunRow(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session);
  uint32_t RunReads(const cache::LookupViews& views, Batch& batch, uint32_t begin, uint32_t end,
                    cache::Session& session);
  uint32_t RunSets(const cache::LookupViews& views, Batch& batch, uint32_t begin, uint32_t end,
                   cache::Session& session);
  Progress RunQuery(Batch& batch, uint32_t i, cache::Session& session);
  Progress FinishRead(Batch& batch, uint32_t i, cache::Session& session);
  Progress ReadFromDisk(Batch& batch, uint32_t i, cache::Session& session);
  Progress FinishCommand(Batch& batch, uint32_t i, cache::Session& session);
  void Clear(const Batch& batch, uint32_t i, cache::Session& session);
  void LeaveAndMakeRoom(Batch& batch, uint32_t i, cache::Session& session);
  void CountBatch(const Batch& batch);

  cache::Store* const store_;
  TaskTimes* const times_;
  DiskTurn* const disk_;               // may be null
  std::function<void()> before_room_;  // may be null; set before the first batch

  // Owned by the worker's thread; within a Run.
  Sink* sink_ = nullptr;
  bool left_ = false;               // the epoch was left since the first stage
  bool wants_room_ = false;         // the group's last query found none
  uint32_t writes_ = 0;             // appended objects, roughly
  uint32_t starving_ = UINT32_MAX;  // the last query that found no room
  uint32_t starved_times_ = 0;
  uint64_t in_vain_bytes_ = 0;  // read for it so far; and copied, if no room came of it
  Changes inserts_, deletes_;   // of the group
  uint64_t ticks_a_set_ = 0;    // of the last row of sets that was timed
  uint32_t sets_timer_ = 0;     // 0: the next row is
};

}  // namespace weft::pipeline
