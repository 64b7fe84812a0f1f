#include "server/metrics_memcached.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "server/stats_writer.h"

namespace weft::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

using ReportLines = std::map<std::string, std::string, std::less<>>;

// The lines of a report, by name, after `prefix`; those without it are left out.
ReportLines LinesOf(std::string_view report, std::string_view prefix = "") {
  ReportLines lines;
  constexpr std::string_view kStat = "STAT ";
  for (size_t end; (end = report.find("\r\n")) != report.npos; report.remove_prefix(end + 2)) {
    std::string_view line = report.substr(0, end);
    if (!line.starts_with(kStat)) continue;
    line.remove_prefix(kStat.size());
    if (!line.starts_with(prefix)) continue;
    line.remove_prefix(prefix.size());
    const size_t space = line.find(' ');
    lines.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return lines;
}

// Of a line that is a number, or yes or no; 0 where it is neither.
double NumberOf(std::string_view text) {
  if (text == "yes") return 1;
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// A family of one line of a report.
struct Row {
  std::string_view name;  // after "memcached_"
  MetricType type;
  std::string_view line;
  std::string_view help;
};

constexpr auto kCounter = MetricType::Counter;
constexpr auto kGauge = MetricType::Gauge;

constexpr Row kGeneral[] = {
    {"uptime_seconds", kCounter, "uptime", "Seconds since the server started."},
    {"time_seconds", kGauge, "time", "The server's time, since 1970."},
    {"process_user_cpu_seconds_total", kCounter, "rusage_user", "CPU time in user mode."},
    {"process_system_cpu_seconds_total", kCounter, "rusage_system", "CPU time in the kernel."},
    {"read_bytes_total", kCounter, "bytes_read", "Bytes received from clients."},
    {"written_bytes_total", kCounter, "bytes_written", "Bytes sent to clients."},
    {"current_connections", kGauge, "curr_connections", "Connections open now."},
    {"connections_total", kCounter, "total_connections", "Connections opened."},
    {"connections_rejected_total", kCounter, "rejected_connections",
     "Connections refused because the limit was reached."},
    {"connections_yielded_total", kCounter, "conn_yields",
     "Times that a connection had to let others go first."},
    {"connections_listener_disabled_total", kCounter, "listen_disabled_num",
     "Times that accepting stopped."},
    {"accepting_connections", kGauge, "accepting_conns", "1 while connections are accepted."},
    {"current_bytes", kGauge, "bytes", "Bytes of live items."},
    {"limit_bytes", kGauge, "limit_maxbytes", "Bytes of memory that the store may hold."},
    {"malloced_bytes", kGauge, "total_malloced", "Bytes of memory that the store holds."},
    {"current_items", kGauge, "curr_items", "Items in the store."},
    {"items_total", kCounter, "total_items", "Items created."},
    {"items_evicted_total", kCounter, "evictions", "Live items evicted to make room."},
    {"items_reclaimed_total", kCounter, "reclaimed", "Items whose time to live ended."},
    {"item_too_large_total", kCounter, "store_too_large", "Stores refused for their size."},
    {"item_no_memory_total", kCounter, "store_no_memory", "Stores refused for lack of memory."},
    {"direct_reclaims_total", kCounter, "direct_reclaims", "Always 0 here."},
    {"lru_crawler_starts_total", kCounter, "lru_crawler_starts", "Always 0 here."},
    {"lru_crawler_reclaimed_total", kCounter, "crawler_reclaimed", "Always 0 here."},
    {"lru_crawler_items_checked_total", kCounter, "crawler_items_checked", "Always 0 here."},
    {"lru_crawler_moves_to_cold_total", kCounter, "moves_to_cold", "Always 0 here."},
    {"lru_crawler_moves_to_warm_total", kCounter, "moves_to_warm", "Always 0 here."},
    {"lru_crawler_moves_within_lru_total", kCounter, "moves_within_lru",
     "Items copied forward out of memory that was freed."},
};

constexpr Row kSettings[] = {
    {"max_connections", kGauge, "maxconns", "Limit on open connections."},
};
// Of a server with the LRU crawler.
constexpr Row kCrawlerSettings[] = {
    {"lru_crawler_enabled", kGauge, "lru_crawler", "Whether there is an LRU crawler."},
    {"lru_crawler_sleep", kGauge, "lru_crawler_sleep", "Microseconds between its steps."},
    {"lru_crawler_to_crawl", kGauge, "lru_crawler_tocrawl", "Items that it looks at in a run."},
    {"lru_crawler_maintainer_thread", kGauge, "lru_maintainer_thread", "Whether there is one."},
    {"lru_crawler_hot_percent", kGauge, "hot_lru_pct", "Per cent for hot items."},
    {"lru_crawler_warm_percent", kGauge, "warm_lru_pct", "Per cent for warm items."},
    {"lru_crawler_hot_max_factor", kGauge, "hot_max_factor", "Age of hot items, of cold ones."},
    {"lru_crawler_warm_max_factor", kGauge, "warm_max_factor", "Age of warm items, of cold ones."},
};

// Of the one slab class.
constexpr Row kItems[] = {
    {"slab_current_items", kGauge, "number", "Items in the store."},
    {"slab_items_age_seconds", kGauge, "age", "Always 0 here."},
    {"slab_items_crawler_reclaimed_total", kCounter, "crawler_reclaimed", "Always 0 here."},
    {"slab_items_evicted_total", kCounter, "evicted", "Live items evicted to make room."},
    {"slab_items_evicted_nonzero_total", kCounter, "evicted_nonzero", "Always 0 here."},
    {"slab_items_evicted_time_seconds", kCounter, "evicted_time",
     "Seconds since the last use of the item evicted last."},
    {"slab_items_evicted_unfetched_total", kCounter, "evicted_unfetched",
     "Evicted items that were never read."},
    {"slab_items_expired_unfetched_total", kCounter, "expired_unfetched",
     "Expired items that were never read."},
    {"slab_items_outofmemory_total", kCounter, "outofmemory", "Stores refused for lack of memory."},
    {"slab_items_reclaimed_total", kCounter, "reclaimed", "Items whose time to live ended."},
    {"slab_items_tailrepairs_total", kCounter, "tailrepairs", "Always 0 here."},
    {"slab_mem_requested_bytes", kCounter, "mem_requested", "Bytes of live items."},
    {"slab_items_moves_to_cold", kCounter, "moves_to_cold", "Always 0 here."},
    {"slab_items_moves_to_warm", kCounter, "moves_to_warm", "Always 0 here."},
    {"slab_items_moves_within_lru", kCounter, "moves_within_lru",
     "Items copied forward out of memory that was freed."},
    {"slab_hot_items", kGauge, "number_hot", "Always 0 here."},
    {"slab_warm_items", kGauge, "number_warm", "Always 0 here."},
    {"slab_cold_items", kGauge, "number_cold", "Items in the store."},
    {"slab_temporary_items", kGauge, "number_temp", "Items with a short time to live."},
    {"slab_hot_age_seconds", kGauge, "age_hot", "Always 0 here."},
    {"slab_warm_age_seconds", kGauge, "age_warm", "Always 0 here."},
};
constexpr Row kSlabs[] = {
    {"slab_chunk_size_bytes", kGauge, "chunk_size", "Bytes of the mean item."},
    {"slab_chunks_per_page", kGauge, "chunks_per_page", "Mean items in a mebibyte."},
    {"slab_current_pages", kGauge, "total_pages", "Mebibytes of memory that the store holds."},
    {"slab_current_chunks", kGauge, "total_chunks", "Mean items that these would hold."},
    {"slab_chunks_used", kGauge, "used_chunks", "Items in the store."},
    {"slab_chunks_free", kGauge, "free_chunks", "Mean items that there is memory for."},
    {"slab_chunks_free_end", kGauge, "free_chunks_end", "Always 0 here."},
};

constexpr std::string_view kOperations[] = {"get", "delete", "incr", "decr", "cas", "touch"};
constexpr std::string_view kSlab = "1";  // the number of the one class

using Labels = std::vector<prometheus::ClientMetric::Label>;

MetricFamily ExporterFamily(std::string_view name, MetricType type, std::string_view help) {
  return {.name = fmt::format("memcached_{}", name),
          .help = std::string(help),
          .type = type,
          .metric = {}};
}

void AddSample(double value, Labels labels, MetricFamily* family) {
  ClientMetric& metric = family->metric.emplace_back();
  metric.label = std::move(labels);
  (family->type == kCounter ? metric.counter.value : metric.gauge.value) = value;
}

// Nothing where `lines` has no such line.
void AddLine(const ReportLines& lines, std::string_view name, Labels labels, MetricFamily* family) {
  const auto line = lines.find(name);
  if (line != lines.end()) AddSample(NumberOf(line->second), std::move(labels), family);
}

template <size_t kRows>
void AddRows(const Row (&rows)[kRows], const ReportLines& lines, const Labels& labels,
             std::vector<MetricFamily>* out) {
  for (const Row& row : rows) {
    MetricFamily family = ExporterFamily(row.name, row.type, row.help);
    AddLine(lines, row.line, labels, &family);
    if (!family.metric.empty()) out->push_back(std::move(family));
  }
}

// memcached counts cas among the sets. The parts are read one after the other, so that the rest
// might be below 0 for a moment.
double SetsOf(const ReportLines& lines, std::initializer_list<std::string_view> parts) {
  const auto number = [&](std::string_view name) {
    const auto line = lines.find(name);
    return line == lines.end() ? 0 : NumberOf(line->second);
  };
  double sets = number("cmd_set");
  for (const std::string_view part : parts) sets -= number(part);
  return std::max(sets, 0.0);
}

MetricFamily CommandsOf(const ReportLines& general) {
  MetricFamily family =
      ExporterFamily("commands_total", kCounter, "Requests by command and outcome.");
  const auto labels = [](std::string_view command, std::string_view status) -> Labels {
    return {{"command", std::string(command)}, {"status", std::string(status)}};
  };
  for (const std::string_view operation : kOperations) {
    AddLine(general, fmt::format("{}_hits", operation), labels(operation, "hit"), &family);
    AddLine(general, fmt::format("{}_misses", operation), labels(operation, "miss"), &family);
  }
  AddLine(general, "cas_badval", labels("cas", "badval"), &family);
  AddLine(general, "cmd_flush", labels("flush", "hit"), &family);
  AddSample(SetsOf(general, {"cas_misses", "cas_hits", "cas_badval"}), labels("set", "hit"),
            &family);
  return family;
}

MetricFamily SlabCommands(const ReportLines& slab) {
  MetricFamily family = ExporterFamily("slab_commands_total", kCounter,
                                       "Requests by command and outcome, of all items.");
  const auto labels = [](std::string_view command, std::string_view status) -> Labels {
    return {{"slab", std::string(kSlab)},
            {"command", std::string(command)},
            {"status", std::string(status)}};
  };
  for (const std::string_view operation : kOperations)
    AddLine(slab, fmt::format("{}_hits", operation), labels(operation, "hit"), &family);
  AddLine(slab, "cas_badval", labels("cas", "badval"), &family);
  AddSample(SetsOf(slab, {"cas_hits", "cas_badval"}), labels("set", "hit"), &family);
  return family;
}

MetricFamily HitsByList(const ReportLines& items) {
  MetricFamily family = ExporterFamily("slab_lru_hits_total", kCounter,
                                       "Hits on new items (hot) and on used ones (warm).");
  for (const auto& [line, list] :
       {std::pair{"hits_to_hot", "hot"}, std::pair{"hits_to_warm", "warm"},
        std::pair{"hits_to_cold", "cold"}, std::pair{"hits_to_temp", "temporary"}})
    AddLine(items, line, {{"slab", std::string(kSlab)}, {"lru", list}}, &family);
  return family;
}

}  // namespace

std::vector<MetricFamily> MemcachedFamilies(const ServerSnapshot& snapshot,
                                            const ServerOptions& options) {
  std::vector<MetricFamily> out;
  ReportLines general = LinesOf(GeneralStats(snapshot, options));
  const std::string slabs = SlabsStats(snapshot);
  general.merge(LinesOf(slabs));  // those that are about no class
  const ReportLines slab = LinesOf(slabs, fmt::format("{}:", kSlab));
  const ReportLines items = LinesOf(ItemsStats(snapshot, options), fmt::format("items:{}:", kSlab));
  const ReportLines settings = LinesOf(SettingsStats(snapshot, options));

  MetricFamily up = ExporterFamily("up", kGauge, "1: the server answers.");
  AddSample(1, {}, &up);
  out.push_back(std::move(up));
  MetricFamily version = ExporterFamily("version", kGauge, "The release of memcached, as a label.");
  AddSample(1, {{"version", std::string(kVersionText)}}, &version);
  out.push_back(std::move(version));
  out.push_back(CommandsOf(general));
  AddRows(kGeneral, general, {}, &out);
  AddRows(kSettings, settings, {}, &out);
  const auto crawler = settings.find("lru_crawler");
  if (crawler != settings.end() && crawler->second == "yes")
    AddRows(kCrawlerSettings, settings, {}, &out);
  const Labels of_slab = {{"slab", std::string(kSlab)}};
  if (!items.empty()) {
    AddRows(kItems, items, of_slab, &out);
    if (MetricFamily hits = HitsByList(items); !hits.metric.empty()) out.push_back(std::move(hits));
  }
  if (!slab.empty()) {
    AddRows(kSlabs, slab, of_slab, &out);
    out.push_back(SlabCommands(slab));
  }
  return out;
}

}  // namespace weft::server
