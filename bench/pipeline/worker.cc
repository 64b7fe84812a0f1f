#include "bench/pipeline/worker.h"

#include <algorithm>
#include <span>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/copy_short.h"
#include "base/ticks.h"
#include "bench/harness/machine.h"
#include "pipeline/reply_of.h"

namespace weft::bench {
namespace {

// Requests that are received, then parsed: few enough for a cache, and so many that reading the
// clock, twice, is no part of what they take.
constexpr uint32_t kGroup = 256;

std::string_view OutcomeText(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMiss: return "miss";
    case Outcome::kHit: return "hit";
    case Outcome::kStored: return "stored";
    case Outcome::kNoMemory: return "no memory";
    default: return "another outcome";
  }
}

std::array<uint64_t, pipeline::kTaskCount> TaskNsOf(const pipeline::TaskTimes& times) {
  std::array<uint64_t, pipeline::kTaskCount> ns;
  for (uint32_t i = 0; i < pipeline::kTaskCount; ++i)
    ns[i] = times.time_ns(static_cast<pipeline::Task>(i));
  return ns;
}

}  // namespace

Result<std::unique_ptr<Worker>> Worker::Create(DataSet* data, std::span<const RequestRing> rings,
                                               const pipeline::Plan& plan,
                                               const WorkerOptions& options) {
  auto carrier = Carrier::Create(&data->store(), plan, options.carrier);
  if (!carrier) return carrier.error();
  // The constructor is private so that no worker exists without a carrier; owned at once.
  return std::unique_ptr<Worker>(new Worker(data, rings, plan, std::move(*carrier), options));
}

Worker::Worker(DataSet* data, std::span<const RequestRing> rings, const pipeline::Plan& plan,
               std::unique_ptr<Carrier> carrier, const WorkerOptions& options)
    : data_(data),
      options_(options),
      carrier_(std::move(carrier)),
      flights_(carrier_->flights()),
      random_(options.seed + options.writer) {
  WEFT_CHECK(!rings.empty() && (rings.size() == 1 || options.ring_turn_ns > 0));
  size_t value_bytes = 0;
  for (const RequestRing& ring : rings) {
    sources_.push_back({&ring});
    value_bytes = std::max<size_t>(value_bytes, ring.value_bytes());
  }
  const size_t queries = carrier_->queries_max();
  for (Flight& flight : flights_) {
    // Address space only: memory comes with the first use, which small batches do not make of it.
    flight.values = std::make_unique_for_overwrite<char[]>(queries * value_bytes);
    flight.responses =
        std::make_unique_for_overwrite<char[]>(queries * (sizeof(ResponseHead) + value_bytes));
  }
  planner::Estimate first;
  first.batch_queries = IntervalController::kStep;
  Take({plan, options.carrier.steal}, 0, first);
  if (options.planner != nullptr)
    options.planner->Watch(options.writer - 1, &carrier_->times(), carrier_->counters());
}

Worker::~Worker() {
  if (options_.planner != nullptr) options_.planner->Watch(options_.writer - 1, nullptr, nullptr);
}

// Batches begin by this plan from now on, the first ones as large as is estimated, if it is new for
// the workload.
void Worker::Take(const planner::Candidate& candidate, uint64_t workload,
                  const planner::Estimate& estimate) {
  const auto known = std::find_if(ways_.begin(), ways_.end(), [&](const Way& way) {
    return way.candidate == candidate && way.workload == workload;
  });
  way_ = static_cast<size_t>(known - ways_.begin());
  if (known != ways_.end()) {
    known->estimate = estimate;
    return;
  }
  const size_t stages = candidate.plan.stages().size();
  const uint32_t queries_max = stages == 1
                                   ? std::min(carrier_->queries_max(), pipeline::Batch::kQueriesMax)
                                   : carrier_->queries_max();
  const auto queries = static_cast<uint32_t>(estimate.batch_queries);
  ways_.push_back({candidate, workload, estimate, {options_.interval_us, queries_max, queries}});
}

void Worker::FollowPlanner() {
  const planner::Decision& decision = options_.planner->Current(options_.writer - 1);
  if (decision.number == decision_) return;
  decision_ = decision.number;
  Take(decision.candidate, decision.workload, decision.estimate);
  const Status status = carrier_->SetPlan(decision.candidate.plan, decision.candidate.steal);
  WEFT_CHECK(status.ok());  // every plan of the planner's goes together with its devices
}

void Worker::Run(uint64_t begin_ns, uint64_t until_ns) {
  begin_ns_ = begin_ns;
  figures_ = {};
  figures_.workers = 1;
  unchecked_ = 0;
  for (Way& way : ways_) way.queries = 0;
  const auto task_ns = TaskNsOf(carrier_->times());
  CountDevices(-1);
  for (Source& source : sources_) source = {source.ring, 0, data_->BeginPass(options_.writer)};
  const uint64_t start_ns = base::NowNs();
  const double cpu_start_s = ThreadCpuSeconds();
  bool is_first = true;  // a batch at least, should others have had the core all the time
  for (uint32_t under_way = 0;;) {
    const bool begins = status_.ok() && (is_first || base::NowNs() < until_ns);
    if (!begins && under_way == 0) break;
    if (begins && options_.planner != nullptr) FollowPlanner();
    const uint32_t free = begins ? carrier_->Free() : Carrier::kNone;
    if (free != Carrier::kNone) {
      const uint64_t fill_start = base::ReadTicks();
      Fill(free);
      figures_.busy_ticks += base::ReadTicks() - fill_start;
      ++under_way;
      is_first = false;
    }
    const uint64_t ready_start = base::ReadTicks();
    const uint32_t ready = carrier_->Ready();
    if (ready != Carrier::kNone) {
      figures_.busy_ticks += base::ReadTicks() - ready_start;
      Finish(ready);
      --under_way;
    }
    if (free != Carrier::kNone || ready != Carrier::kNone) continue;
    const uint64_t help_start = base::ReadTicks();
    if (carrier_->Help()) {
      figures_.busy_ticks += base::ReadTicks() - help_start;
    } else {
      std::this_thread::yield();
    }
  }
  figures_.wall_ns = base::NowNs() - start_ns;
  figures_.cpu_s = ThreadCpuSeconds() - cpu_start_s;
  figures_.rate =
      static_cast<double>(figures_.queries()) * 1e9 / static_cast<double>(figures_.wall_ns);
  figures_.batch_queries = ways_[way_].interval.size();
  figures_.task_ns = TaskNsOf(carrier_->times());
  for (uint32_t i = 0; i < pipeline::kTaskCount; ++i) figures_.task_ns[i] -= task_ns[i];
  CountDevices(1);
  if (options_.planner == nullptr) return;
  for (const Way& way : ways_)
    if (way.queries != 0) figures_.AddUse({way.candidate, way.queries, way.estimate});
}

// What was counted between a call with -1 and one with 1.
void Worker::CountDevices(int64_t sign) {
  const pipeline::RunnerCounters* counters = carrier_->counters();
  if (counters == nullptr) return;
  const auto factor = static_cast<uint64_t>(sign);
  figures_.device_queries += factor * counters->device_queries.value();
  figures_.stolen_queries += factor * counters->stolen_queries.value();
  figures_.reruns += factor * counters->reruns.value();
  figures_.behind_queries += factor * counters->behind_queries.value();
}

// Whose turn it is.
Worker::Source& Worker::SourceOfNow() {
  if (sources_.size() == 1) return sources_[0];
  const uint64_t now_ns = std::max(base::NowNs(), begin_ns_);
  return sources_[(now_ns - begin_ns_) / options_.ring_turn_ns % sources_.size()];
}

// The CPU's part of the first stage.
void Worker::Fill(uint32_t number) {
  Flight& flight = flights_[number];
  pipeline::Batch& batch = carrier_->batch(number);
  Source& from = SourceOfNow();
  const RequestRing& ring = *from.ring;
  flight.start = base::ReadTicks();
  flight.ring = &ring;
  flight.first = from.next;
  flight.way = way_;
  flight.queries = ways_[way_].interval.size();
  batch.Clear();
  const uint32_t source = batch.AddSource(INT64_MAX / 2);
  uint64_t last = flight.start;
  while (batch.size() < flight.queries) {
    const auto count = static_cast<uint32_t>(
        std::min<size_t>({kGroup, flight.queries - batch.size(), ring.size() - from.next}));
    Receive(from, flight, batch.size(), count);
    const uint64_t received = base::ReadTicks();
    carrier_->times().Add(pipeline::Task::kReceive, received - last, count);
    Parse(from, flight, count, source, batch);
    last = base::ReadTicks();
    carrier_->times().Add(pipeline::Task::kParse, last - received, count);
    from.next += count;
    if (from.next < ring.size()) continue;
    from.next = 0;
    from.pass = data_->BeginPass(options_.writer);
  }
  carrier_->Begin(number);
  flight.first_stage = base::ReadTicks() - flight.start;
  // Further stages on the CPU have been run as well.
  const std::span<const uint64_t> stages = carrier_->stage_ticks(number);
  for (size_t i = 1; i < stages.size(); ++i) flight.first_stage -= stages[i];
}

// Task RV: the source's next `count` requests, queries from `begin` on of the batch.
void Worker::Receive(const Source& from, Flight& flight, uint32_t begin, uint32_t count) {
  const Version version{options_.writer, from.pass};
  const uint32_t value_bytes = from.ring->value_bytes();
  for (uint32_t i = 0; i < count; ++i) {
    const RequestView request = from.ring->At(from.next + i);
    if (request.head.opcode != Opcode::kSet) continue;
    WriteVersionedValue(request.key.data(), version,
                        flight.values.get() + size_t{begin + i} * value_bytes,
                        request.head.value_bytes);
  }
}

// Task PP, of the GETs among requests [begin, end) up to the first that is none, or whose key is
// not of so many bytes. Returns where it stopped. Compiled for the length, and with what it calls,
// hash and copy are few instructions.
template <uint32_t kKeyBytes>
[[gnu::flatten]] size_t Worker::ParseGets(const RequestRing& ring, size_t begin, size_t end,
                                          uint32_t source, pipeline::Batch* batch) {
  const cache::Store& store = data_->store();
  pipeline::Batch::ReadAdder adder(batch, source);
  for (size_t at = begin; at < end; ++at) {
    const RequestView request = ring.At(at);
    if (request.head.opcode != Opcode::kGet || request.head.key_bytes != kKeyBytes) return at;
    ring.Prefetch(at + kGroup);
    const std::string_view key(request.key.data(), kKeyBytes);
    adder.Add(0, key, store.HashOf(key));
  }
  return end;
}

// Task PP, of the same requests.
void Worker::Parse(const Source& from, Flight& flight, uint32_t count, uint32_t source,
                   pipeline::Batch& batch) {
  const RequestRing& ring = *from.ring;
  const size_t end = from.next + count;
  for (size_t at = from.next; at < end; ++at) {
    switch (ring.At(at).head.key_bytes) {
      case 8: at = ParseGets<8>(ring, at, end, source, &batch); break;
      case 16: at = ParseGets<16>(ring, at, end, source, &batch); break;
      case 32: at = ParseGets<32>(ring, at, end, source, &batch); break;
      default: at = ParseGets<128>(ring, at, end, source, &batch); break;
    }
    if (at == end) return;
    const RequestView request = ring.At(at);
    WEFT_CHECK(request.head.opcode == Opcode::kSet);
    const char* const value = flight.values.get() + size_t{batch.size()} * ring.value_bytes();
    cache::Command& command =
        batch.AddCommand(source, 0, request.key, data_->store().HashOf(request.key));
    command.verb = cache::Verb::kStore;
    command.value = {value, request.head.value_bytes};
  }
}

// The last stage, and what the client does with the replies.
void Worker::Finish(uint32_t number) {
  Flight& flight = flights_[number];
  flight.response_bytes = 0;
  flight.written = {};
  at_last_stage_ = &flight;
  value_bytes_ = flight.ring->value_bytes();
  const uint64_t start = base::ReadTicks();
  carrier_->Finish(number, *this);
  if (options_.planner != nullptr)
    options_.planner->Note(options_.writer - 1, carrier_->batch(number));
  const uint64_t end = base::ReadTicks();
  AddStages(number, end - start);
  figures_.busy_ticks += end - start;
  const uint64_t latency_ns = base::NsOfTicks(end - flight.start);
  figures_.latency_ns.Record(latency_ns, flight.queries);
  figures_.batches++;
  ways_[flight.way].queries += flight.queries;
  ways_[flight.way].interval.Note(flight.queries, static_cast<double>(latency_ns) * 1e-3);
  CountReplies(flight);
  if (options_.slot_ns != 0) CountSlot(flight);
  if (unchecked_-- == 0) {
    Check(flight);
    unchecked_ = options_.verify == Verify::kAll ? 0 : random_.Below(2 * kSampled - 1);
  }
  figures_.verify_ticks += base::ReadTicks() - end;
}

void Worker::AddStages(uint32_t number, uint64_t last_stage) {
  const Flight& flight = flights_[number];
  const std::span<const uint64_t> before = carrier_->stage_ticks(number);
  const size_t stages = before.size() + 1;
  if (figures_.stage_ticks.size() < stages) figures_.stage_ticks.resize(stages);
  figures_.stage_ticks[0] += flight.first_stage;
  figures_.stage_ticks[stages - 1] += last_stage;
  for (size_t i = 1; i + 1 < stages; ++i) figures_.stage_ticks[i] += before[i];
}

char* Worker::WriteResponse(Outcome outcome, std::string_view value, char* out) const {
  const uint64_t head = HeadWord(outcome, static_cast<uint32_t>(value.size()));
  std::memcpy(out, &head, sizeof head);
  out += sizeof head;
  // A value that is too long is wrong; it is not to overrun the others.
  const size_t bytes = std::min<size_t>(value.size(), value_bytes_);
  base::CopyShort(out, value.data(), bytes);
  return out + bytes;
}

char* Worker::WriteCounted(Outcome outcome, std::string_view value, char* out, Tally* tally) const {
  tally->hits += outcome == Outcome::kHit;
  tally->misses += outcome == Outcome::kMiss;
  tally->stored += outcome == Outcome::kStored;
  tally->refused += outcome == Outcome::kNoMemory;
  return WriteResponse(outcome, value, out);
}

// Tasks RD and WR.
[[gnu::flatten]] void Worker::Write(pipeline::Batch& batch, uint32_t begin, uint32_t end,
                                    cache::Session& session) {
  Flight& flight = *at_last_stage_;
  char* out = flight.responses.get() + flight.response_bytes;
  for (uint32_t i = begin; i < end;) {
    if (batch.state(i) != pipeline::QueryState::kDone) {
      // Never: nothing limits a source here.
      out = WriteCounted(Outcome::kIoError, {}, out, &flight.written);
      ++i;
    } else if (batch.kind(i) == pipeline::QueryKind::kCommand) {
      const cache::Reply& reply = batch.reply(i);
      out = WriteCounted(reply.outcome, reply.value, out, &flight.written);
      ++i;
    } else if (batch.result(i) == kResultRead) {
      const uint32_t gathered_end = batch.DoneEnd(i, batch.GatheredEnd(i, end));
      out = WriteGathered(batch, i, gathered_end, out);
      flight.written.hits += gathered_end - i;
      i = gathered_end;
    } else {
      const pipeline::Found found = pipeline::FoundByRead(batch, i, session);
      flight.written.hits += found.is_hit;
      flight.written.misses += !found.is_hit;
      out = WriteResponse(found.is_hit ? Outcome::kHit : Outcome::kMiss, found.value, out);
      ++i;
    }
  }
  flight.response_bytes = static_cast<size_t>(out - flight.responses.get());
}

// The same of hits whose values were gathered.
char* Worker::WriteGathered(const pipeline::Batch& batch, uint32_t begin, uint32_t end,
                            char* out) const {
  const pipeline::Batch::GatheredValues values = batch.gathered();
  const uint32_t value_bytes = value_bytes_;
  const uint64_t head = HeadWord(Outcome::kHit, value_bytes);
  for (uint32_t i = begin; i < end; ++i) {
    const std::string_view value = values[i].value;
    if (WEFT_UNLIKELY(value.size() != value_bytes)) {
      out = WriteResponse(Outcome::kHit, value, out);
      continue;
    }
    std::memcpy(out, &head, sizeof head);
    base::CopyShort(out + sizeof head, value.data(), value_bytes);
    out += sizeof head + value_bytes;
  }
  return out;
}

void Worker::RunOther(pipeline::Batch&, uint32_t, cache::Session&) {
  WEFT_CHECK(false);  // every request is about a key
}

void Worker::CountReplies(const Flight& flight) {
  const Tally& written = flight.written;
  figures_.gets += written.hits + written.misses;
  figures_.hits += written.hits;
  figures_.sets += written.stored + written.refused;
  figures_.refused += written.refused;
  if (written.replies() == flight.queries) return;
  status_ = {Code::kCorruption, fmt::format("{} queries had {} outcomes that requests can have",
                                            flight.queries, written.replies())};
}

void Worker::CountSlot(const Flight& flight) {
  const uint64_t now_ns = std::max(base::NowNs(), begin_ns_);
  const size_t slot = (now_ns - begin_ns_) / options_.slot_ns;
  for (std::vector<uint64_t>* slots : {&figures_.slot_queries, &figures_.slot_in_stages})
    if (slots->size() <= slot) slots->resize(slot + 1);
  figures_.slot_queries[slot] += flight.queries;
  const bool in_stages = ways_[flight.way].candidate.plan.stages().size() > 1;
  figures_.slot_in_stages[slot] += in_stages ? flight.queries : 0;
}

void Worker::Check(const Flight& flight) {
  const RequestRing& ring = *flight.ring;
  const char* at = flight.responses.get();
  const char* const end = at + flight.response_bytes;
  size_t place = flight.first;
  Tally tally;
  for (uint32_t i = 0; i < flight.queries; ++i) {
    const auto ahead =
        static_cast<uint32_t>(std::min<size_t>(flight.queries - i, ring.size() - place));
    const uint32_t hits = CountHits(ring, place, ahead, at, end);
    tally.hits += hits;
    at += hits * (sizeof(ResponseHead) + ring.value_bytes());
    i += hits;
    place = place + hits == ring.size() ? 0 : place + hits;
    if (i == flight.queries) break;
    const RequestView request = ring.At(place);
    if (++place == ring.size()) place = 0;
    if (end - at < static_cast<ptrdiff_t>(sizeof(ResponseHead))) {
      status_ = {Code::kCorruption,
                 fmt::format("{} of {} queries were answered", i, flight.queries)};
      return;
    }
    ResponseHead head;
    std::memcpy(&head, at, sizeof head);
    at += sizeof head;
    if (!CheckOne(ring, request, head, at, &tally)) {
      status_ = {
          Code::kCorruption,
          fmt::format("{} of key number {}: {}, a value of {} bytes{}",
                      request.head.opcode == Opcode::kGet ? "GET" : "SET",
                      NumberOfKey(request.key.data()), OutcomeText(head.outcome), head.value_bytes,
                      head.outcome == Outcome::kHit ? " that was never stored" : "")};
      return;
    }
    // What is no hit has no value. A branch: where the next one begins is guessed, not waited for.
    if (WEFT_UNLIKELY(head.outcome != Outcome::kHit)) continue;
    at += ring.value_bytes();
  }
  figures_.verified_whole += flight.queries;
  if (at != end)
    status_ = {Code::kCorruption, "a batch had more replies than queries"};
  else if (tally != flight.written)
    status_ = {Code::kCorruption, "a batch has different replies from those counted"};
}

// How many replies in a row, from `at` on, are right and hits, of GETs: as CheckOne finds it, with
// less to do for each. They are the replies to `count` requests from `place` on.
uint32_t Worker::CountHits(const RequestRing& ring, size_t place, uint32_t count, const char* at,
                           const char* end) const {
  const DataSet& data = *data_;
  const uint32_t value_bytes = ring.value_bytes();
  const size_t reply_bytes = sizeof(ResponseHead) + value_bytes;
  const uint64_t hit = HeadWord(Outcome::kHit, value_bytes);
  const auto whole = static_cast<size_t>(end - at) / reply_bytes;
  count = static_cast<uint32_t>(std::min<size_t>(count, whole));
  for (uint32_t i = 0; i < count; ++i, at += reply_bytes) {
    const RequestView request = ring.At(place + i);
    uint64_t head;
    std::memcpy(&head, at, sizeof head);
    Version version;
    if (head != hit || request.head.opcode != Opcode::kGet ||
        !ReadVersion(request.key.data(), at + sizeof head, value_bytes, &version) ||
        !data.WasStored(version))
      return i;
  }
  return count;
}

bool Worker::CheckOne(const RequestRing& ring, const RequestView& request, const ResponseHead& head,
                      const char* value, Tally* tally) {
  if (request.head.opcode == Opcode::kSet) {
    tally->stored += head.outcome == Outcome::kStored;
    tally->refused += head.outcome == Outcome::kNoMemory;
    return (head.outcome == Outcome::kStored || head.outcome == Outcome::kNoMemory) &&
           head.value_bytes == 0;
  }
  if (head.outcome == Outcome::kMiss) {
    tally->misses++;
    return head.value_bytes == 0;
  }
  if (head.outcome != Outcome::kHit || head.value_bytes != ring.value_bytes()) return false;
  tally->hits++;
  Version version;
  return ReadVersion(request.key.data(), value, ring.value_bytes(), &version) &&
         data_->WasStored(version);
}

}  // namespace weft::bench
