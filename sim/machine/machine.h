// sim/machine/machine.h: cores, their caches, the shared cache, the mesh and the memory's channels,
// with a prefetching unit in each controller if there are any: start here.
//
//     Core + L1 -- mesh -- L2 bank + directory -- mesh -- MemoryPort --> Controller
//                                                             ^   \--> Prefetcher
//                                                             \---------/  lines that it asks for
//
// Time goes from event to event. At one point in time an epoch ends first, then channels perform
// their clock, then packets arrive, then units act, then cores perform their cycle. So whoever
// comes with a request when a clock begins waits for the next one.
//
// A core's kKey and kHit marks travel to the controller of their bucket; kSlot and kChain change
// the table as they retire. A unit hears at once of its lines, whichever controller has them; its
// requests for another controller's lines travel.
//
// A run ends when all that was begun is done; anything lost or done twice is a failed check.
//
// Units     Time (picoseconds).
// Threads   one owner.
// Errors    those of Validate() of the parts, of the source, and of records (core.h).
// Source    paper 004, sections 3 and 4; the simulator's specification, sections 1.1, 3 and 4.1.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/dram/preset.h"
#include "sim/machine/event_queue.h"
#include "sim/machine/memory_port.h"
#include "sim/machine/run_result.h"
#include "sim/noc/mesh.h"
#include "sim/prefetch/prefetcher.h"

namespace weft::sim {

// Which of a unit's lines never go to memory.
enum class PrefetchFilter : uint8_t {
  kNone,
  kOracle,  // those that L2 has
  kAll,     // all: a unit that changes nothing
};

struct MachineOptions {
  MeshOptions mesh;
  CoreOptions core;  // ops_max and warmup_ops are of all cores together
  CacheShape l1 = {.kilobytes = 16, .ways = 4, .mshrs = 16};
  L2Options l2;
  Interleave interleave = Interleave::kRank;
  ControllerOptions controller;
  PortOptions port;
  PrefetchFilter filter = PrefetchFilter::kNone;
  bool skips = true;       // over times in which nothing happens; the outcome is the same
  Clock epoch_clocks = 0;  // 0: no epochs
  // Operations, of all cores together and before all others, that take no time: L2, the table and
  // units know them when the clock begins.
  int64_t fast_forward_ops = 0;
  // Called now and then with the number of operations that are over; may be empty.
  std::function<void(int64_t ops)> on_progress;
  std::function<void(int channel, const IssuedCommand&)> on_command;
};

Status Validate(const MachineOptions& options, const Preset& preset, int cores);

class Machine : private CorePort, private L2Port, private PortClient {
 public:
  // `source` and `table`, its initial one, must outlive it. Units: none, or one a channel.
  // REQUIRES: Validate(options, preset, source.cores()).ok()
  Machine(const MachineOptions& options, const Preset& preset, TraceSource& source,
          TableImage* table, std::vector<std::unique_ptr<Prefetcher>> units);

  // Plays all records. Call it once.
  Result<RunResult> Run();
  // It failed because the source ended before the warm-up did.
  bool has_run_out() const { return has_run_out_; }

 private:
  struct Snapshot {
    Time time = 0;
    int64_t ops = 0;
    L2Counts l2 = {};
    std::vector<PortFigures> channels = {};
    PrefetchFigures prefetch = {};
    Time mesh_waited = 0;
  };

  void AskL2(const L2Request& request, Time when) override;
  void OnMark(int core, const Record& record, Time now) override;
  void OnOpEnd(int core, Time now) override;
  void ToCore(const L2Request& request, bool has_data, bool from_memory, Time when) override;
  void ReadLine(const L2Request& request, Time now) override;
  void WriteLine(uint64_t line, Time now) override;
  void OnPushed(uint64_t line, Pushed what) override;
  void OnReadDone(int channel, const L2Request& request, Time now) override;
  void OnPrefetchDone(int channel, uint64_t line, Time now) override;
  void OnAsked(const Asker& asker, bool was_dropped, Time now) override;
  void OnOutcome(PrefetchOutcome outcome) override;

  void FastForward();
  // The first `ops` of these, of which only marks count. False: one has failed.
  bool Learn(int64_t ops);
  void PassOver(int core, const Record& record);
  // Performs what is next; false: nothing is left.
  bool Advance();
  void Deliver(const Event& event);
  void DeliverToCore(const Event& event);
  void DeliverAsked(const Event& event);
  void StepCore(size_t core, Time now);
  void AdvanceUnit(size_t unit, Time now);
  void SendAsked(size_t unit, const AskedLine& asked, Time now);
  void EndEpoch();
  Snapshot TakeSnapshot(Time now);
  void EndMeasurement(Time now);
  void Settle();
  RunResult ResultOf() const;

  int ChannelOf(uint64_t line) const { return map_.PlaceOf(line).channel; }
  int NodeOfChannel(int channel) const { return mesh_.ControllerNode(channel, channels_); }
  int NodeOfCore(int core) const { return core % options_.mesh.nodes(); }
  int NodeOfBank(uint64_t line) const { return l2_->BankOf(line) % options_.mesh.nodes(); }

  // Constant after construction.
  const MachineOptions options_;
  const Preset preset_;
  const AddressMap map_;
  const int channels_;
  const uint64_t table_line_;  // of bucket 0
  const Time tck_;

  Mesh mesh_;
  std::vector<std::unique_ptr<L1Cache>> l1s_;
  TraceSource& source_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::unique_ptr<L2Cache> l2_;
  std::vector<std::unique_ptr<MemoryPort>> ports_;
  std::vector<std::unique_ptr<Prefetcher>> units_;
  TableImage* const table_;

  EventQueue events_;
  std::vector<Time> core_next_;  // copies, to be looked through fast
  std::vector<Time> unit_next_;
  Time epoch_end_ = kNever;
  // What events of the kind carry, and free places.
  std::vector<Record> marks_;
  std::vector<Asker> askers_;
  std::vector<uint32_t> free_marks_;
  std::vector<uint32_t> free_askers_;
  std::vector<AskedLine> asked_;  // for AdvanceUnit

  size_t cores_left_ = 0;
  int64_t ops_ = 0;
  int64_t warmup_ops_ = 0;
  bool is_settling_ = false;  // all cores are done
  bool has_run_out_ = false;
  PrefetchFigures prefetch_;
  Snapshot begin_;
  Snapshot end_;
  Snapshot epoch_;
  std::vector<EpochFigures> epochs_;
  Status status_;
};

}  // namespace weft::sim
