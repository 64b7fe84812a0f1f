#include "planner/synthetic_server.h"

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "base/copy_short.h"
#include "base/ticks.h"
#include "pipeline/reply_of.h"
#include "planner/unit_fit.h"
#include "task/batch_tasks.h"

namespace weft::planner {
namespace {

using pipeline::Task;
using Verb = SyntheticRequest::Verb;

constexpr uint32_t kGroup = 256;  // received, then parsed: few enough for a cache
constexpr uint32_t kReplyHeadBytes = 8;

// A worker's, which it makes over and over: no more than there are keys.
size_t RequestsOf(const SyntheticStore& at) {
  return std::min(std::max(at.requests / at.workers, at.requests_min), at.objects);
}

// Under way at once.
uint32_t BatchesOf(const Traffic& traffic) {
  return traffic.plan.stages().size() == 1 ? 1 : traffic.batches;
}
bool Stores(const Traffic& traffic) { return traffic.get_share + traffic.delete_share < 1; }

double Ns(uint64_t ticks) { return static_cast<double>(base::NsOfTicks(ticks)); }

}  // namespace

Result<std::unique_ptr<SyntheticServer>> SyntheticServer::Create(
    const SyntheticStore* at, std::span<processor::Guard* const> devices, const Traffic& traffic,
    uint32_t number, const base::Zipf* zipf) {
  // The constructor is private so that no server exists without a session; owned at once.
  std::unique_ptr<SyntheticServer> server(new SyntheticServer(at, traffic, number, zipf));
  server->session_ = at->store->NewSession();
  if (server->session_ == nullptr) return Status(Code::kNoMemory, "too many sessions");
  if (traffic.plan.stages().size() == 1) return server;
  pipeline::PlanRunner::Options options;
  options.batches = traffic.batches;
  options.queries_max = traffic.queries;
  options.gather_bytes =
      uint64_t{traffic.queries} * (kGatherHeaderBytes + server->value_bytes_ + 8);
  options.steal = traffic.steal;
  options.dice = number << 16;
  auto runner = pipeline::PlanRunner::Create(at->store.get(), &server->times_, traffic.plan,
                                             devices, options);
  if (!runner) return runner.error();
  server->runner_ = std::move(*runner);
  return server;
}

SyntheticServer::SyntheticServer(const SyntheticStore* at, const Traffic& traffic, uint32_t number,
                                 const base::Zipf* zipf)
    : at_(at),
      traffic_(traffic),
      value_bytes_(static_cast<uint32_t>(at->value.size())),
      stage_(at->store.get(), &times_),
      batch_(pipeline::Plan::OneStageCpu()),
      values_(Stores(traffic) ? size_t{BatchesOf(traffic)} * traffic.queries * value_bytes_ : 0),
      out_((size_t{traffic.queries} + 1) * (kReplyHeadBytes + value_bytes_)),
      out_at_(out_.data()) {
  const std::vector<SyntheticRequest> requests = MakeRequests(
      traffic, traffic.keys == 0 ? at->objects : traffic.keys, RequestsOf(*at), number + 1, zipf);
  keys_.resize(requests.size() * at->key_bytes);
  for (const SyntheticRequest& request : requests) {
    WriteKey(request.key, &keys_[verbs_.size() * at->key_bytes], at->key_bytes);
    verbs_.push_back(request.verb);
  }
}

LoadFigures SyntheticServer::Serve(uint64_t until_ns) {
  figures_ = {};
  idle_ticks_ = 0;
  idle_cpu_ns_ = 0;
  TakeTimes(-1);
  const uint64_t cpu_start_ns = base::ThreadCpuNs();
  const uint64_t start = base::ReadTicks();
  runner_ == nullptr ? ServeInOneStage(until_ns) : ServeByPlan(until_ns);
  const uint64_t ticks = base::ReadTicks() - start;
  const auto cpu_ns = static_cast<double>(base::ThreadCpuNs() - cpu_start_ns);
  figures_.wall_ns = Ns(ticks);
  figures_.busy_ns = Ns(ticks - idle_ticks_);
  TakeTimes(1);
  // What others had of this thread's time at work, on a shared machine, is in all of its times
  // alike.
  const double working_ns = std::max(figures_.busy_ns, 1.0);
  const double let_run = std::clamp((cpu_ns - idle_cpu_ns_) / working_ns, 0.0, 1.0);
  figures_.busy_ns *= let_run;
  figures_.maintain_ns *= let_run;
  for (double& ns : figures_.task_ns) ns *= let_run;
  return figures_;
}

void SyntheticServer::TakeTimes(double sign) {
  for (uint32_t i = 0; i < pipeline::kTaskCount; i++)
    figures_.task_ns[i] += sign * static_cast<double>(times_.time_ns(static_cast<Task>(i)));
  figures_.maintain_ns += sign * Ns(times_.maintain_ticks.value());
  if (runner_ == nullptr) return;
  const pipeline::RunnerCounters& counters = runner_->counters();
  figures_.device_queries += sign * static_cast<double>(counters.device_queries.value());
  figures_.stolen_queries += sign * static_cast<double>(counters.stolen_queries.value());
  figures_.job_ns += sign * Ns(counters.device_ticks.value());
  figures_.jobs += sign * static_cast<double>(counters.device_batches.value());
}

// Where the values of a batch's stores go; null: there are none.
char* SyntheticServer::ValuesOf(uint32_t batch) {
  if (values_.empty()) return nullptr;
  return values_.data() + size_t{batch} * traffic_.queries * value_bytes_;
}

// Tasks RV and PP. `values`: as ValuesOf has it.
void SyntheticServer::Fill(pipeline::Batch* batch, char* values) {
  batch->Clear();
  const uint32_t source = batch->AddSource(INT64_MAX / 2);
  uint64_t last = base::ReadTicks();
  while (batch->size() < traffic_.queries) {
    const uint32_t count = std::min(
        {kGroup, traffic_.queries - batch->size(), static_cast<uint32_t>(verbs_.size() - next_)});
    char* const value = values == nullptr ? nullptr : values + size_t{batch->size()} * value_bytes_;
    for (uint32_t i = 0; i < count; i++) {
      if (verbs_[next_ + i] != Verb::kStore) continue;
      std::memcpy(value + size_t{i} * value_bytes_, at_->value.data(), value_bytes_);
    }
    const uint64_t received = base::ReadTicks();
    times_.Add(Task::kReceive, received - last, count);
    Parse(next_, next_ + count, source, value, batch);
    next_ += count;
    last = base::ReadTicks();
    times_.Add(Task::kParse, last - received, count);
    if (next_ == verbs_.size()) next_ = 0;
  }
  figures_.queries += traffic_.queries;
}

// Of the reads among requests [begin, end) up to the first that is none. Returns where it stopped.
// Compiled for the length of the key, as who parses for speed does.
template <uint32_t kKeyBytes>
[[gnu::flatten]] size_t SyntheticServer::ParseGets(size_t begin, size_t end, uint32_t source,
                                                   pipeline::Batch* batch) {
  const cache::Store& store = *at_->store;
  const char* const keys = keys_.data();
  const size_t last = verbs_.size() - 1;
  pipeline::Batch::ReadAdder adder(batch, source);
  for (size_t i = begin; i < end; i++) {
    if (verbs_[i] != Verb::kGet) return i;
    task::Prefetch(keys + std::min(i + kGroup, last) * kKeyBytes);
    const std::string_view key(keys + i * kKeyBytes, kKeyBytes);
    adder.Add(0, key, store.HashOf(key));
  }
  return end;
}

// `value`: of request `begin`, if it stores one; those of the others follow it.
void SyntheticServer::Parse(size_t begin, size_t end, uint32_t source, const char* value,
                            pipeline::Batch* batch) {
  for (size_t i = begin; i < end; i++) {
    const size_t first = i;
    if (at_->key_bytes == kSmallObjects.key_bytes)
      i = ParseGets<kSmallObjects.key_bytes>(i, end, source, batch);
    else if (at_->key_bytes == kMediumObjects.key_bytes)
      i = ParseGets<kMediumObjects.key_bytes>(i, end, source, batch);
    else if (at_->key_bytes == kLargeObjects.key_bytes)
      i = ParseGets<kLargeObjects.key_bytes>(i, end, source, batch);
    figures_.gets += static_cast<double>(i - first);
    if (i == end) return;
    const std::string_view key = KeyOf(i);
    const uint64_t hash = at_->store->HashOf(key);
    const Verb verb = verbs_[i];
    if (verb == Verb::kGet) {  // of another length
      figures_.gets++;
      batch->AddRead(source, 0, key, hash);
      continue;
    }
    cache::Command command;
    command.key = key;
    command.hash = hash;
    command.verb = verb == Verb::kStore ? cache::Verb::kStore : cache::Verb::kDelete;
    if (verb == Verb::kStore) command.value = {value + (i - begin) * value_bytes_, value_bytes_};
    (verb == Verb::kStore ? figures_.stores : figures_.deletes)++;
    batch->AddCommand(source, 0, command);
  }
}

void SyntheticServer::ServeInOneStage(uint64_t until_ns) {
  do {
    Fill(&batch_, ValuesOf(0));
    hits_ = 0;
    stage_.Run(batch_, *session_, *this);
    figures_.hits += hits_;
  } while (base::NowNs() < until_ns);
}

void SyntheticServer::ServeByPlan(uint64_t until_ns) {
  bool is_first = true;  // a batch at least, as in one stage
  for (uint32_t under_way = 0;; is_first = false) {
    const uint64_t start = base::ReadTicks();
    const bool begins = is_first || base::NowNs() < until_ns;
    if (!begins && under_way == 0) return;
    pipeline::BatchRun* const free = begins ? runner_->Free() : nullptr;
    if (free != nullptr) {
      Fill(&free->batch(), ValuesOf(free->number()));
      runner_->Begin(free);
      under_way++;
    }
    pipeline::BatchRun* const ready = runner_->Ready();
    if (ready != nullptr) {
      hits_ = 0;
      runner_->Finish(ready, *this);
      figures_.hits += hits_;
      under_way--;
    }
    if (free != nullptr || ready != nullptr || runner_->Help()) continue;
    // Waiting, with the looking that was in vain. Others may have the core meanwhile.
    const uint64_t looked = base::ReadTicks();
    const uint64_t cpu_start_ns = base::ThreadCpuNs();
    std::this_thread::yield();
    idle_cpu_ns_ += Ns(looked - start) + static_cast<double>(base::ThreadCpuNs() - cpu_start_ns);
    idle_ticks_ += base::ReadTicks() - start;
  }
}

void SyntheticServer::Write(pipeline::Batch& batch, uint32_t begin, uint32_t end,
                            cache::Session& session) {
  const size_t reply_bytes = kReplyHeadBytes + value_bytes_;
  // A group's replies lie in a row.
  if (out_at_ + (end - begin) * reply_bytes > out_.data() + out_.size()) out_at_ = out_.data();
  for (uint32_t i = begin; i < end;) {
    const uint32_t gathered_end = batch.DoneEnd(i, batch.GatheredEnd(i, end));
    if (i < gathered_end) {
      out_at_ = WriteGathered(batch, i, gathered_end, out_at_);
      hits_ += gathered_end - i;
      i = gathered_end;
      continue;
    }
    const cache::Reply reply = pipeline::ReplyOf(batch, i++, session);
    hits_ += reply.outcome == Outcome::kHit;
    const uint64_t head = uint64_t{reply.value.size()} << 32 | static_cast<uint64_t>(reply.outcome);
    std::memcpy(out_at_, &head, sizeof head);
    base::CopyShort(out_at_ + kReplyHeadBytes, reply.value.data(), reply.value.size());
    out_at_ += kReplyHeadBytes + reply.value.size();
  }
}

// Of hits, whose values an earlier stage has gathered. Returns where they end.
char* SyntheticServer::WriteGathered(const pipeline::Batch& batch, uint32_t begin, uint32_t end,
                                     char* out) const {
  const pipeline::Batch::GatheredValues values = batch.gathered();
  const uint64_t head = uint64_t{value_bytes_} << 32 | static_cast<uint64_t>(Outcome::kHit);
  for (uint32_t i = begin; i < end; i++) {
    std::memcpy(out, &head, sizeof head);
    base::CopyShort(out + kReplyHeadBytes, values[i].value.data(), value_bytes_);
    out += kReplyHeadBytes + value_bytes_;
  }
  return out;
}

}  // namespace weft::planner
