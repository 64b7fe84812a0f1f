#include "sim/prefetch/prefetch_unit.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace weft::sim {

PrefetchUnit::PrefetchUnit(const StoreShape& shape, const TableImage* table,
                           std::unique_ptr<Pacu> pacu, std::unique_ptr<Pscu> pscu,
                           std::shared_ptr<UnitCounts> counts)
    : index_(shape),
      log_(shape),
      table_(table),
      pacu_(std::move(pacu)),
      pscu_(std::move(pscu)),
      counts_(std::move(counts)),
      audit_(counts_.get()) {}

void PrefetchUnit::OnLineRead(uint64_t line, int core, Time now) {
  const uint64_t addr = line * kLineBytes;
  if (!index_.Contains(addr)) {
    if (index_.IsOverflow(addr)) ++counts_->overflow_reads;
    return;
  }
  ++counts_->triggers;
  pacu_->OnBucket(BucketRead::Of(*table_, index_.BucketOf(addr), core, now), &new_choices_);
  Take();
}

void PrefetchUnit::OnMark(const Record& record, int core, Time now) {
  if (record.kind == RecordKind::kKey) {
    if (!index_.Contains(record.addr)) return;
    ++counts_->keys;
    pacu_->OnKey(record, index_.BucketOf(record.addr), core, now, &new_choices_);
    Take();
  } else if (record.kind == RecordKind::kHit) {
    audit_.OnHit(record.aux, record.slot, core);
    pacu_->OnHit(record);
    if (record.slot == kNoSlot) return;
    const TableSlot& object = table_->At(record.aux, record.slot);
    if (object.has_object()) pscu_->OnHit(object);
  }
}

void PrefetchUnit::Take() {
  for (const Choice& choice : new_choices_) {
    audit_.OnChoice(choice);
    if (choice.is_displaced) {
      ++counts_->triggers_displaced;
      continue;
    }
    WEFT_CHECK(choices_.empty() || choices_.back().ready <= choice.ready);
    choices_.push_back(choice);
  }
  new_choices_.clear();
}

void PrefetchUnit::OnAskedLine(uint64_t id, bool was_dropped, Time now) {
  const auto found = rest_of_.find(id);
  if (found == rest_of_.end()) return;
  const LineSpan rest = found->second;
  rest_of_.erase(found);
  if (was_dropped) {
    ++counts_->first_lines_lost;
    counts_->lines_missing += static_cast<int64_t>(rest.count);
  } else if (rest.count > 0) {
    rests_.push_back({rest, now + *pscu_->size_latency()});
  }
}

Time PrefetchUnit::NextEvent() const {
  return std::min(choices_.empty() ? kNever : choices_.front().ready,
                  rests_.empty() ? kNever : rests_.front().ready);
}

void PrefetchUnit::AdvanceTo(Time now, std::vector<AskedLine>* asked) {
  for (Time next = NextEvent(); next <= now; next = NextEvent()) {
    if (!choices_.empty() && choices_.front().ready == next) {
      AskFor(choices_.front(), asked);
      choices_.pop_front();
    } else {
      AskFor(rests_.front().lines, next, asked);
      rests_.pop_front();
    }
  }
}

void PrefetchUnit::AskFor(const Choice& choice, std::vector<AskedLine>* asked) {
  const size_t before = asked->size();
  for (int i = 0; i < choice.count; ++i) {
    AskFor(choice.objects[static_cast<size_t>(i)], choice.ready, asked);
  }
  ++(asked->size() > before ? counts_->triggers_asked : counts_->triggers_nothing);
}

void PrefetchUnit::AskFor(const TableSlot& object, Time ready, std::vector<AskedLine>* asked) {
  if (!log_.Contains(object.addr)) {
    ++counts_->objects_outside_log;
    return;
  }
  ++counts_->objects;
  const LineSpan all = log_.Lines(object.addr, LineCount(object.addr, object.bytes));
  const LineSpan now = log_.Lines(object.addr, pscu_->LinesAtOnce(object));
  const LineSpan rest = {all.first + now.count, all.count > now.count ? all.count - now.count : 0};
  if (now.count > all.count) counts_->lines_excess += static_cast<int64_t>(now.count - all.count);
  if (pscu_->size_latency()) {
    rest_of_.emplace(next_id_, rest);
  } else {
    counts_->lines_missing += static_cast<int64_t>(rest.count);
  }
  AskFor(now, ready, asked);
}

void PrefetchUnit::AskFor(const LineSpan& lines, Time ready, std::vector<AskedLine>* asked) {
  counts_->lines_asked += static_cast<int64_t>(lines.count);
  for (uint64_t i = 0; i < lines.count; ++i) {
    asked->push_back({.line = lines.first + i, .ready = ready, .id = next_id_++});
  }
}

}  // namespace weft::sim
