#include "sim/machine/memory_port.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weft::sim {
namespace {

constexpr uint64_t kNoLine = UINT64_MAX;

}  // namespace

MemoryPort::MemoryPort(int channel, const Preset& preset, const AddressMap& map,
                       const ControllerOptions& controller, const PortOptions& options,
                       PortClient* client)
    : channel_(channel),
      tck_(std::llround(preset.timing.tck_ns * kPicosecondsPerNanosecond)),
      map_(map),
      options_(options),
      client_(client),
      controller_(preset, controller) {
  FindNext();
}

size_t MemoryPort::Add(Kind kind, uint64_t line, Time now) {
  if (free_.empty()) {
    free_.push_back(requests_.size());
    requests_.emplace_back();
    lines_.push_back(kNoLine);
  }
  const size_t index = free_.back();
  free_.pop_back();
  Request& request = requests_[index];
  request.kind = kind;
  request.is_accepted = false;
  request.came = ClockAfter(now);
  request.demand = {.line = line};
  request.askers.clear();
  lines_[index] = kind == Kind::kWrite ? kNoLine : line;
  waiting_.push_back(index);
  ++came_;
  ++under_way_;
  staged_ += kind == Kind::kPrefetch;
  reads_waiting_ += kind == Kind::kRead;
  prefetches_ += kind == Kind::kPrefetch;
  return index;
}

void MemoryPort::Remove(size_t index) {
  prefetches_ -= requests_[index].kind == Kind::kPrefetch;
  requests_[index].kind = Kind::kFree;
  lines_[index] = kNoLine;
  free_.push_back(index);
  --under_way_;
}

size_t MemoryPort::Find(uint64_t line, bool prefetches_only) const {
  for (size_t index = 0; index < lines_.size(); ++index) {
    if (lines_[index] != line) continue;
    if (!prefetches_only || requests_[index].kind == Kind::kPrefetch) return index;
  }
  return kNoRequest;
}

bool MemoryPort::TakeFromBuffer(uint64_t line) {
  const auto at = std::find(buffer_.begin(), buffer_.end(), line);
  if (at == buffer_.end()) return false;
  buffer_.erase(at);
  return true;
}

void MemoryPort::PutIntoBuffer(uint64_t line) {
  if (TakeFromBuffer(line)) {
    client_->OnOutcome(PrefetchOutcome::kUseless);  // the older of two
  } else if (buffer_.size() == static_cast<size_t>(options_.buffer_lines)) {
    buffer_.pop_front();
    client_->OnOutcome(PrefetchOutcome::kUseless);
  }
  buffer_.push_back(line);
}

void MemoryPort::DropBuffered() {
  for (; !buffer_.empty(); buffer_.pop_front()) client_->OnOutcome(PrefetchOutcome::kUseless);
}

void MemoryPort::Promote(size_t index, const L2Request& request, Time now) {
  Request& met = requests_[index];
  met.kind = Kind::kRead;
  met.demand = request;
  --prefetches_;
  if (met.is_accepted) {
    ++demand_reads_;
  } else {
    --staged_;
    ++reads_waiting_;
    if (controller_.CanAccept(false)) next_ = std::min(next_, ClockAfter(now) * tck_);
  }
  client_->OnOutcome(PrefetchOutcome::kLate);
}

void MemoryPort::Read(const L2Request& request, Time now) {
  if (!buffer_.empty() && TakeFromBuffer(request.line)) {
    client_->OnOutcome(PrefetchOutcome::kTimely);
    client_->OnReadDone(channel_, request, now);
    return;
  }
  if (prefetches_ > 0) {
    const size_t met = Find(request.line, true);
    if (met != kNoRequest) {
      Promote(met, request, now);
      return;
    }
  }
  requests_[Add(Kind::kRead, request.line, now)].demand = request;
  if (controller_.CanAccept(false)) next_ = std::min(next_, ClockAfter(now) * tck_);
}

void MemoryPort::Write(uint64_t line, Time now) {
  if (!buffer_.empty() && TakeFromBuffer(line)) client_->OnOutcome(PrefetchOutcome::kUseless);
  Add(Kind::kWrite, line, now);
  if (controller_.CanAccept(true)) next_ = std::min(next_, ClockAfter(now) * tck_);
}

void MemoryPort::Prefetch(uint64_t line, const Asker& asker, Time now) {
  const bool is_buffered = std::find(buffer_.begin(), buffer_.end(), line) != buffer_.end();
  const size_t met = is_buffered ? kNoRequest : Find(line, false);
  if (is_buffered || met != kNoRequest) {
    client_->OnOutcome(PrefetchOutcome::kRedundant);
    if (is_buffered) {
      client_->OnAsked(asker, false, now);
    } else {
      requests_[met].askers.push_back(asker);
    }
    return;
  }
  if (staged_ == options_.staging_max) {
    client_->OnOutcome(PrefetchOutcome::kDropped);
    client_->OnAsked(asker, true, now);
    return;
  }
  requests_[Add(Kind::kPrefetch, line, now)].askers.push_back(asker);
  next_ = std::min(next_, ClockAfter(now) * tck_);
}

void MemoryPort::DropOld(Clock clock, Time now) {
  if (options_.drop_age == 0 || staged_ == 0) return;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    Request& request = requests_[*at];
    if (request.kind != Kind::kPrefetch || clock - request.came <= options_.drop_age) {
      ++at;
      continue;
    }
    const size_t index = *at;
    at = waiting_.erase(at);
    --staged_;
    ++dropped_;
    client_->OnOutcome(PrefetchOutcome::kDropped);
    for (const Asker& asker : request.askers) client_->OnAsked(asker, true, now);
    Remove(index);
  }
}

bool MemoryPort::MayAccept(const Request& request) const {
  if (!controller_.CanAccept(request.kind == Kind::kWrite)) return false;
  return request.kind != Kind::kPrefetch || !options_.demand_first ||
         (reads_waiting_ == 0 && demand_reads_ == 0);
}

void MemoryPort::AcceptWaiting() {
  const Clock clock = controller_.now();
  passed_writes_.clear();
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (!controller_.CanAccept(false) && !controller_.CanAccept(true)) return;
    Request& request = requests_[*at];
    const bool is_write = request.kind == Kind::kWrite;
    const uint64_t line = request.demand.line;
    // A read doesn't overtake a write of its line.
    const bool is_behind =
        std::find(passed_writes_.begin(), passed_writes_.end(), line) != passed_writes_.end();
    if (is_behind || !MayAccept(request)) {
      if (is_write) passed_writes_.push_back(line);
      ++at;
      continue;
    }
    CountQueued(clock);
    controller_.Accept(*at, map_.PlaceOf(line), is_write);
    ++accepted_;
    request.is_accepted = true;
    figures_.wait.Add(clock - request.came);
    demand_reads_ += request.kind == Kind::kRead;
    staged_ -= request.kind == Kind::kPrefetch;
    reads_waiting_ -= request.kind == Kind::kRead;
    at = waiting_.erase(at);
  }
}

void MemoryPort::CountQueued(Clock clock) {
  figures_.queued_clocks += controller_.pending() * (clock - counted_until_);
  counted_until_ = clock;
}

void MemoryPort::Tick() {
  const Time now = next_;
  const Clock clock = now / tck_;
  controller_.AdvanceTo(clock);
  DropOld(clock, now);
  AcceptWaiting();
  CountQueued(clock);
  controller_.Tick();
  for (const Completion& completion : controller_.completions()) Finish(completion, now);
  controller_.completions().clear();
  FindNext();
}

void MemoryPort::Finish(const Completion& completion, Time now) {
  // A copy: the client may bring new requests.
  const Request request = requests_[completion.id];
  WEFT_CHECK(request.kind != Kind::kFree && request.is_accepted);
  ++done_;
  Remove(completion.id);
  if (request.kind == Kind::kWrite) return;
  const Clock latency = completion.done - completion.accepted;
  for (const Asker& asker : request.askers) client_->OnAsked(asker, false, now);
  if (request.kind == Kind::kRead) {
    --demand_reads_;
    figures_.demand_latency.Add(latency);
    ++figures_.demand_latencies[static_cast<size_t>(
        std::min<Clock>(latency, PortFigures::kLatencyClocksMax))];
    client_->OnReadDone(channel_, request.demand, now);
    return;
  }
  figures_.prefetch_latency.Add(latency);
  if (options_.buffer_lines > 0) {
    PutIntoBuffer(request.demand.line);
  } else {
    client_->OnPrefetchDone(channel_, request.demand.line, now);
  }
}

void MemoryPort::FindNext() {
  Clock next = controller_.NextEvent();
  for (const size_t index : waiting_) {
    const Request& request = requests_[index];
    if (!controller_.CanAccept(false) && !controller_.CanAccept(true)) break;
    if (MayAccept(request)) {
      next = std::min(next, std::max(request.came, controller_.now()));
      break;
    }
  }
  if (options_.drop_age > 0 && staged_ > 0) {
    for (const size_t index : waiting_) {
      if (requests_[index].kind != Kind::kPrefetch) continue;
      next = std::min(next,
                      std::max(requests_[index].came + options_.drop_age + 1, controller_.now()));
      break;
    }
  }
  next_ = next == kNever ? kNever : next * tck_;
}

PortFigures MemoryPort::FiguresBefore(Clock clock) {
  clock = std::max(clock, controller_.now());
  controller_.AdvanceTo(clock);
  CountQueued(clock);
  figures_.clocks = controller_.now();
  figures_.controller = controller_.Counts();
  return figures_;
}

PortFigures MemoryPort::FiguresAt(Time now) { return FiguresBefore(ClockAfter(now)); }

void MemoryPort::WriteOut() {
  controller_.EndRequests();
  while (controller_.CountUnserved().writes > 0) {
    const Clock next = controller_.NextEvent();
    WEFT_CHECK(next != kNever);
    controller_.AdvanceTo(next + 1);
  }
}

void MemoryPort::CheckConservation() const {
  WEFT_CHECK(under_way_ == 0 && waiting_.empty() && buffer_.empty());
  WEFT_CHECK(came_ == accepted_ + dropped_ && accepted_ == done_);
  WEFT_CHECK(controller_.pending() == 0 && demand_reads_ == 0 && prefetches_ == 0);
  const Controller::Unserved unserved = controller_.CountUnserved();
  WEFT_CHECK(unserved.reads == 0 && unserved.writes == 0);
}

}  // namespace weft::sim
