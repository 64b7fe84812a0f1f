// The machine's packets: who sends what where, and what its arrival does.

#include "base/check.h"
#include "sim/machine/machine.h"

namespace weft::sim {

void Machine::AskL2(const L2Request& request, Time when) {
  Event event{.request = request, .kind = EventKind::kLookUp};
  event.at = static_cast<uint8_t>(l2_->BankOf(request.line));
  event.time =
      mesh_.Arrival(Packet::kControl, NodeOfCore(request.core), NodeOfBank(request.line), when) +
      l2_->latency();
  events_.Send(event);
}

void Machine::OnMark(int core, const Record& record, Time now) {
  if (record.kind == RecordKind::kSlot || record.kind == RecordKind::kChain) {
    table_->Apply(record);
    return;
  }
  if (units_.empty()) return;
  if (free_marks_.empty()) {
    free_marks_.push_back(static_cast<uint32_t>(marks_.size()));
    marks_.emplace_back();
  }
  const uint32_t index = free_marks_.back();
  free_marks_.pop_back();
  marks_[index] = record;
  const uint64_t line =
      record.kind == RecordKind::kKey ? record.addr / kLineBytes : table_line_ + record.aux;
  const int channel = ChannelOf(line);
  Event event{.index = index, .kind = EventKind::kMark};
  event.request.core = core;
  event.at = static_cast<uint8_t>(channel);
  event.time = mesh_.Arrival(Packet::kControl, NodeOfCore(core), NodeOfChannel(channel), now);
  events_.Send(event);
}

void Machine::ToCore(const L2Request& request, bool has_data, bool from_memory, Time when) {
  Event event{.request = request, .kind = EventKind::kToCore};
  event.at = static_cast<uint8_t>(request.core);
  event.from_memory = from_memory;
  event.time = mesh_.Arrival(has_data ? Packet::kData : Packet::kControl, NodeOfBank(request.line),
                             NodeOfCore(request.core), when);
  events_.Send(event);
}

void Machine::ReadLine(const L2Request& request, Time now) {
  const int channel = ChannelOf(request.line);
  Event event{.request = request, .kind = EventKind::kRead};
  event.at = static_cast<uint8_t>(channel);
  event.time =
      mesh_.Arrival(Packet::kControl, NodeOfBank(request.line), NodeOfChannel(channel), now);
  events_.Send(event);
}

void Machine::WriteLine(uint64_t line, Time now) {
  const int channel = ChannelOf(line);
  Event event{.request = {.line = line}, .kind = EventKind::kWrite};
  event.at = static_cast<uint8_t>(channel);
  event.time = mesh_.Arrival(Packet::kData, NodeOfBank(line), NodeOfChannel(channel), now);
  events_.Send(event);
}

void Machine::OnReadDone(int channel, const L2Request& request, Time now) {
  if (!units_.empty() && !is_settling_) {
    const auto unit = static_cast<size_t>(channel);
    units_[unit]->OnLineRead(request.line, request.core, now);
    unit_next_[unit] = units_[unit]->NextEvent();
  }
  Event event{.request = request, .kind = EventKind::kFill};
  event.at = static_cast<uint8_t>(l2_->BankOf(request.line));
  event.time = mesh_.Arrival(Packet::kData, NodeOfChannel(channel), NodeOfBank(request.line), now);
  events_.Send(event);
}

void Machine::OnPrefetchDone(int channel, uint64_t line, Time now) {
  Event event{.request = {.line = line}, .kind = EventKind::kPush};
  event.at = static_cast<uint8_t>(l2_->BankOf(line));
  event.time = mesh_.Arrival(Packet::kData, NodeOfChannel(channel), NodeOfBank(line), now);
  events_.Send(event);
}

void Machine::OnAsked(const Asker& asker, bool was_dropped, Time now) {
  if (is_settling_) return;
  const auto unit = static_cast<size_t>(asker.unit);
  units_[unit]->OnAskedLine(asker.id, was_dropped, now);
  unit_next_[unit] = units_[unit]->NextEvent();
}

void Machine::OnOutcome(PrefetchOutcome outcome) {
  ++prefetch_.outcomes[static_cast<size_t>(outcome)];
}

void Machine::OnPushed(uint64_t /*line*/, Pushed what) {
  switch (what) {
    case Pushed::kUsed: return OnOutcome(PrefetchOutcome::kTimely);
    case Pushed::kUnused: return OnOutcome(PrefetchOutcome::kUseless);
    case Pushed::kHadIt: return OnOutcome(PrefetchOutcome::kRedundant);
    case Pushed::kMetMiss: return OnOutcome(PrefetchOutcome::kDuplicate);
  }
}

void Machine::Deliver(const Event& event) {
  switch (event.kind) {
    case EventKind::kToCore: return DeliverToCore(event);
    case EventKind::kLookUp: return l2_->Request(event.request, event.time);
    case EventKind::kFill: return l2_->Fill(event.request.line, event.time);
    case EventKind::kPush: return l2_->Push(event.request.line, event.time);
    case EventKind::kRead: return ports_[event.at]->Read(event.request, event.time);
    case EventKind::kWrite: return ports_[event.at]->Write(event.request.line, event.time);
    case EventKind::kMark: {
      free_marks_.push_back(event.index);
      if (is_settling_) return;
      units_[event.at]->OnMark(marks_[event.index], event.request.core, event.time);
      unit_next_[event.at] = units_[event.at]->NextEvent();
      return;
    }
    case EventKind::kAsked: return DeliverAsked(event);
  }
}

void Machine::DeliverToCore(const Event& event) {
  const size_t number = event.at;
  const L1Cache::Filled& filled = l1s_[number]->Fill(event.request.line);
  if (filled.has_victim) {
    const uint64_t victim = filled.victim;
    l2_->LeftCore(event.at, victim, filled.is_victim_modified);
    if (filled.is_victim_modified && options_.mesh.is_busy) {
      // Its time is no one's to wait for, but it takes links.
      mesh_.Arrival(Packet::kData, NodeOfCore(event.at), NodeOfBank(victim), event.time);
    }
  }
  cores_[number]->Filled(filled, event.from_memory, event.time);
  core_next_[number] = cores_[number]->next();
}

void Machine::DeliverAsked(const Event& event) {
  free_askers_.push_back(event.index);
  const Asker asker = askers_[event.index];
  const uint64_t line = event.request.line;
  const bool is_redundant = options_.filter == PrefetchFilter::kOracle && l2_->Has(line);
  if (!is_redundant && options_.filter != PrefetchFilter::kAll) {
    ports_[event.at]->Prefetch(line, asker, event.time);
    return;
  }
  OnOutcome(is_redundant ? PrefetchOutcome::kRedundant : PrefetchOutcome::kDropped);
  OnAsked(asker, true, event.time);
}

}  // namespace weft::sim
