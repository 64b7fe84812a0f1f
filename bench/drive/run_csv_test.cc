#include "bench/drive/run_csv.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::bench {
namespace {

std::vector<std::string> Split(const std::string& row) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (const char c : row) {
    if (c == '"') is_quoted = !is_quoted;
    if (c == ',' && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::string FieldOf(const nlohmann::json& record, const std::string& column) {
  const std::vector<std::string> names = Split(CsvHead()), fields = Split(CsvRow(record));
  EXPECT_EQ(names.size(), fields.size());
  const auto at = std::find(names.begin(), names.end(), column);
  EXPECT_NE(at, names.end()) << column;
  return at == names.end() ? "" : fields.at(static_cast<size_t>(at - names.begin()));
}

TEST(RunCsv, HasEachColumnOnce) {
  std::vector<std::string> names = Split(CsvHead());
  EXPECT_GT(names.size(), 40u);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names.end(), std::adjacent_find(names.begin(), names.end()));
}

TEST(RunCsv, SaysWhatTheRecordSays) {
  const nlohmann::json record = {
      {"date", "2026-11-25T00:00:00Z"},
      {"target", {{"name", "start:weft"}, {"title", "Weft, the \"cache\""}}},
      {"load", {{"depth", 32}, {"rate_per_s", nullptr}}},
      {"result", {{"operations_per_s", 1234.5}, {"latency_us", {{"all", {{"p99", 17.25}}}}}}},
      {"meters",
       {{"cpu_s", {{"value", 1.5}, {"unit", "s"}, {"source", "/proc"}}},
        {"energy_j", {{"unavailable", "no RAPL, no NVML"}}}}}};
  EXPECT_EQ("2026-11-25T00:00:00Z", FieldOf(record, "date"));
  EXPECT_EQ("start:weft", FieldOf(record, "target"));
  EXPECT_EQ("\"Weft, the \"\"cache\"\"\"", FieldOf(record, "target_title"));
  EXPECT_EQ("32", FieldOf(record, "depth"));
  EXPECT_EQ("1234.5", FieldOf(record, "operations_per_s"));
  EXPECT_EQ("17.25", FieldOf(record, "p99_us"));
  EXPECT_EQ("1.5", FieldOf(record, "cpu_s"));
  EXPECT_EQ("", FieldOf(record, "energy_modelled"));
  const nlohmann::json modelled = {
      {"setting", "no hog"},
      {"sweep", {{"part", "curve"}, {"holds", true}}},
      {"meters", {{"energy_j", {{"value", 2.5}, {"modelled", true}}}}}};
  EXPECT_EQ("2.5", FieldOf(modelled, "energy_j"));
  EXPECT_EQ("true", FieldOf(modelled, "energy_modelled"));
  EXPECT_EQ("no hog", FieldOf(modelled, "setting"));
  EXPECT_EQ("curve", FieldOf(modelled, "sweep_part"));
  EXPECT_EQ("true", FieldOf(modelled, "sweep_holds"));
}

TEST(RunCsv, WhatIsNotThereIsNoNumber) {
  const nlohmann::json record = {{"load", {{"rate_per_s", nullptr}}},
                                 {"meters", {{"energy_j", {{"unavailable", "no RAPL"}}}}}};
  EXPECT_EQ("", FieldOf(record, "rate_per_s"));
  EXPECT_EQ("", FieldOf(record, "operations"));
  EXPECT_EQ("unavailable", FieldOf(record, "energy_j"));
  EXPECT_EQ("unavailable", FieldOf(record, "instructions"));
}

}  // namespace
}  // namespace weft::bench
