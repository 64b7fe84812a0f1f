#include "server/metrics.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "server/stats_fields.h"

namespace weft::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily Family(std::string_view name, std::string_view help, MetricType type) {
  return {
      .name = fmt::format("weft_{}", name), .help = std::string(help), .type = type, .metric = {}};
}

void AddCounter(std::string_view name, std::string_view help, uint64_t value,
                std::vector<MetricFamily>* out) {
  MetricFamily family = Family(name, help, MetricType::Counter);
  family.metric.emplace_back().counter.value = static_cast<double>(value);
  out->push_back(std::move(family));
}

void AddGauge(std::string_view name, std::string_view help, uint64_t value,
              std::vector<MetricFamily>* out) {
  MetricFamily family = Family(name, help, MetricType::Gauge);
  family.metric.emplace_back().gauge.value = static_cast<double>(value);
  out->push_back(std::move(family));
}

void AddLevels(const ServerSnapshot& s, std::vector<MetricFamily>* out) {
  AddGauge("uptime_seconds", "Seconds since the server started.", s.uptime_s, out);
  AddGauge("threads", "Worker threads.", s.threads, out);
  AddGauge("connections_open", "Connections open now.", s.net.connections_open, out);
  AddGauge("connections_max", "Limit on open connections.", s.connections_max, out);
  AddGauge("buffer_bytes", "Bytes held in partial requests and unsent replies.", s.net.buffer_bytes,
           out);
  AddGauge("items", "Items in the store.", s.cache.items, out);
  AddGauge("item_bytes", "Bytes of live items with their headers.", s.cache.object_bytes, out);
  AddGauge("memory_bytes", "Bytes of memory that the store holds.", s.cache.memory_bytes, out);
  const std::pair<std::string_view, uint32_t> ages[] = {
      {"eviction_age_p10_seconds", s.cache.eviction_age_p10_s},
      {"eviction_age_p50_seconds", s.cache.eviction_age_p50_s},
      {"eviction_age_p90_seconds", s.cache.eviction_age_p90_s}};
  for (const auto& [name, age_s] : ages)
    AddGauge(name, "Seconds since the last use of recently evicted items; a percentile.", age_s,
             out);
  AddGauge("memory_limit_bytes", "Bytes of memory that the store may hold.", s.limit_bytes, out);
  AddGauge("index_bytes", "Bytes of memory of the index.", s.index_bytes, out);
  AddGauge("index_buckets", "Buckets of the index.", s.cache.index_buckets, out);
}

void AddData(const tier::TierStats& s, std::vector<MetricFamily>* out) {
  AddCounter("data_lookups_total", "Keys looked up on disk.", s.lookups, out);
  AddCounter("data_lookup_hits_total", "Lookups on disk that found their key.", s.lookup_hits, out);
  AddCounter("data_lookup_errors_total", "Lookups on disk that failed to read.", s.lookup_errors,
             out);
  AddCounter("data_waits_total", "Times that a connection waited for the disk.", s.waits, out);
  AddCounter("data_filters_asked_total", "Bloom filters consulted before a table was read.",
             s.db.filters_asked, out);
  AddCounter("data_filters_useful_total", "Bloom filters that ruled their table out.",
             s.db.filters_useful, out);
  AddCounter("data_blocks_read_total", "Blocks of tables searched.", s.db.blocks_read, out);
  AddCounter("data_block_cache_hits_total", "Blocks found in the block cache.",
             s.db.block_cache_hits, out);
  AddCounter("data_block_cache_misses_total", "Blocks not found in the block cache.",
             s.db.block_cache_misses, out);
  AddCounter("data_changes_total", "Items written to or deleted from disk.", s.changes, out);
  AddCounter("data_write_errors_total", "Writes to disk that failed.", s.write_errors, out);
  AddCounter("data_log_syncs_total", "Syncs of the log.", s.db.log_syncs, out);
  AddCounter("data_compactions_total", "Compactions that merged.", s.db.compactions, out);
  AddCounter("data_compaction_read_bytes_total", "Bytes read by compactions.",
             s.db.compaction_bytes_read, out);
  AddCounter("data_compaction_written_bytes_total", "Bytes written by compactions.",
             s.db.compaction_bytes_written, out);
  AddCounter("data_device_compactions_total", "Compactions that a device carried out.",
             s.db.compactions_by_device, out);
  AddCounter("data_left_compactions_total", "Compactions that a device left to the CPU.",
             s.db.compactions_left_to_cpu, out);
  AddCounter("data_ended_total",
             "Expired and flushed items that compactions dropped or "
             "turned into deletions.",
             s.db.compaction_keys_ended, out);
  AddGauge("data_table_bytes", "Bytes of tables on disk.", s.disk_bytes, out);
  AddGauge("data_takes_changes",
           "1 while the durable store accepts changes; 0 after a failed write.", s.failed ? 0 : 1,
           out);
}

void AddTls(const net::TlsStats& tls, std::vector<MetricFamily>* out) {
  AddCounter("tls_handshake_errors_total", "Connections whose TLS handshake failed.",
             tls.handshake_errors, out);
  AddCounter("tls_protocol_errors_total", "TLS sessions that ended by an error.",
             tls.protocol_errors, out);
  AddCounter("tls_new_sessions_total", "TLS sessions that clients may resume.", tls.sessions, out);
  AddGauge("tls_certificate_expires_seconds", "When the server's certificate ends, in Unix time.",
           static_cast<uint64_t>(std::max<int64_t>(tls.expires_s, 0)), out);
}

void AddWatch(const WatchHub::Counts& watch, std::vector<MetricFamily>* out) {
  AddGauge("watchers", "Clients that watch.", watch.watchers, out);
  AddCounter("watch_events_dropped_total", "Events that no watcher got, for want of room.",
             watch.worker_dropped, out);
  AddCounter("watch_lines_skipped_total", "Lines that a watcher who reads too slowly did not get.",
             watch.watcher_skipped, out);
}

void AddInfo(const ServerSnapshot& s, std::vector<MetricFamily>* out) {
  MetricFamily family =
      Family("info", "The server's version and kind of event loop, as labels; always 1.",
             MetricType::Gauge);
  ClientMetric& metric = family.metric.emplace_back();
  metric.label = {{"version", std::string(kWeftVersion)}, {"net", s.net_kind}};
  metric.gauge.value = 1;
  out->push_back(std::move(family));
}

void AddProcessorTime(const ServerSnapshot& s, std::vector<MetricFamily>* out) {
  MetricFamily family =
      Family("processor_seconds_total", "CPU time used by the process.", MetricType::Counter);
  for (const auto& [mode, microseconds] :
       {std::pair<const char*, uint64_t>{"user", s.user_us}, {"system", s.system_us}}) {
    ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{"mode", mode}};
    metric.counter.value = static_cast<double>(microseconds) / 1e6;
  }
  out->push_back(std::move(family));
}

void AddTasks(const PipelineTotals& p, std::vector<MetricFamily>* out) {
  MetricFamily time =
      Family("task_seconds_total", "Time spent in each task of a query.", MetricType::Counter);
  MetricFamily queries =
      Family("task_queries_total", "Queries that went through each task.", MetricType::Counter);
  for (size_t i = 0; i < p.time_ns.size(); ++i) {
    const std::string task(pipeline::TaskName(static_cast<pipeline::Task>(i)));
    ClientMetric& seconds = time.metric.emplace_back();
    seconds.label = {{"task", task}};
    seconds.counter.value = static_cast<double>(p.time_ns[i]) / 1e9;
    ClientMetric& count = queries.metric.emplace_back();
    count.label = {{"task", task}};
    count.counter.value = static_cast<double>(p.queries[i]);
  }
  out->push_back(std::move(time));
  out->push_back(std::move(queries));
}

void AddBatches(const PipelineTotals& p, std::vector<MetricFamily>* out) {
  MetricFamily family = Family("batch_queries", "Queries in a batch.", MetricType::Histogram);
  ClientMetric::Histogram& histogram = family.metric.emplace_back().histogram;
  uint64_t count = 0;
  for (size_t i = 0; i < p.batch_sizes.size(); ++i) {
    count += p.batch_sizes[i];
    const bool last = i + 1 == p.batch_sizes.size();  // it also counts what is larger
    const double bound = last ? std::numeric_limits<double>::infinity()
                              : static_cast<double>((uint64_t{2} << i) - 1);
    histogram.bucket.push_back({count, bound});
  }
  histogram.sample_count = count;
  histogram.sample_sum =
      static_cast<double>(p.queries[static_cast<size_t>(pipeline::Task::kParse)]);
  out->push_back(std::move(family));
}

// From 4 µs up, a bound at each power of two. The sum is that of the middles of finer cells.
void AddLatency(const LatencyTotals& totals, std::vector<MetricFamily>* out) {
  constexpr int kBitsMin = 12;
  MetricFamily family = Family("request_latency_seconds",
                               "From the receipt of a request to the sending of its reply, "
                               "by class of command.",
                               MetricType::Histogram);
  for (size_t i = 0; i < kLatencyClasses; i++) {
    const auto of = static_cast<LatencyClass>(i);
    const LatencyCells& cells = totals.Of(of);
    ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{"command", std::string(LatencyClassName(of))}};
    uint64_t count = 0;
    size_t cell = 0;
    for (int bits = kBitsMin; bits < kLatencyBits; bits++) {
      for (const size_t end = LatencyCellOf(uint64_t{1} << bits); cell < end; cell++)
        count += cells[cell];
      metric.histogram.bucket.push_back({count, static_cast<double>(uint64_t{1} << bits) / 1e9});
    }
    const LatencySummary summary = Summarize(cells);
    metric.histogram.bucket.push_back({summary.count, std::numeric_limits<double>::infinity()});
    metric.histogram.sample_count = summary.count;
    metric.histogram.sample_sum = summary.mean_ns * static_cast<double>(summary.count) / 1e9;
  }
  out->push_back(std::move(family));
}

}  // namespace

std::vector<MetricFamily> MetricFamilies(ServerSnapshot snapshot) {
  std::vector<MetricFamily> out;
  AddInfo(snapshot, &out);
  AddLevels(snapshot, &out);
  if (snapshot.data) AddData(*snapshot.data, &out);
  if (snapshot.tls) AddTls(*snapshot.tls, &out);
  AddWatch(snapshot.watch, &out);
  AddProcessorTime(snapshot, &out);
  for (const auto& field : kCommandFields) {
    AddCounter(field.name, field.help, snapshot.commands.*field.total, &out);
  }
  for (const auto& field : kSessionFields) {
    AddCounter(field.name, field.help, snapshot.sessions.*field.total, &out);
  }
  for (const LooseCounter& counter : kLooseCounters) {
    AddCounter(counter.name, counter.help, counter.in(snapshot), &out);
  }
  AddTasks(snapshot.pipeline, &out);
  AddBatches(snapshot.pipeline, &out);
  AddCounter("plan_changes_total", "Times that the planner changed the plan.",
             snapshot.planner ? snapshot.planner->changes : 0, &out);
  AddCounter("memory_file_refusals_total",
             "Times that the file system of -e had no room for a segment.",
             snapshot.memory_file_refusals, &out);
  AddLatency(snapshot.latency, &out);
  return out;
}

}  // namespace weft::server
