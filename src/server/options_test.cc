#include "server/options.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/options_test_kit.h"

namespace weft::server {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Whatever memcached calls it: whoever reads the complaint sees which flag to change.
TEST(Options, ComplaintsNameTheFlag) {
  EXPECT_EQ(Complaint({"-m", "0"}), "-m 0: Memory limit must be greater than 0");
  EXPECT_EQ(Complaint({"--memory-limit", "x"}), "-m x: Memory limit must be greater than 0");
  EXPECT_THAT(Complaint({"-c", "0"}), testing::StartsWith("-c 0: Maximum connections"));
  EXPECT_THAT(Complaint({"-o", "hashpower=99"}), testing::StartsWith("-o hashpower=99: "));
  EXPECT_THAT(Complaint({"-I", "1"}), testing::StartsWith("-I: "));
  EXPECT_THAT(Complaint({"-I", "64m"}), testing::StartsWith("-I, -m: "));
  EXPECT_THAT(Complaint({"-t", "513"}), testing::StartsWith("-t: "));
  EXPECT_THAT(Complaint({"-f", "nan"}), testing::StartsWith("-f nan: "));
  EXPECT_THAT(Complaint({"--sync-ms", "x"}), testing::StartsWith("--sync-ms must be a number"));
}

TEST(Options, DefaultsAreMemcachedsOnLoopback) {
  const ServerOptions options = Accepted({});
  ASSERT_THAT(options.tcp, SizeIs(1));
  EXPECT_EQ(options.tcp[0].host, "127.0.0.1");
  EXPECT_EQ(options.tcp[0].port, 11211);
  EXPECT_EQ(options.memory_bytes, uint64_t{64} << 20);
  EXPECT_EQ(options.item_bytes_max, uint64_t{1} << 20);
  EXPECT_EQ(options.connections_max, 1024u);
  EXPECT_EQ(options.threads, 4u);
  EXPECT_EQ(options.backlog, 1024);
  EXPECT_EQ(options.unix_mask, 0700);
  EXPECT_EQ(options.metrics_port, -1);
  EXPECT_TRUE(options.evict);
  EXPECT_TRUE(options.allow_flush_all);
  EXPECT_FALSE(options.allow_shutdown);
}

TEST(Options, ThePlanIsChosenUnlessItIsGiven) {
  EXPECT_FALSE(Accepted({"--device", "cpu"}).plan.has_value());
  EXPECT_FALSE(Accepted({"--device", "cpu", "--plan", "auto"}).plan.has_value());
  const std::string one_stage = pipeline::Plan::OneStageCpu().ToText();
  EXPECT_EQ(Accepted({"--plan", one_stage}).plan, pipeline::Plan::OneStageCpu());
  const ServerOptions options = Accepted(
      {"--device", "cpu", "--calibration", "/tmp/x", "--learn", "off", "--interval-us", "600"});
  EXPECT_EQ(options.calibration_path, "/tmp/x");
  EXPECT_FALSE(options.learns);
  EXPECT_EQ(options.interval_us, 600);
  EXPECT_TRUE(Accepted({"--device", "cpu"}).learns);
  EXPECT_THAT(Complaint({"--learn", "perhaps"}), HasSubstr("--learn must be on or off"));
  EXPECT_THAT(Complaint({"--interval-us", "9"}), HasSubstr("--interval-us"));
  EXPECT_THAT(Complaint({"--interval-us", "x"}), HasSubstr("--interval-us"));
  EXPECT_THAT(Complaint({"--calibration", ""}), HasSubstr("--calibration"));
}

TEST(Options, WhatSteersAPlannerThatIsNotThereHasNoEffect) {
  const std::vector<std::vector<std::string>> lines = {
      {"--learn", "off"},
      {"--device", "cpu", "--plan", pipeline::Plan::OneStageCpu().ToText()},
      {"--device", "cpu", "--data", "/tmp/never-made"},
  };
  for (const std::vector<std::string>& line : lines) {
    auto parsed = ParseOptions(line);
    ASSERT_TRUE(parsed) << parsed.error().ToString();
    ASSERT_THAT(parsed->notes, SizeIs(1)) << testing::PrintToString(line);
    EXPECT_THAT(parsed->notes[0], HasSubstr("has no effect"));
  }
}

TEST(Options, DataAndWhatSteersIt) {
  EXPECT_EQ(Accepted({}).data_dir, "");
  const ServerOptions options = Accepted({"--data", "/d"});
  EXPECT_EQ(options.data_dir, "/d");
  EXPECT_EQ(options.sync_ms, 100u);
  EXPECT_EQ(options.lookup_threads, 4u);
  EXPECT_EQ(Accepted({"--data=/d", "--sync-ms=0"}).sync_ms, 0u);
  EXPECT_EQ(Accepted({"--data=/d", "--lookup-threads=9"}).lookup_threads, 9u);
  EXPECT_EQ(options.compaction_device, "cpu");
  EXPECT_EQ(Accepted({"--data=/d", "--compaction-device=cuda:1"}).compaction_device, "cuda:1");
  EXPECT_THAT(Complaint({"--data=/d", "--compaction-device=gpu0"}), HasSubstr("cuda:N"));
  EXPECT_FALSE(options.compaction_direct_io);
  EXPECT_TRUE(Accepted({"--data=/d", "--compaction-direct-io"}).compaction_direct_io);
  EXPECT_THAT(Complaint({"--compaction-direct-io"}),
              HasSubstr("--compaction-direct-io needs --data"));
  EXPECT_THAT(Complaint({"--compaction-device", "auto"}),
              HasSubstr("--compaction-device needs --data"));
  EXPECT_THAT(Complaint({"--data", ""}), HasSubstr("--data"));
  EXPECT_THAT(Complaint({"-e", ""}), HasSubstr("-e needs a file"));
  EXPECT_THAT(Complaint({"--memory-file-on-disk"}), HasSubstr("needs -e"));
  EXPECT_THAT(Complaint({"--sync-ms", "5"}), HasSubstr("--sync-ms needs --data"));
  EXPECT_THAT(Complaint({"--lookup-threads", "5"}), HasSubstr("--lookup-threads needs --data"));
  EXPECT_THAT(Complaint({"--data=/d", "--sync-ms=soon"}), HasSubstr("milliseconds"));
  EXPECT_THAT(Complaint({"--data=/d", "--sync-ms=-1"}), HasSubstr("milliseconds"));
  EXPECT_THAT(Complaint({"--data=/d", "--sync-ms=3600001"}), HasSubstr("hour"));
  EXPECT_THAT(Complaint({"--data=/d", "--lookup-threads=0"}), HasSubstr("greater than 0"));
  EXPECT_THAT(Complaint({"--data=/d", "--lookup-threads=300"}), HasSubstr("256"));
  EXPECT_THAT(Complaint({"--data=/d", "-M"}), HasSubstr("-M cannot be used with --data"));
}

struct FlagCase {
  std::vector<std::string> flags;
  size_t notes = 0;
  size_t warnings = 0;
};

// Every flag of memcached 1.6 that is not refused, in its forms.
// clang-format off
const FlagCase kAccepted[] = {
    {{"-p", "11212"}}, {{"-p11212"}}, {{"--port=11212"}}, {{"--port", "11212"}}, {{"-p", "-1"}},
    {{"-U", "0"}}, {{"--udp-port=0"}}, {{"-U", "11211"}, 0, 1},
    {{"-s", "/tmp/w.sock"}}, {{"--unix-socket=/tmp/w.sock"}}, {{"-a", "0777"}},
    {{"--unix-mask=777"}},
    {{"-A"}}, {{"--enable-shutdown"}},
    {{"-l", "127.0.0.1"}}, {{"--listen=localhost"}}, {{"-l", "127.0.0.1,[::1]:11212"}},
    {{"-l", "notls:127.0.0.1:11212"}}, {{"-l", "proto[ascii]:tag[x]:127.0.0.1"}},
    {{"-l", "proto[binary]:127.0.0.1"}}, {{"-l", "tag[x]:proto[negotiating]:127.0.0.1"}},
    {{"-d"}}, {{"--daemon"}}, {{"-r"}}, {{"--enable-coredumps"}},
    {{"-u", "nobody"}}, {{"--user=nobody"}},
    {{"-m", "1024"}}, {{"--memory-limit=1024"}}, {{"-M"}}, {{"--disable-evictions"}},
    {{"-c", "10"}}, {{"--conn-limit=10"}}, {{"-k"}}, {{"--lock-memory"}},
    {{"-v"}}, {{"-vv"}}, {{"-vvv"}}, {{"--verbose"}},
    {{"-P", "/tmp/w.pid"}}, {{"--pidfile=/tmp/w.pid"}},
    {{"-f", "1.05"}, 1}, {{"--slab-growth-factor=2"}, 1},
    {{"-n", "96"}, 1}, {{"--slab-min-size=96"}, 1},
    {{"-L"}, 1}, {{"--enable-largepages"}, 1}, {{"-D", ":"}}, {{"-D:"}},
    {{"-t", "2"}}, {{"--threads=2"}}, {{"-R", "40"}, 1}, {{"--max-reqs-per-event=40"}, 1},
    {{"-C"}, 1}, {{"--disable-cas"}, 1}, {{"-b", "64"}}, {{"--listen-backlog=64"}},
    {{"-B", "ascii"}}, {{"-B", "auto"}}, {{"-B", "binary"}}, {{"--protocol=ascii"}},
    {{"-I", "4m"}}, {{"-I", "2048k"}}, {{"--max-item-size=500000"}},
    {{"-Y", "file"}}, {{"--auth-file=file"}}, {{"-S"}}, {{"--enable-sasl"}},
    {{"-Y", "file", "-l", "proto[negotiating]:127.0.0.1"}, 0, 1},
    {{"-F"}}, {{"--disable-flush-all"}}, {{"-X"}}, {{"--disable-dumping"}},
    {{"-W"}}, {{"--disable-watch"}},
    {{"-e", "/tmp/w.mem"}}, {{"--memory-file=/tmp/w.mem"}},
    {{"-e", "/tmp/w.mem", "--memory-file-on-disk"}},
    {{"-N", "4"}, 1}, {{"--napi-ids=4"}, 1}, {{"--napi_ids=4"}, 1},
    {{"-o", "modern"}}, {{"--extended=modern"}}, {{"--extended", "modern"}},
    {{"-vMA", "-p11212"}}, {{"-MFXp", "11212"}},
};
// clang-format on

TEST(Options, TakeEveryFlagOfMemcached) {
  for (const FlagCase& one : kAccepted) {
    SCOPED_TRACE(testing::PrintToString(one.flags));
    Result<ParsedOptions> parsed = ParseOptions(one.flags);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().ToString();
    EXPECT_EQ(parsed->action, ParsedOptions::Action::kServe);
    EXPECT_THAT(parsed->notes, SizeIs(one.notes));
    EXPECT_THAT(parsed->warnings, SizeIs(one.warnings));
  }
}

TEST(Options, TakeEverySuboptionOfMemcached) {
  // clang-format off
  for (const char* suboption :
       {"maxconns_fast", "no_maxconns_fast", "hashpower=20", "tail_repair_time=0",
        "hash_algorithm=murmur3", "hash_algorithm=jenkins", "hash_algorithm=xxh3", "lru_crawler",
        "no_lru_crawler", "lru_crawler_sleep=100", "lru_crawler_tocrawl=0",
        "read_buf_mem_limit=16", "resp_obj_mem_limit=16", "lru_maintainer", "no_lru_maintainer",
        "hot_lru_pct=20", "warm_lru_pct=40", "hot_max_factor=0.2", "warm_max_factor=2.0",
        "temporary_ttl=61", "idle_timeout=60", "slab_chunk_max=512", "watcher_logbuf_size=256",
        "worker_logbuf_size=64", "track_sizes", "no_hashexpand", "modern", "no_modern",
        "sock_cookie_id=3", "slab_reassign", "no_slab_reassign", "slab_automove",
        "slab_automove=1", "no_slab_automove", "slab_automove_ratio=0.8",
        "slab_automove_window=30", "slab_automove_freeratio=0.01", "slab_sizes=64-128-256",
        "no_chunked_items", "inline_ascii_resp", "no_inline_ascii_resp", "drop_privileges",
        "no_drop_privileges", "relaxed_privileges", "ext_path=/tmp/x:1G", "ext_page_size=64",
        "ext_wbuf_size=4",
        "ext_threads=1", "ext_io_depth=1", "ext_item_size=512", "ext_item_age=60",
        "ext_low_ttl=0", "ext_drop_unread", "ext_recache_rate=2000", "ext_compact_under=1",
        "ext_drop_under=1", "ext_max_frag=0.8", "ext_max_sleep=1000", "ssl_chain_cert=x",
        "ssl_key=x", "ssl_keyformat=PEM", "ssl_verify_mode=0", "ssl_ciphers=x", "ssl_ca_cert=x",
        "ssl_wbuf_size=16", "ssl_session_cache", "ssl_kernel_tls", "ssl_min_version=tlsv1.2"}) {
    // clang-format on
    Accepted({"-o", suboption});
  }
  Result<ParsedOptions> parsed = ParseOptions({"-o", "hot_lru_pct=30,idle_timeout=60,,modern"});
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->server.idle_timeout_s, 60u);
  EXPECT_THAT(parsed->notes, SizeIs(1));
  EXPECT_THAT(parsed->notes[0], HasSubstr("-o hot_lru_pct has no effect: "));
  EXPECT_EQ(Accepted({"-o", "hashpower=20"}).expected_items, uint64_t{1} << 20);
}

// `stats settings` shows them so.
TEST(Options, WhatHasNoEffectIsKeptInMemcachedsForm) {
  const UnusedSettings unused =
      Accepted({"-f", "1.5", "-o", "hot_max_factor=0.3,warm_max_factor=3,ext_max_frag=0.5", "-o",
                "slab_automove_freeratio=0.05,slab_chunk_max=16384,watcher_logbuf_size=512", "-o",
                "worker_logbuf_size=128,read_buf_mem_limit=64,ext_wbuf_size=8,ssl_wbuf_size=8",
                "-o", "ssl_key=k,ssl_min_version=3,hot_lru_pct=030"})
          .unused;
  EXPECT_EQ(unused.growth_factor, "1.50");
  const std::map<std::string, std::string, std::less<>> expected = {
      {"hot_max_factor", "0.30"},
      {"warm_max_factor", "3.00"},
      {"ext_max_frag", "0.50"},
      {"slab_automove_freeratio", "0.050"},
      {"slab_chunk_max", "16384"},
      {"watcher_logbuf_size", "524288"},
      {"worker_logbuf_size", "131072"},
      {"read_buf_mem_limit", "67108864"},
      {"ext_wbuf_size", "8388608"},
      {"ssl_wbuf_size", "8192"},
      {"ssl_key", "k"},
      {"ssl_min_version", "tlsv1.3"},
      {"hot_lru_pct", "30"}};
  EXPECT_EQ(unused.extended, expected);
}

// The last word holds, and no_modern turns all off.
TEST(Options, WhatIsTurnedOffIsKeptForTheReports) {
  const auto given = [](const char* list) {
    const UnusedSettings unused = Accepted({"-o", list}).unused;
    return std::vector<bool>{unused.slab_reassign, unused.lru_crawler, unused.lru_maintainer};
  };
  using Is = std::vector<bool>;
  EXPECT_EQ(given("modern"), Is({true, true, true}));
  EXPECT_EQ(given("no_lru_crawler"), Is({true, false, true}));
  EXPECT_EQ(given("no_lru_maintainer,no_slab_reassign"), Is({false, true, false}));
  EXPECT_EQ(given("no_lru_crawler,lru_crawler"), Is({true, true, true}));
  EXPECT_EQ(given("no_modern"), Is({false, false, false}));
  EXPECT_EQ(given("no_modern,lru_maintainer"), Is({false, false, true}));
  EXPECT_EQ(given("lru_crawler,no_modern"), Is({false, false, false}));
  EXPECT_EQ(given("no_lru_crawler,modern"), Is({true, false, true}));
}

TEST(Options, FlagsTakeEffect) {
  // clang-format off
  const ServerOptions options =
      Accepted({"-p", "1", "-m", "256", "-M", "-c", "7", "-k", "-vv", "-t", "3", "-I", "2m", "-F",
                "-X", "-W", "-A", "-P", "x.pid", "-d", "-r", "-b", "9", "-u", "someone", "--net",
                "epoll", "--metrics-port=9150", "--metrics-address", "::1"});
  // clang-format on
  EXPECT_EQ(options.tcp.at(0).port, 1);
  EXPECT_EQ(options.memory_bytes, uint64_t{256} << 20);
  EXPECT_FALSE(options.evict);
  EXPECT_EQ(options.connections_max, 7u);
  EXPECT_TRUE(options.lock_memory);
  EXPECT_EQ(options.verbosity, 2);
  EXPECT_EQ(options.threads, 3u);
  EXPECT_EQ(options.item_bytes_max, uint64_t{2} << 20);
  EXPECT_FALSE(options.allow_flush_all);
  EXPECT_FALSE(options.allow_dump);
  EXPECT_FALSE(options.allow_watch);
  EXPECT_TRUE(options.allow_shutdown);
  EXPECT_EQ(options.pid_path, "x.pid");
  EXPECT_TRUE(options.daemonize);
  EXPECT_TRUE(options.core_dumps);
  EXPECT_EQ(options.backlog, 9);
  EXPECT_EQ(options.user, "someone");
  EXPECT_EQ(options.net_kind, net::EventLoop::Kind::kEpoll);
  EXPECT_EQ(Accepted({"--index=set-associative"}).index_policy, IndexPolicy::kSetAssociative);
  EXPECT_EQ(options.metrics_port, 9150);
  EXPECT_EQ(options.metrics_address, "::1");
}

TEST(Options, TheLastOfARepeatedFlagHolds) {
  EXPECT_EQ(Accepted({"-m", "128", "-m", "256"}).memory_bytes, uint64_t{256} << 20);
}

TEST(Options, ListenTakesSeveralAddressesWithTheirPorts) {
  const ServerOptions options =
      Accepted({"-l", "127.0.0.1,127.0.0.2:5", "-l", "[::1]:6", "-l", "::1", "-p", "4"});
  ASSERT_THAT(options.tcp, SizeIs(4));
  EXPECT_EQ(options.tcp[0].port, 4);
  EXPECT_EQ(options.tcp[1].host, "127.0.0.2");
  EXPECT_EQ(options.tcp[1].port, 5);
  EXPECT_EQ(options.tcp[2].host, "::1");
  EXPECT_EQ(options.tcp[2].port, 6);
  EXPECT_EQ(options.tcp[3].host, "::1");
  EXPECT_EQ(options.tcp[3].port, 4);
  EXPECT_EQ(options.listen_text, "127.0.0.1,127.0.0.2:5,[::1]:6,::1");
}

TEST(Options, EachAddressMayNameItsProtocol) {
  using protocol::Dialect;
  const ServerOptions options =
      Accepted({"-l", "proto[ascii]:127.0.0.1,tag[x]:proto[binary]:127.0.0.2", "-B", "binary", "-l",
                "proto[negotiating]:127.0.0.3,127.0.0.4"});
  ASSERT_THAT(options.tcp, SizeIs(4));
  EXPECT_EQ(options.tcp[0].dialect, Dialect::kText);
  EXPECT_EQ(options.tcp[1].dialect, Dialect::kBinary);
  EXPECT_EQ(options.tcp[2].dialect, Dialect::kAny);
  EXPECT_EQ(options.tcp[3].dialect, Dialect::kBinary);
  EXPECT_EQ(Accepted({}).tcp.at(0).dialect, Dialect::kAny);
  EXPECT_THAT(Complaint({"-l", "proto[proxy]:127.0.0.1"}), HasSubstr("Invalid protocol spec"));
}

TEST(Options, LoggingInGoesWithOneProtocol) {
  using protocol::Dialect;
  EXPECT_EQ(Accepted({"-Y", "file"}).dialect, Dialect::kText);
  EXPECT_EQ(Accepted({"-Y", "file"}).auth_path, "file");
  EXPECT_EQ(Accepted({"-Y", "file", "-B", "ascii"}).tcp.at(0).dialect, Dialect::kText);
  EXPECT_EQ(Accepted({"-S"}).dialect, Dialect::kBinary);
  EXPECT_TRUE(Accepted({"--enable-sasl", "-B", "binary"}).sasl);
  const std::string no_text = "You cannot allow the ASCII protocol while using SASL.";
  const std::string no_binary =
      "You cannot allow the BINARY protocol while using ascii authentication tokens.";
  EXPECT_EQ(Complaint({"-S", "-B", "ascii"}), no_text);
  EXPECT_EQ(Complaint({"-S", "-B", "auto"}), no_text);
  EXPECT_EQ(Complaint({"-S", "-l", "proto[ascii]:127.0.0.1"}), no_text);
  EXPECT_EQ(Complaint({"-Y", "file", "-B", "binary"}), no_binary);
  EXPECT_EQ(Complaint({"-Y", "file", "-B", "auto"}), no_binary);
  EXPECT_EQ(Complaint({"-Y", "file", "-l", "proto[binary]:127.0.0.1"}), no_binary);
  EXPECT_THAT(Complaint({"-Y", "file", "-U", "11211"}), HasSubstr("Cannot use UDP"));
  EXPECT_THAT(Complaint({"-S", "-U", "11211"}), HasSubstr("Cannot use UDP"));
}

TEST(Options, AUnixSocketTurnsTheNetworkOff) {
  const ServerOptions options = Accepted({"-s", "/tmp/w.sock", "-a", "770", "-p", "0"});
  EXPECT_THAT(options.tcp, IsEmpty());
  EXPECT_EQ(options.unix_path, "/tmp/w.sock");
  EXPECT_EQ(options.unix_mask, 0770);
}

TEST(Options, PortMinusOneLetsTheSystemPick) {
  EXPECT_EQ(Accepted({"-p", "-1"}).tcp.at(0).port, 0);
}

TEST(Options, ListeningBeyondThisMachineIsWarnedOf) {
  for (const char* address : {"0.0.0.0", "*", "192.0.2.1", "127.0.0.1,0.0.0.0:5"}) {
    Result<ParsedOptions> parsed = ParseOptions({"-l", address});
    ASSERT_TRUE(parsed.has_value());
    EXPECT_THAT(parsed->warnings, Contains(HasSubstr("WITHOUT AUTHENTICATION"))) << address;
  }
  for (const char* address : {"127.0.0.1", "127.9.9.9:5", "::1", "[::1]:5"}) {
    Result<ParsedOptions> parsed = ParseOptions({"-l", address});
    ASSERT_TRUE(parsed.has_value());
    EXPECT_THAT(parsed->warnings, IsEmpty()) << address;
  }
}

TEST(Options, BadValuesAreRefusedInMemcachedsWords) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"-p", "abc"}, "Invalid port number: \"abc\""},
      {{"-p", "70000"}, "Invalid port number 70000."},
      {{"-p", ""}, "Invalid port number"},
      {{"-p", "0"}, "nothing to listen on"},
      {{"-U", "99999"}, "Invalid port number 99999."},
      {{"-I", "512"}, "Item max size cannot be less than 1024 bytes."},
      {{"-I", "4x"}, "Item max size is not a number"},
      {{"-I", "2000m"}, "Cannot set item size limit higher than 1/2 of memory max."},
      {{"-I", "2g", "-m", "9000"}, "Cannot set item size limit higher than a gigabyte."},
      {{"-m", "1"}, "Cannot set item size limit higher than 1/2 of memory max."},
      {{"-m", "0"}, "Memory limit must be greater than 0"},
      {{"-m", "12x"}, "Memory limit must be greater than 0"},
      {{"-t", "0"}, "Number of threads must be greater than 0"},
      {{"-t", "100000"}, "Number of threads must not be greater than"},
      {{"-c", "0"}, "Maximum connections must be greater than 0"},
      {{"-c", "-5"}, "Maximum connections must be greater than 0"},
      {{"-b", "x"}, "Backlog must be greater than 0"},
      {{"-f", "1"}, "Factor must be greater than 1"},
      {{"-n", "0"}, "Chunk size must be greater than 0"},
      {{"-R", "0"}, "Number of requests per event must be greater than 0"},
      {{"-B", "foo"}, "Invalid value for binding protocol: foo"},
      {{"-a", "999"}, "Invalid access mask"},
      {{"-D", ""}, "No delimiter specified"},
      {{"-N", "9"}, "Number of napi_ids(9) cannot be greater than number of threads(4)"},
      {{"-l", ""}, "-l needs an address"},
      {{"-l", "127.0.0.1:99999"}, "not a port"},
      {{"-o", "foo"}, "Illegal suboption \"foo\""},
      {{"-o", "idle_timeout"}, "Missing numeric argument for idle_timeout"},
      {{"-o", "idle_timeout=x"}, "could not parse argument to \"idle_timeout\""},
      {{"-o", "hash_algorithm=foo"}, "Unknown hash_algorithm option (jenkins, murmur3, xxh3)"},
      {{"-o", "hashpower=5"}, "Initial hashtable multiplier of 5 is too low"},
      {{"-o", "hashpower=99"}, "Initial hashtable multiplier of 99 is too high"},
      {{"--net=fast"}, "--net must be auto"},
      {{"--index=tree"}, "--index must be cuckoo"},
      {{"--metrics-port=-1"}, "Invalid port number"},
      {{"-Q"}, "not expected"},
      {{"--foo"}, "not expected"},
      {{"extra"}, "not expected"},
      {{"-p"}, "missing"},
  };
  for (const auto& [flags, words] : cases) EXPECT_THAT(Complaint(flags), HasSubstr(words));
}

// Every option that takes a number, one bit longer than 64 and longer still.
TEST(Options, NumbersThatAreTooLongAreRefusedForThat) {
  for (const std::string number : {"18446744073709551616", "99999999999999999999999999999999"}) {
    for (const char* flag :
         {"-m", "-c", "-b", "-t", "-n", "-R", "-N", "-I", "--device-batch-min"}) {
      const std::string said = Complaint({flag, number});
      EXPECT_EQ(said, std::string(flag) + " " + number + ": the number is too large");
    }
    EXPECT_THAT(Complaint({"--data=/d", "--lookup-threads", number}), HasSubstr("is too large"));
    for (const char* suboption :
         {"hashpower", "idle_timeout", "tail_repair_time", "hot_lru_pct", "ext_item_age"}) {
      EXPECT_THAT(Complaint({"-o", suboption + ("=" + number)}), HasSubstr("is too large"));
    }
    for (const char* flag : {"-p", "-U", "--metrics-port"})
      EXPECT_THAT(Complaint({flag, number}), HasSubstr("Invalid port number"));
    EXPECT_THAT(Complaint({"-a", number}), HasSubstr("Invalid access mask"));
    EXPECT_THAT(Complaint({"--interval-us", number}), HasSubstr("must be from 10 to"));
    EXPECT_THAT(Complaint({"--data=/d", "--sync-ms", number}), HasSubstr("at most an hour"));
  }
  EXPECT_THAT(Complaint({"-I", "5000000000"}), HasSubstr("is too large"));
  EXPECT_THAT(Complaint({"-o", "ext_wbuf_size=18446744073709551615"}), HasSubstr("is too large"));
  EXPECT_THAT(Complaint({"-f", "1e999"}), HasSubstr("out of range"));
  EXPECT_THAT(Complaint({"-o", "hot_max_factor=1e999"}), HasSubstr("out of range"));
  EXPECT_THAT(Complaint({"-o", "hot_max_factor=inf"}), HasSubstr("could not parse"));
  EXPECT_THAT(Complaint({"-c", "-18446744073709551616"}), HasSubstr("greater than 0"));
}

TEST(Options, AnIndexThatDropsItemsIsRefusedWhereNoneMayBeDropped) {
  EXPECT_THAT(Complaint({"--index", "set-associative", "-M"}),
              testing::StartsWith("-M cannot be used with --index set-associative: "));
}

TEST(Options, VersionAndHelpPrint) {
  for (const char* flag : {"-V", "--version"}) {
    Result<ParsedOptions> parsed = ParseOptions({flag});
    ASSERT_TRUE(parsed.has_value()) << flag;
    EXPECT_EQ(parsed->action, ParsedOptions::Action::kPrint);
    EXPECT_EQ(parsed->text, "weft 0.1.0\n");
  }
  for (const char* flag : {"-h", "--help"}) {
    Result<ParsedOptions> parsed = ParseOptions({flag});
    ASSERT_TRUE(parsed.has_value()) << flag;
    EXPECT_EQ(parsed->action, ParsedOptions::Action::kPrint);
    EXPECT_THAT(parsed->text, HasSubstr("Usage: weft serve [OPTIONS]"));
    EXPECT_THAT(parsed->text, HasSubstr("--memory-limit"));
    EXPECT_THAT(parsed->text, HasSubstr("idle_timeout"));
  }
}

TEST(Options, AWordThatIsNoFlagIsRefused) {
  EXPECT_EQ(Complaint({"help"}), "The following argument was not expected: help");
  EXPECT_EQ(Complaint({"--bogus"}), "The following argument was not expected: --bogus");
}

TEST(Options, OurReleaseIsTheProjects) {
  std::ifstream file(WEFT_SOURCE_DIR "/CMakeLists.txt");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("VERSION " + std::string(kWeftVersion)));
  // Clients split this at the dots and read numbers.
  EXPECT_EQ(kVersionText.find_first_not_of("0123456789."), kVersionText.npos);
}

}  // namespace
}  // namespace weft::server
