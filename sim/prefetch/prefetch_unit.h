// sim/prefetch/prefetch_unit.h: a controller's prefetching unit: start here.
//
//     a line read from memory --> IndexRange --> Pacu --> choices, by time --> Pscu --> AskedLine
//     kKey, kHit -------------------------------^                                ^
//     the first line of an object came, the size is read from it ----------------+
//
// Only a core's reads of buckets trigger. It asks for each chosen object's lines in order, one
// object after the other; lines outside of the log are left out.
//
// An overflow bucket has no number by which a table could know it, so it is outside of the range.
//
// Threads   one owner.
// Source    paper 004, section 3; the simulator's specification, sections 1.3 and 3.7.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/prefetch/pacu.h"
#include "sim/prefetch/prefetcher.h"
#include "sim/prefetch/pscu.h"
#include "sim/prefetch/range_registers.h"
#include "sim/prefetch/trigger_audit.h"

namespace weft::sim {

class PrefetchUnit final : public Prefetcher {
 public:
  // The table must outlive it, and follow the store.
  PrefetchUnit(const StoreShape& shape, const TableImage* table, std::unique_ptr<Pacu> pacu,
               std::unique_ptr<Pscu> pscu, std::shared_ptr<UnitCounts> counts);

  void OnLineRead(uint64_t line, int core, Time now) override;
  void OnMark(const Record& record, int core, Time now) override;
  void OnAskedLine(uint64_t id, bool was_dropped, Time now) override;
  void OnWarmupEnd() override { *counts_ = {}; }
  Time NextEvent() const override;
  void AdvanceTo(Time now, std::vector<AskedLine>* asked) override;

 private:
  // Lines to ask for once the size is known.
  struct Rest {
    LineSpan lines;
    Time ready = 0;
  };

  void Take();
  void AskFor(const Choice& choice, std::vector<AskedLine>* asked);
  void AskFor(const TableSlot& object, Time ready, std::vector<AskedLine>* asked);
  void AskFor(const LineSpan& lines, Time ready, std::vector<AskedLine>* asked);

  // Constant after construction.
  const IndexRange index_;
  const LogRange log_;
  const TableImage* const table_;
  const std::unique_ptr<Pacu> pacu_;
  const std::unique_ptr<Pscu> pscu_;
  const std::shared_ptr<UnitCounts> counts_;

  TriggerAudit audit_;
  std::vector<Choice> new_choices_;
  // Each by time.
  std::deque<Choice> choices_;
  std::deque<Rest> rests_;
  std::unordered_map<uint64_t, LineSpan> rest_of_;  // by the id of the object's first line
  uint64_t next_id_ = 0;
};

}  // namespace weft::sim
