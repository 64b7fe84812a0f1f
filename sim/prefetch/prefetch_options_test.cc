#include "sim/prefetch/prefetch_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "sim/prefetch/prefetch_test_kit.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

TEST(PrefetchOptions, PacusByName) {
  EXPECT_EQ(ParsePacu("off").value(), PacuChoice{PacuKind::kOff});
  EXPECT_EQ(ParsePacu("exhausted").value(), PacuChoice{PacuKind::kExhausted});
  EXPECT_EQ(ParsePacu("insitu").value(), PacuChoice{PacuKind::kInSitu});
  EXPECT_EQ(ParsePacu("hittable").value(), PacuChoice{PacuKind::kHitTable});
  EXPECT_EQ(ParsePacu("oracle:0").value(), (PacuChoice{PacuKind::kOracle, 0}));
  EXPECT_EQ(ParsePacu("oracle:0.25").value(), (PacuChoice{PacuKind::kOracle, 0.25}));
  EXPECT_EQ(ParsePacu("oracle:1").value(), (PacuChoice{PacuKind::kOracle, 1}));
  for (const char* bad : {"", "of", "exhausted:2", "oracle", "Oracle:1", "insitu "}) {
    const auto parsed = ParsePacu(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(std::string(parsed.error().message()),
                HasSubstr("off, exhausted, insitu, hittable, oracle:ACCURACY"));
  }
  for (const char* bad : {"oracle:", "oracle:1.1", "oracle:-0.1", "oracle:x", "oracle:0.5x",
                          "oracle:nan", "oracle: 1"}) {
    const auto parsed = ParsePacu(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_THAT(std::string(parsed.error().message()), HasSubstr("from 0 to 1"));
  }
}

TEST(PrefetchOptions, PscusByName) {
  EXPECT_EQ(ParsePscu("exact").value(), PscuChoice{PscuKind::kExact});
  EXPECT_EQ(ParsePscu("runtime").value(), PscuChoice{PscuKind::kRuntime});
  EXPECT_EQ(ParsePscu("dynamic").value(), PscuChoice{PscuKind::kDynamic});
  EXPECT_EQ(ParsePscu("static:1").value(), (PscuChoice{PscuKind::kStatic, 1}));
  EXPECT_EQ(ParsePscu("static:65536").value(), (PscuChoice{PscuKind::kStatic, 65536}));
  for (const char* bad : {"", "static", "exact:1", "STATIC:1"}) {
    const auto parsed = ParsePscu(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_THAT(std::string(parsed.error().message()),
                HasSubstr("exact, runtime, static:BYTES, dynamic"));
  }
  for (const char* bad : {"static:", "static:0", "static:65537", "static:1.5", "static:-1",
                          "static:99999999999999999999", "static:1k"}) {
    const auto parsed = ParsePscu(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_THAT(std::string(parsed.error().message()), HasSubstr("from 1 to 65536"));
  }
}

Status Make(const PrefetchOptions& options, const StoreShape& shape, const TableImage& table,
            int channels = 2) {
  const auto made = MakePrefetchers(options, shape, table, channels, 1);
  return made ? Status::Ok() : made.error();
}

TEST(PrefetchOptions, OneUnitAChannelOrNone) {
  const StoreShape shape = SmallShape();
  const TableImage table = SmallTable(shape);
  for (const int channels : {1, 2, 4}) {
    for (const char* pacu : {"exhausted", "insitu", "hittable", "oracle:0.5"}) {
      const auto made = MakePrefetchers({.pacu = pacu}, shape, table, channels, 1);
      ASSERT_TRUE(made) << pacu;
      EXPECT_EQ(made.value().units.size(), static_cast<size_t>(channels));
      EXPECT_EQ(made.value().counts.size(), static_cast<size_t>(channels));
    }
  }
  const auto off = MakePrefetchers({}, shape, table, 2, 1);
  ASSERT_TRUE(off);
  EXPECT_TRUE(off.value().units.empty());
  EXPECT_EQ(off.value().hit_table_bytes, 0u);
}

TEST(PrefetchOptions, FiguresOutOfRangeAreRefusedByName) {
  const StoreShape shape = SmallShape();
  const TableImage table = SmallTable(shape);
  const std::vector<std::pair<PrefetchOptions, std::string>> bad = {
      {{.pacu = "none"}, "--pacu"},
      {{.pscu = "none"}, "--pscu"},
      {{.exhausted_max = 0}, "--exhausted-max: 0"},
      {{.insitu_ns = -1}, "--t-insitu: -1"},
      {{.pacu_units = 0}, "--pacu-units: 0"},
      {{.pending_max = 0}, "--pacu-pending: 0"},
      {{.hit_table_ns = -5}, "--t-ht: -5"},
      {{.hit_table_buckets = -1}, "--ht-buckets: -1"},
      {{.size_ns = int64_t{1} << 40}, "--t-size: 1099511627776"},
      {{.spec_first = 0}, "--spec-first: 0"},
      {{.size_mode = "bytes"}, "--size-mode 'bytes'"},
      {{.prof_window = 0}, "--prof-window: 0"},
      {{.shortest_read_ps = -1}, "shortest read: -1"},
  };
  for (const auto& [options, message] : bad) {
    const Status status = Make(options, shape, table);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST(PrefetchOptions, StoresThatUnitsCannotKnowAreRefused) {
  const PrefetchOptions options{.pacu = "exhausted"};
  const StoreShape shape = SmallShape();
  const TableImage table = SmallTable(shape);
  EXPECT_TRUE(Make(options, shape, table).ok());
  const auto refuses = [&](StoreShape wrong, const TableImage& of, const char* why) {
    const Status status = Make(options, wrong, of);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << why;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  };
  StoreShape wrong = shape;
  wrong.slots_per_bucket = 9;
  refuses(wrong, TableImage(64, 9), "9 slots");
  refuses(shape, TableImage(63, 8), "63 buckets of 8 slots, not 64 of 8");
  refuses(shape, TableImage(64, 7), "64 buckets of 7 slots, not 64 of 8");
  wrong = shape;
  wrong.table_limit -= 64;
  refuses(wrong, table, "64 buckets do not");
  wrong = shape;
  wrong.table_base += 8;
  wrong.table_limit += 8;
  refuses(wrong, table, "64 buckets do not");
  wrong = shape;
  wrong.log_limit = wrong.log_base;
  refuses(wrong, table, "objects from");
  wrong = shape;
  wrong.log_base = 0;
  refuses(wrong, table, "above an index");
  EXPECT_EQ(Make(options, shape, table, 0).code(), Code::kInvalidArgument);
}

TEST(PrefetchOptions, ComeFromACommandLineAndGoToTheReport) {
  CLI::App app;
  PrefetchOptions options;
  AddPrefetch(&app, &options);
  app.parse(
      "--pacu oracle:0.5 --pscu static:256 --exhausted-max 3 --t-insitu 30 --pacu-units 2 "
      "--pacu-pending 8 --t-ht 20 --ht-buckets 1000 --t-size 4 --spec-first 2 --size-mode raw "
      "--prof-window 64");
  EXPECT_EQ(ConfigOf(options).dump(),
            R"({"pacu":"oracle:0.5","pscu":"static:256","exhausted_max":3,"t_insitu":30,)"
            R"("pacu_units":2,"pacu_pending":8,"t_ht":20,"ht_buckets":1000,"t_size":4,)"
            R"("spec_first":2,"size_mode":"raw","prof_window":64})");
  EXPECT_THROW(app.parse("--ht-buckets many"), CLI::ParseError);
}

}  // namespace
}  // namespace weft::sim
