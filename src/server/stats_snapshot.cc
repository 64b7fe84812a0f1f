#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/ticks.h"

#include "server/stats.h"
#include "server/stats_fields.h"

namespace weft::server {
namespace {

uint64_t Microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
}

template <typename Fields, typename Source, typename Totals>
void Sum(const Fields& fields, const Source& source, Totals* totals) {
  for (const auto& field : fields) totals->*field.total += (source.*field.source).value();
}

// Counters of different workers are read at different moments, so a later sum may be a little
// behind an earlier one.
void Subtract(uint64_t base, uint64_t* counter) {
  *counter = *counter > base ? *counter - base : 0;
}

template <typename Array>
void SubtractAll(const Array& base, Array* counters) {
  for (size_t i = 0; i < base.size(); ++i) Subtract(base[i], &(*counters)[i]);
}

}  // namespace

void ServerSnapshot::Add(const protocol::CommandCounters& counters) {
  Sum(kCommandFields, counters, &commands);
}

void ServerSnapshot::Add(const cache::SessionCounters& counters) {
  Sum(kSessionFields, counters, &sessions);
}

void ServerSnapshot::Add(const pipeline::TaskTimes& times) {
  for (size_t i = 0; i < pipeline.time_ns.size(); ++i) {
    pipeline.time_ns[i] += times.time_ns(static_cast<weft::pipeline::Task>(i));
    pipeline.queries[i] += times.queries[i].value();
  }
  pipeline.batches += times.batches.value();
  for (size_t i = 0; i < times.batch_sizes.size(); ++i) {
    pipeline.batch_sizes[i] += times.batch_sizes[i].value();
  }
}

void ServerSnapshot::Add(const pipeline::RunnerCounters& counters) {
  device_stages.batches += counters.device_batches.value();
  device_stages.queries += counters.device_queries.value();
  device_stages.time_ns += base::NsOfTicks(counters.device_ticks.value());
  device_stages.stolen_queries += counters.stolen_queries.value();
  device_stages.reruns += counters.reruns.value();
  device_stages.refused += counters.refused.value();
  device_stages.behind_queries += counters.behind_queries.value();
}

void ServerSnapshot::Add(const processor::Guard& device) {
  DeviceInfo info;
  info.name = device.description().name;
  info.hardware = device.description().hardware;
  info.usable = device.usable();
  info.jobs = device.counters().jobs.load(std::memory_order_relaxed);
  info.failures = device.counters().failures.load(std::memory_order_relaxed);
  info.queries = device.counters().queries.load(std::memory_order_relaxed);
  info.last_failure = device.last_failure();
  devices.push_back(std::move(info));
}

void ServerSnapshot::Add(const net::LoopStats& loop) {
  for (uint64_t net::LoopStats::*field :
       {&net::LoopStats::connections_open, &net::LoopStats::connections_opened,
        &net::LoopStats::accept_pauses, &net::LoopStats::accept_paused_us,
        &net::LoopStats::loops_not_accepting, &net::LoopStats::idle_closed,
        &net::LoopStats::shed_closed, &net::LoopStats::turns, &net::LoopStats::batches,
        &net::LoopStats::bytes_in, &net::LoopStats::bytes_out, &net::LoopStats::buffer_bytes})
    net.*field += loop.*field;
}

void ServerSnapshot::AddChanges(const std::vector<planner::PlanChange>& changes, uint64_t now_ns) {
  for (const planner::PlanChange& change : changes)
    plan_changes.push_back({static_cast<double>(now_ns - std::min(change.at_ns, now_ns)) / 1e9,
                            change.from.plan.ToText(), change.to.plan.ToText(), change.why});
}

uint64_t ServerSnapshot::evicted_read() const {
  const uint64_t unread = std::min(sessions.evicted_unread, sessions.evictions);
  return sessions.evictions - unread;
}

void ServerSnapshot::FillProcess() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  pid = static_cast<uint64_t>(getpid());
  now_s = base::NowSeconds();
  user_us = Microseconds(usage.ru_utime);
  system_us = Microseconds(usage.ru_stime);
}

void StatsBaseline::Reset(const ServerSnapshot& now) {
  base::MutexLock lock(&mutex_);
  base_ = now;
  base_.listeners.clear();
  base_.connections.clear();
}

ServerSnapshot StatsBaseline::Since(ServerSnapshot now) const {
  base::MutexLock lock(&mutex_);
  for (const auto& field : kCommandFields) {
    Subtract(base_.commands.*field.total, &(now.commands.*field.total));
  }
  for (const auto& field : kSessionFields) {
    Subtract(base_.sessions.*field.total, &(now.sessions.*field.total));
  }
  ServerSnapshot base = base_;
  for (const LooseCounter& counter : kLooseCounters) Subtract(counter.in(base), &counter.in(now));
  Subtract(base.cache.evictions, &now.cache.evictions);
  Subtract(base.cache.expired, &now.cache.expired);
  Subtract(base.cache.carried, &now.cache.carried);
  SubtractAll(base.pipeline.time_ns, &now.pipeline.time_ns);
  SubtractAll(base.pipeline.queries, &now.pipeline.queries);
  now.latency.Subtract(base_.latency);
  Subtract(base.pipeline.batches, &now.pipeline.batches);
  SubtractAll(base.pipeline.batch_sizes, &now.pipeline.batch_sizes);
  for (uint64_t DeviceStageTotals::*field :
       {&DeviceStageTotals::batches, &DeviceStageTotals::queries, &DeviceStageTotals::time_ns,
        &DeviceStageTotals::stolen_queries, &DeviceStageTotals::reruns, &DeviceStageTotals::refused,
        &DeviceStageTotals::behind_queries})
    Subtract(base.device_stages.*field, &(now.device_stages.*field));
  return now;
}

}  // namespace weft::server
