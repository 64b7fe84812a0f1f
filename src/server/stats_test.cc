#include "server/stats.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"

namespace weft::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ServerSnapshot Example() {
  ServerSnapshot s;
  s.FillProcess();
  s.uptime_s = 90;
  s.threads = 4;
  s.net_kind = "epoll";
  s.connections_max = 1024;
  s.connections_rejected = 2;
  s.net.connections_open = 3;
  s.net.connections_opened = 30;
  s.net.bytes_in = 1000;
  s.net.bytes_out = 2000;
  s.commands.cmd_get = 70;
  s.commands.get_hits = 60;
  s.commands.get_misses = 10;
  s.commands.cmd_set = 20;
  s.commands.total_items = 19;
  s.commands.store_no_memory = 1;
  s.sessions.evictions = 5;
  s.sessions.evicted_unread = 4;
  s.sessions.carried = 6;
  s.cache.items = 10;
  s.cache.object_bytes = 1000;
  s.cache.memory_bytes = 3 << 20;
  s.cache.index_buckets = 4096;
  s.index_bytes = 4096 * 64;
  s.limit_bytes = 64 << 20;
  s.pipeline.queries[static_cast<size_t>(pipeline::Task::kParse)] = 90;
  s.pipeline.time_ns[static_cast<size_t>(pipeline::Task::kParse)] = 900;
  s.pipeline.time_ns[static_cast<size_t>(pipeline::Task::kWrite)] = 2700;
  s.pipeline.batches = 30;
  s.plan = "[RV]cpu";
  s.devices = {{"cpu", "a thread", true, 5, 0, 9, ""},
               {"opencl:0", "a chip", false, 5, 3, 100, "it broke"}};
  s.device_stages.reruns = 7;
  s.device_stages.behind_queries = 11;
  s.pipeline.batch_sizes[0] = 20;
  s.pipeline.batch_sizes[2] = 10;
  return s;
}

std::string Text(std::string_view arguments, const ServerOptions& options = {}) {
  return StatsText(arguments, Example(), options);
}

// The names of a reply, in order. Checks its form on the way.
std::vector<std::string> Names(const std::string& text) {
  std::vector<std::string> names;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find("\r\n", begin);
    EXPECT_NE(end, text.npos);
    if (end == text.npos) break;
    std::istringstream line(text.substr(begin, end - begin));
    begin = end + 2;
    std::string word, name, value;
    line >> word;
    if (word == "END") {
      EXPECT_EQ(begin, text.size());
      return names;
    }
    line >> name;
    std::getline(line, value);
    EXPECT_EQ(word, "STAT");
    EXPECT_GT(value.size(), 1u) << name;
    names.push_back(name);
  }
  ADD_FAILURE() << "no END";
  return names;
}

std::string Value(const std::string& text, const std::string& name) {
  const std::string head = "STAT " + name + " ";
  const size_t at = text.find(head);
  if (at == text.npos) return "(none)";
  const size_t begin = at + head.size();
  return text.substr(begin, text.find("\r\n", begin) - begin);
}

std::vector<std::string> Words(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(ServerSnapshot, TimeIsTheClockThatItemsExpireBy) {
  for (int i = 0; i < 1000; i++) {
    const uint64_t before = base::NowSeconds();
    ServerSnapshot snapshot;
    snapshot.FillProcess();
    EXPECT_GE(snapshot.now_s, before);
    EXPECT_LE(snapshot.now_s, base::NowSeconds());
  }
}

TEST(Stats, GeneralHasMemcachedsNamesInItsOrder) {
  const std::string text = Text("");
  EXPECT_EQ(Names(text), Words(R"(
      pid uptime time version libevent pointer_size rusage_user rusage_system max_connections
      curr_connections total_connections rejected_connections connection_structures
      response_obj_oom response_obj_count response_obj_bytes read_buf_count read_buf_bytes
      read_buf_bytes_free read_buf_oom reserved_fds cmd_get cmd_set cmd_flush cmd_touch cmd_meta
      get_hits get_misses get_expired get_flushed delete_misses delete_hits incr_misses incr_hits
      decr_misses decr_hits cas_misses cas_hits cas_badval touch_hits touch_misses store_too_large
      store_no_memory auth_cmds auth_errors bytes_read bytes_written limit_maxbytes
      accepting_conns listen_disabled_num time_in_listen_disabled_us threads conn_yields
      hash_power_level hash_bytes hash_is_expanding slab_reassign_rescues
      slab_reassign_chunk_rescues slab_reassign_evictions_nomem slab_reassign_inline_reclaim
      slab_reassign_busy_items slab_reassign_busy_deletes slab_reassign_running slabs_moved
      lru_crawler_running lru_crawler_starts lru_maintainer_juggles malloc_fails
      log_worker_dropped log_worker_written log_watcher_skipped log_watcher_sent log_watchers
      unexpected_napi_ids round_robin_fallback bytes curr_items total_items
      slab_global_page_pool expired_unfetched evicted_unfetched evicted_active evictions
      reclaimed crawler_reclaimed crawler_items_checked lrutail_reflocked moves_to_cold
      moves_to_warm moves_within_lru direct_reclaims lru_bumps_dropped)"));
  EXPECT_EQ(Value(text, "version"), "1.6.18");
  EXPECT_EQ(Value(text, "curr_connections"), "3");
  EXPECT_EQ(Value(text, "get_hits"), "60");
  EXPECT_EQ(Value(text, "bytes_read"), "1000");
  EXPECT_EQ(Value(text, "evicted_active"), "1");
  EXPECT_EQ(Value(text, "hash_power_level"), "15");
  EXPECT_EQ(Value(text, "limit_maxbytes"), "67108864");
}

// With -o, as memcached's.
TEST(Stats, LinesOfWhatIsTurnedOffAreLeftOut) {
  using ::testing::UnorderedElementsAreArray;
  const auto missing = [](const char* report, bool UnusedSettings::*off) {
    ServerOptions options;
    options.unused.*off = false;
    std::vector<std::string> names = Names(Text(report));
    for (const std::string& name : Names(Text(report, options))) std::erase(names, name);
    return names;
  };
  EXPECT_THAT(missing("", &UnusedSettings::lru_crawler),
              UnorderedElementsAreArray(Words("lru_crawler_running lru_crawler_starts")));
  EXPECT_THAT(missing("", &UnusedSettings::lru_maintainer), UnorderedElementsAreArray(Words(R"(
      lru_maintainer_juggles evicted_active moves_to_cold moves_to_warm moves_within_lru
      direct_reclaims lru_bumps_dropped)")));
  EXPECT_THAT(missing("", &UnusedSettings::slab_reassign), UnorderedElementsAreArray(Words(R"(
      slab_reassign_rescues slab_reassign_chunk_rescues slab_reassign_evictions_nomem
      slab_reassign_inline_reclaim slab_reassign_busy_items slab_reassign_busy_deletes
      slab_reassign_running slabs_moved)")));
  EXPECT_THAT(missing("items", &UnusedSettings::lru_crawler), testing::IsEmpty());
  EXPECT_THAT(missing("items", &UnusedSettings::lru_maintainer), testing::SizeIs(14));
}

// As memcached: how many sessions there were is known where clients may resume them.
TEST(Stats, TlsSessionsAreShownWhereTheyAreKept) {
  ServerSnapshot snapshot = Example();
  snapshot.tls.emplace().sessions = 7;
  ServerOptions options;
  options.tls.emplace();
  const std::string without = StatsText("", snapshot, options);
  EXPECT_THAT(without, HasSubstr("STAT ssl_handshake_errors 0\r\n"));
  EXPECT_THAT(without, testing::Not(HasSubstr("ssl_new_sessions")));
  options.tls->session_cache = true;
  EXPECT_EQ(Value(StatsText("", snapshot, options), "ssl_new_sessions"), "7");
}

TEST(Stats, IdleKicksAreShownWhereThereIsATimeout) {
  ServerOptions options;
  options.idle_timeout_s = 5;
  EXPECT_THAT(Text("", options), HasSubstr("STAT auth_errors 0\r\nSTAT idle_kicks 0\r\n"));
}

TEST(Stats, SettingsHaveMemcachedsNamesInItsOrder) {
  ServerOptions options;
  options.evict = false;
  options.unix_mask = 0770;
  options.unused.extended = {{"hot_lru_pct", "30"}, {"slab_chunk_max", "16384"}, {"ssl_key", "k"}};
  const std::string text = Text("settings", options);
  EXPECT_EQ(Names(text), Words(R"(
      maxbytes maxconns tcpport udpport inter verbosity oldest evictions domain_socket umask
      shutdown_command growth_factor chunk_size num_threads num_threads_per_udp stat_key_prefix
      detail_enabled reqs_per_event cas_enabled tcp_backlog binding_protocol auth_enabled_sasl
      auth_enabled_ascii item_size_max maxconns_fast hashpower_init slab_reassign slab_automove
      slab_automove_ratio slab_automove_window slab_chunk_max lru_crawler lru_crawler_sleep
      lru_crawler_tocrawl tail_repair_time flush_enabled dump_enabled hash_algorithm
      lru_maintainer_thread lru_segmented hot_lru_pct warm_lru_pct hot_max_factor warm_max_factor
      temp_lru temporary_ttl idle_timeout watcher_logbuf_size worker_logbuf_size
      read_buf_mem_limit track_sizes inline_ascii_response ext_item_size ext_item_age ext_low_ttl
      ext_recache_rate ext_wbuf_size ext_compact_under ext_drop_under ext_max_sleep ext_max_frag
      slab_automove_freeratio ext_drop_unread ssl_enabled ssl_chain_cert ssl_key ssl_verify_mode
      ssl_keyformat ssl_ciphers ssl_ca_cert ssl_wbuf_size ssl_session_cache ssl_kernel_tls
      ssl_min_version num_napi_ids memory_file)"));
  EXPECT_EQ(Value(text, "maxbytes"), "67108864");
  EXPECT_EQ(Value(text, "tcpport"), "11211");
  EXPECT_EQ(Value(text, "evictions"), "off");
  EXPECT_EQ(Value(text, "umask"), "770");
  EXPECT_EQ(Value(text, "domain_socket"), "NULL");
  EXPECT_EQ(Value(text, "hot_lru_pct"), "30");
  EXPECT_EQ(Value(text, "warm_lru_pct"), "40");
  EXPECT_EQ(Value(text, "slab_chunk_max"), "16384");
  EXPECT_EQ(Value(text, "ssl_key"), "k");
  EXPECT_EQ(Value(text, "ssl_chain_cert"), "(null)");
  EXPECT_EQ(Value(text, "hash_algorithm"), "keyed");
  EXPECT_EQ(Value(text, "item_size_max"), "1048576");
}

TEST(Stats, SlabsAndItemsShowOneClass) {
  const std::string slabs = Text("slabs");
  EXPECT_EQ(Names(slabs).size(), 17u);
  EXPECT_EQ(Value(slabs, "1:chunk_size"), "104");
  EXPECT_EQ(Value(slabs, "1:total_pages"), "3");
  EXPECT_EQ(Value(slabs, "1:used_chunks"), "10");
  EXPECT_EQ(Value(slabs, "1:get_hits"), "60");
  EXPECT_EQ(Value(slabs, "active_slabs"), "1");
  EXPECT_EQ(Value(slabs, "total_malloced"), "3145728");
  const std::string items = Text(" items  ");
  EXPECT_EQ(Names(items).size(), 28u);
  EXPECT_EQ(Value(items, "items:1:number"), "10");
  EXPECT_EQ(Value(items, "items:1:evicted"), "5");
  EXPECT_EQ(Value(items, "items:1:outofmemory"), "1");
}

TEST(Stats, AnEmptyStoreHasNoClass) {
  EXPECT_EQ(StatsText("items", {}, {}), "END\r\n");
  EXPECT_EQ(StatsText("slabs", {}, {}), "STAT active_slabs 0\r\nSTAT total_malloced 0\r\nEND\r\n");
}

TEST(Stats, ConnsNameListenersAndPeers) {
  ServerSnapshot s = Example();
  s.listeners = {{22, net::Transport::kTcp, "127.0.0.1:11211"},
                 {23, net::Transport::kTcp, "[::1]:11211"},
                 {24, net::Transport::kUnix, "/run/w.sock"}};
  net::ConnectionInfo one;
  one.fd = 30;
  one.peer = "[::1]:50000";
  one.listener_index = 1;
  one.idle_ms = 5999;
  net::ConnectionInfo half = one;
  half.fd = 31;
  half.awaits_rest = true;
  net::ConnectionInfo writes = half;
  writes.fd = 32;
  writes.pending_output_bytes = 1;
  net::ConnectionInfo asks = writes;
  asks.fd = 33;
  asks.in_batch = true;
  s.connections = {one, half, writes, asks};
  EXPECT_EQ(StatsText("conns", s, {}),
            "STAT 22:addr tcp:127.0.0.1:11211\r\nSTAT 22:state conn_listening\r\n"
            "STAT 22:secs_since_last_cmd 90\r\n"
            "STAT 23:addr tcp6:[::1]:11211\r\nSTAT 23:state conn_listening\r\n"
            "STAT 23:secs_since_last_cmd 90\r\n"
            "STAT 24:addr unix:/run/w.sock\r\nSTAT 24:state conn_listening\r\n"
            "STAT 24:secs_since_last_cmd 90\r\n"
            "STAT 30:addr tcp6:[::1]:50000\r\nSTAT 30:listen_addr tcp6:[::1]:11211\r\n"
            "STAT 30:state conn_read\r\nSTAT 30:secs_since_last_cmd 5\r\n"
            "STAT 31:addr tcp6:[::1]:50000\r\nSTAT 31:listen_addr tcp6:[::1]:11211\r\n"
            "STAT 31:state conn_nread\r\nSTAT 31:secs_since_last_cmd 5\r\n"
            "STAT 32:addr tcp6:[::1]:50000\r\nSTAT 32:listen_addr tcp6:[::1]:11211\r\n"
            "STAT 32:state conn_mwrite\r\nSTAT 32:secs_since_last_cmd 5\r\n"
            "STAT 33:addr tcp6:[::1]:50000\r\nSTAT 33:listen_addr tcp6:[::1]:11211\r\n"
            "STAT 33:state conn_parse_cmd\r\nSTAT 33:secs_since_last_cmd 5\r\nEND\r\n");
  EXPECT_TRUE(StatsNeedsConnections(" conns"));
  EXPECT_FALSE(StatsNeedsConnections(""));
}

TEST(Stats, PipelineTellsTimesAndBatches) {
  const std::string text = Text("pipeline");
  Names(text);
  EXPECT_EQ(Value(text, "weft_version"), kWeftVersion);
  EXPECT_EQ(Value(text, "plan"), "[RV]cpu");
  EXPECT_EQ(Value(text, "gpu1:state"), "retired");
  EXPECT_EQ(Value(text, "gpu1:last_failure"), "it broke");
  EXPECT_EQ(Value(text, "device:reruns"), "7");
  EXPECT_EQ(Value(text, "device:behind_queries"), "11");
  EXPECT_EQ(Value(text, "PP:ns_per_query"), "10.0");
  EXPECT_EQ(Value(text, "PP:share"), "0.250");
  EXPECT_EQ(Value(text, "WR:share"), "0.750");
  EXPECT_EQ(Value(text, "batch_size_mean"), "3.0");
  EXPECT_EQ(Value(text, "batch_size:1"), "20");
  EXPECT_EQ(Value(text, "batch_size:4-7"), "10");
  EXPECT_EQ(Value(text, "store:carried"), "6");
}

TEST(Stats, PipelineTellsWhatThePlannerDecided) {
  EXPECT_EQ(Value(Text("pipeline"), "plan:chosen_by"), "command line");
  ServerSnapshot snapshot = Example();
  planner::PlannerStats planner;
  planner.decision.candidate.steal = true;
  planner.decision.device_batch_min = 128;
  planner.decision.estimate.queries_per_s = 2e6;
  planner.changes = 3;
  planner.last_change = "GET share 0.95 to 1.00";
  planner.measured_queries_per_s = 1.5e6;
  planner.profile.get_share = 0.75;
  planner.profile.delete_share = 0.05;
  planner.profile.zipf = 0.99;
  snapshot.planner = planner;
  snapshot.calibration = "under way";
  const std::string text = StatsText("pipeline", snapshot, ServerOptions());
  Names(text);
  EXPECT_EQ(Value(text, "plan:chosen_by"), "planner");
  EXPECT_EQ(Value(text, "plan:calibration"), "under way");
  EXPECT_EQ(Value(text, "plan:stealing"), "yes");
  EXPECT_EQ(Value(text, "plan:device_batch_min"), "128");
  EXPECT_EQ(Value(text, "plan:changes"), "3");
  EXPECT_EQ(Value(text, "plan:last_change"), "GET share 0.95 to 1.00");
  EXPECT_EQ(Value(text, "plan:predicted_per_second"), "2000000");
  EXPECT_EQ(Value(text, "plan:measured_per_second"), "1500000");
  EXPECT_EQ(Value(text, "profile:store_share"), "0.200");
  EXPECT_EQ(Value(text, "profile:zipf"), "0.99");
}

// As memcached 1.6.18 answers them.
TEST(Stats, OtherArgumentsGetMemcachedsWords) {
  const std::pair<const char*, const char*> cases[] = {
      {"reset", "RESET\r\n"},
      {"reset foo", "RESET\r\n"},
      {"sizes", "STAT sizes_status disabled\r\nEND\r\n"},
      {"sizes_disable", "STAT sizes_status disabled\r\n"},
      {"detail", "CLIENT_ERROR usage: stats detail on|off|dump\r\n"},
      {"detail foo", "CLIENT_ERROR usage: stats detail on|off|dump\r\n"},
      {"detail on", "OK\r\n"},
      {"detail on extra", "OK\r\n"},
      {"detail off", "OK\r\n"},
      {"detail dump", "END\r\n"},
      {"cachedump", "CLIENT_ERROR bad command line\r\n"},
      {"cachedump 1", "CLIENT_ERROR bad command line\r\n"},
      {"cachedump a b", "CLIENT_ERROR bad command line format\r\n"},
      {"cachedump 999 0", "CLIENT_ERROR Illegal slab id\r\n"},
      {"cachedump 5 0 6", "END\r\n"},
      {"extstore", "END\r\n"},
      {"data", "END\r\n"},  // there is none
      {"foo", "ERROR\r\n"},
      {"noreply", "ERROR\r\n"},
      {"malloc", "ERROR\r\n"},
      {"dump", "ERROR\r\n"},
  };
  for (const auto& [arguments, reply] : cases) EXPECT_EQ(Text(arguments), reply) << arguments;
  ServerOptions options;
  options.allow_dump = false;
  EXPECT_EQ(Text("cachedump 1 0", options), "CLIENT_ERROR stats cachedump not allowed\r\n");
}

TEST(Stats, DataTellsOfTheDurableTier) {
  ServerSnapshot snapshot;
  snapshot.data.emplace();
  snapshot.data->lookups = 12;
  snapshot.data->level_files = "3 1";
  snapshot.data->failed = true;
  snapshot.data->db.log_syncs = 5;
  ServerOptions options;
  options.data_dir = "/var/lib/weft";
  options.sync_ms = 7;
  const std::string text = StatsText("data", snapshot, options);
  for (const char* line :
       {"STAT directory /var/lib/weft\r\n", "STAT sync_ms 7\r\n", "STAT takes_changes no\r\n",
        "STAT lookups 12\r\n", "STAT tables_by_level 3 1\r\n", "STAT log_syncs 5\r\n"}) {
    EXPECT_NE(text.find(line), text.npos) << line;
  }
  EXPECT_TRUE(text.ends_with("END\r\n"));
}

TEST(Stats, SomeArgumentsAskForMoreThanAnAnswer) {
  EXPECT_EQ(StatsActionOf("reset"), StatsAction::kReset);
  EXPECT_EQ(StatsActionOf(" detail  on "), StatsAction::kDetailOn);
  EXPECT_EQ(StatsActionOf("detail off"), StatsAction::kDetailOff);
  EXPECT_EQ(StatsActionOf("detail"), StatsAction::kNone);
  EXPECT_EQ(StatsActionOf("resets"), StatsAction::kNone);
  EXPECT_EQ(StatsActionOf(""), StatsAction::kNone);
}

TEST(ServerSnapshot, SumsWhatWorkersCounted) {
  protocol::CommandCounters counters;
  counters.cmd_get.Add(3);
  counters.total_items.Add(2);
  cache::SessionCounters sessions;
  sessions.retries.Add(7);
  pipeline::TaskTimes times;
  times.Add(pipeline::Task::kRead, 1000, 5);
  times.batches.Add(1);
  times.batch_sizes[2].Add(1);
  net::LoopStats loop;
  loop.bytes_in = 11;
  loop.connections_open = 1;
  ServerSnapshot s;
  for (int worker = 0; worker < 2; ++worker) {
    s.Add(counters);
    s.Add(sessions);
    s.Add(times);
    s.Add(loop);
  }
  EXPECT_EQ(s.commands.cmd_get, 6u);
  EXPECT_EQ(s.commands.total_items, 4u);
  EXPECT_EQ(s.sessions.retries, 14u);
  EXPECT_EQ(s.pipeline.queries[static_cast<size_t>(pipeline::Task::kRead)], 10u);
  EXPECT_GT(s.pipeline.time_ns[static_cast<size_t>(pipeline::Task::kRead)], 0u);
  EXPECT_EQ(s.pipeline.batch_sizes[2], 2u);
  EXPECT_EQ(s.net.bytes_in, 22u);
  EXPECT_EQ(s.net.connections_open, 2u);
}

TEST(StatsBaseline, CountersStartAgainAndLevelsStay) {
  StatsBaseline baseline;
  ServerSnapshot s = Example();
  EXPECT_EQ(baseline.Since(s).commands.cmd_get, 70u);
  baseline.Reset(s);
  s.commands.cmd_get += 5;
  s.net.bytes_in += 8;
  s.pipeline.batches += 2;
  const ServerSnapshot since = baseline.Since(s);
  EXPECT_EQ(since.commands.cmd_get, 5u);
  EXPECT_EQ(since.commands.get_hits, 0u);
  EXPECT_EQ(since.sessions.evictions, 0u);
  EXPECT_EQ(since.net.bytes_in, 8u);
  EXPECT_EQ(since.net.connections_opened, 0u);
  EXPECT_EQ(since.connections_rejected, 0u);
  EXPECT_EQ(since.pipeline.batches, 2u);
  EXPECT_EQ(since.pipeline.batch_sizes[0], 0u);
  EXPECT_EQ(since.net.connections_open, 3u);
  EXPECT_EQ(since.cache.items, 10u);
  EXPECT_EQ(since.cache.object_bytes, 1000u);
  EXPECT_EQ(since.limit_bytes, 64u << 20);
  EXPECT_EQ(since.uptime_s, 90u);
}

TEST(StatsBaseline, ACounterSeenEarlierDoesNotGoBelowZero) {
  StatsBaseline baseline;
  ServerSnapshot s = Example();
  baseline.Reset(s);
  s.commands.cmd_get -= 1;
  EXPECT_EQ(baseline.Since(s).commands.cmd_get, 0u);
}

TEST(Stats, ThePipelineTellsTheLastChangesOfThePlan) {
  ServerSnapshot s = Example();
  s.planner.emplace();
  s.planner->changes = 40;
  const auto plan = [](std::string_view text) {
    return planner::Candidate{.plan = std::move(pipeline::Plan::Parse(text).value())};
  };
  const char* const one = "[RV PP MM IN.search IN.insert IN.delete KC RD WR SD]cpu";
  const char* const two =
      "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu";
  s.AddChanges({{.at_ns = 1'000'000'000, .from = plan(one), .to = plan(two), .why = "more gets"},
                {.at_ns = 3'000'000'000, .from = plan(two), .to = plan(one), .why = "fewer gets"}},
               13'500'000'000);
  const std::string text = StatsText("pipeline", s, {});
  EXPECT_THAT(text, HasSubstr("STAT plan:change:39 12.5 s ago, from [RV PP MM IN.search"));
  EXPECT_THAT(text, HasSubstr("]cpu: fewer gets\r\n"));
  EXPECT_THAT(text, HasSubstr("STAT plan:change:40 10.5 s ago, from [RV PP MM]cpu"));
  EXPECT_EQ(s.plan_changes.size(), 2u);
}

TEST(Stats, LatencyIsASummaryAClassOrItsCells) {
  ServerSnapshot s = Example();
  s.latency.Of(LatencyClass::kGet)[LatencyCellOf(20'000)] = 99;
  s.latency.Of(LatencyClass::kSet)[LatencyCellOf(1'000'000)] = 1;
  const std::string summary = StatsText("latency", s, {});
  EXPECT_THAT(summary, HasSubstr("STAT all:requests 100\r\n"));
  EXPECT_THAT(summary, HasSubstr("STAT get:requests 99\r\n"));
  EXPECT_THAT(summary, HasSubstr("STAT get:p999_us 20.0\r\n"));
  EXPECT_THAT(summary, HasSubstr("STAT delete:max_us 0.0\r\n"));
  const std::string cells = StatsText("latency cells", s, {});
  EXPECT_THAT(cells, HasSubstr("STAT all:ns:19456-20479 99\r\n"));
  EXPECT_THAT(cells, HasSubstr("STAT set:ns:983040-1015807 1\r\n"));
  EXPECT_EQ(StatsText("latency x", s, {}), "CLIENT_ERROR usage: stats latency [cells]\r\n");
  StatsBaseline baseline;
  baseline.Reset(s);
  s.latency.Of(LatencyClass::kGet)[0] = 1;
  EXPECT_THAT(StatsText("latency", baseline.Since(s), {}), HasSubstr("STAT all:requests 1\r\n"));
}

}  // namespace
}  // namespace weft::server
