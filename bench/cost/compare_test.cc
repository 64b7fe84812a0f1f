// Ratios of figures, and whether they hold.
//
// Threads   one.
#include "bench/cost/compare.h"

#include <sstream>

#include <gtest/gtest.h>

#include "bench/cost/compare_text.h"
#include "bench/cost/sample_results_test_kit.h"

namespace weft::bench {
namespace {

using nlohmann::json;

ServerResults ServerOf(const std::string& name, const std::vector<json>& lines) {
  std::istringstream in(LinesOf(lines));
  auto runs = ReadResults(in, name);
  EXPECT_TRUE(runs) << (runs ? "" : runs.error().ToString());
  return {name, std::move(*runs)};
}

// Three repetitions around `operations_per_s`, each of 10 s.
std::vector<json> Repetitions(const std::string& machine, double operations_per_s,
                              double joules = 0) {
  std::vector<json> lines;
  for (int i = 0; i < 3; ++i) {
    json line = SampleLine(machine, operations_per_s * (0.98 + 0.02 * i), i);
    lines.push_back(joules > 0 ? WithEnergy(line, joules) : line);
  }
  return lines;
}

CompareOptions Options() {
  CompareOptions options;
  options.files = {"-"};
  options.lifetimes_years = {3};
  options.electricity_dollars_per_kwh = {0.10};
  return options;
}

CompareResult Compared(const std::vector<ServerResults>& servers, const CompareOptions& options) {
  auto result = CompareServers(servers, options);
  EXPECT_TRUE(result) << (result ? "" : result.error().ToString());
  return result ? *result : CompareResult{};
}

const Comparison& Named(const ServerPair& pair, const std::string& name) {
  static const Comparison kNone{Winner::kNone, 0, "no such comparison"};
  for (const auto& [of, comparison] : pair.comparisons)
    if (of == name) return comparison;
  ADD_FAILURE() << "no comparison " << name;
  return kNone;
}

// By hand: 1 M op/s at 1,000 J in 10 s are 100 W and 10,000 op/J; 100 M op/s need 100 servers: 100
// x 0.1 kW x $0.10 = $1 an hour; with $2,628 each over 26,280 h another $10.
TEST(Compare, FiguresOfMeasuredEnergy) {
  CompareOptions options = Options();
  options.prices = {2'628};
  const CompareResult result = Compared({ServerOf("a", Repetitions("m", 1e6, 1'000))}, options);
  ASSERT_EQ(1u, result.cases.size());
  const ServerFigures& a = result.cases[0].servers[0];
  EXPECT_DOUBLE_EQ(1e6, a.throughput_per_s.samples.Median());
  EXPECT_DOUBLE_EQ(0.98e6, a.throughput_per_s.samples.Min());
  EXPECT_DOUBLE_EQ(80, a.latency_us.at("p99").samples.Median());
  EXPECT_DOUBLE_EQ(100, a.power_w.samples.Median());
  EXPECT_DOUBLE_EQ(1e4, a.operations_per_j.samples.Median());
  EXPECT_FALSE(a.power_w.modelled);
  EXPECT_EQ(100, a.servers.samples.Median());
  EXPECT_EQ(103, a.servers.samples.Max());  // 100 M by 0.98 M, rounded up
  ASSERT_EQ(2u, a.costs.size());
  EXPECT_FALSE(a.costs[0].price);
  EXPECT_NEAR(1, a.costs[0].dollars_per_h.samples.Median(), 1e-9);
  EXPECT_NEAR(11, a.costs[1].dollars_per_h.samples.Median(), 1e-9);
}

// 20 CPU seconds of 10 s on 4 CPUs: U = 0.5; 0.5 x 200 W + 0.5 x 100 W = 150 W.
TEST(Compare, ModelledPowerIsLabelled) {
  CompareOptions options = Options();
  options.servers = {"a=3000,100,200"};
  const CompareResult result = Compared({ServerOf("a", Repetitions("m", 1e6, 1'000))}, options);
  const ServerFigures& a = result.cases[0].servers[0];
  EXPECT_DOUBLE_EQ(150, a.power_w.samples.Median());
  EXPECT_TRUE(a.power_w.modelled);
  EXPECT_TRUE(a.operations_per_j.modelled);
  EXPECT_TRUE(a.costs.back().dollars_per_h.modelled);
  EXPECT_EQ(Dollars(3'000), *a.costs.back().price);
  const std::string text = TextOf(result, options);
  EXPECT_NE(std::string::npos, text.find("150 [150 - 150] (modelled)")) << text;
  options.utilization = 1;
  const CompareResult busy = Compared({ServerOf("a", Repetitions("m", 1e6))}, options);
  EXPECT_DOUBLE_EQ(200, busy.cases[0].servers[0].power_w.samples.Median());
}

TEST(Compare, WhatCannotBeKnownIsUnavailable) {
  CompareOptions options = Options();
  options.prices = {1'000};
  const CompareResult result = Compared(
      {ServerOf("a", Repetitions("m", 1e6)), ServerOf("b", Repetitions("n", 2e6, 500))}, options);
  const ServerFigures& a = result.cases[0].servers[0];
  EXPECT_EQ("no RAPL on this machine", a.operations_per_j.unavailable);
  EXPECT_EQ("no RAPL on this machine", a.costs[0].dollars_per_h.unavailable);
  EXPECT_EQ(100, a.servers.samples.Median());
  const ServerPair& pair = result.cases[0].pairs.at(0);
  EXPECT_EQ(Winner::kNone, Named(pair, "operations per joule").winner);
  EXPECT_EQ("power of a: no RAPL on this machine", pair.no_break_even);

  json line = SampleLine("m", 1e6);
  line["meters"]["cpu_s"] = {{"unavailable", "no such process"}};
  options.prices.clear();
  options.servers = {"c=1000,10,20"};
  const CompareResult no_cpu = Compared({ServerOf("c", {line})}, options);
  EXPECT_EQ("no utilization (no such process): --utilization gives one",
            no_cpu.cases[0].servers[0].power_w.unavailable);
}

TEST(Compare, TheGpuIsAddedToTheProcessorsOwnCounterOnly) {
  json line = WithEnergy(SampleLine("gpu", 1e6), 1'000);
  line["meters"]["gpu_energy_j"] = {{"value", 3'000.0}, {"unit", "J"}, {"source", "nvml 0"}};
  CompareResult result = Compared({ServerOf("gpu", {line})}, Options());
  EXPECT_DOUBLE_EQ(400, result.cases[0].servers[0].power_w.samples.Median());
  EXPECT_EQ("rapl package-0 + nvml 0", result.cases[0].servers[0].power_w.source);
  line["meters"]["energy_j"]["source"] = "rapl package-0, dram + nvml gpu 0";  // --energy auto
  result = Compared({ServerOf("gpu", {line})}, Options());
  EXPECT_DOUBLE_EQ(100, result.cases[0].servers[0].power_w.samples.Median());
  line["meters"]["energy_j"]["source"] = "power monitor at the socket";
  result = Compared({ServerOf("gpu", {line})}, Options());
  EXPECT_DOUBLE_EQ(100, result.cases[0].servers[0].power_w.samples.Median());
  line["meters"]["energy_j"] = {{"unavailable", "no RAPL"}};
  result = Compared({ServerOf("gpu", {line})}, Options());
  EXPECT_EQ("only the GPU's joules are known (no RAPL)",
            result.cases[0].servers[0].power_w.unavailable);
}

TEST(Compare, AWinnerOnlyBeyondTheNoise) {
  const ServerResults a = ServerOf("a", Repetitions("m", 1e6));
  const CompareResult far = Compared({a, ServerOf("b", Repetitions("n", 2e6))}, Options());
  const Comparison& throughput = Named(far.cases[0].pairs.at(0), "throughput");
  EXPECT_EQ(Winner::kSecond, throughput.winner);
  EXPECT_DOUBLE_EQ(0.5, throughput.ratio);
  const CompareOptions options = Options();
  const CompareResult near = Compared({a, ServerOf("b", Repetitions("n", 1.01e6))}, options);
  EXPECT_EQ(Winner::kNone, Named(near.cases[0].pairs.at(0), "throughput").winner);
  const std::string text = TextOf(near, options);
  EXPECT_NE(std::string::npos,
            text.find("throughput: ratio 0.99, no winner (ranges overlap: the noise exceeds the "
                      "gap)"))
      << text;
}

TEST(Compare, NoWinnerWhereTheClientWasSaturatedOrAnswersWrong) {
  std::vector<json> lines = Repetitions("n", 2e6);
  lines[1]["result"]["client"]["saturated"] = true;
  const ServerResults a = ServerOf("a", Repetitions("m", 1e6));
  CompareResult result = Compared({a, ServerOf("b", lines)}, Options());
  EXPECT_EQ(Winner::kNone, Named(result.cases[0].pairs.at(0), "throughput").winner);
  lines[1]["result"]["outcomes"]["wrong"] = 3;
  result = Compared({a, ServerOf("b", lines)}, Options());
  EXPECT_EQ("b: 3 answers were wrong", Named(result.cases[0].pairs.at(0), "throughput").reason);
}

// By hand: "large" needs 10 servers of 300 W, "small" 40 of 100 W, for 40 M op/s, at $0.10 (as
// Cost.BreakEvenPrice): $4,000 against $934.30, and $1,000 against $4,262.80 the other way.
TEST(Compare, BreakEvenBothWays) {
  CompareOptions options = Options();
  options.target_throughput_per_s = 40e6;
  options.servers = {"large=4000", "small=1000"};
  const auto one = [](const char* machine, double rate, double joules) {
    return std::vector<json>(2, WithEnergy(SampleLine(machine, rate), joules));
  };
  const CompareResult result = Compared(
      {ServerOf("large", one("m", 4e6, 3'000)), ServerOf("small", one("n", 1e6, 1'000))}, options);
  const ServerPair& pair = result.cases[0].pairs.at(0);
  ASSERT_EQ(2u, pair.break_even.size());
  EXPECT_EQ(0u, pair.break_even[0].priced);
  EXPECT_NEAR(934.3, pair.break_even[0].other_price.value(), 1e-6);
  EXPECT_EQ(1u, pair.break_even[1].priced);
  EXPECT_NEAR(4'262.8, pair.break_even[1].other_price.value(), 1e-6);
  const std::string text = TextOf(result, options);
  EXPECT_NE(std::string::npos, text.find("large at $4000, $0.1/kWh, 3 years: small costs as much "
                                         "at $934"))
      << text;
}

TEST(Compare, LoadsAreTheSameOrEachAtItsBest) {
  std::vector<json> many = Repetitions("n", 3e6);
  for (json& line : many) line["load"]["threads"] = 16;
  std::vector<json> both = Repetitions("n", 2e6);
  both.insert(both.end(), many.begin(), many.end());
  const std::vector<ServerResults> servers = {ServerOf("a", Repetitions("m", 1e6)),
                                              ServerOf("b", both)};
  CompareOptions options = Options();
  const CompareResult same = Compared(servers, options);
  ASSERT_EQ(2u, same.cases.size());
  ASSERT_EQ(1u, same.notes.size());
  EXPECT_EQ(
      "only b has test: store, ycsb-c, 24 B keys, 1000 B values, closed loop, 16 threads, 8 "
      "sessions, depth 32",
      same.notes[0]);
  options.best_load = true;
  const CompareResult best = Compared(servers, options);
  ASSERT_EQ(1u, best.cases.size());
  EXPECT_EQ(3e6, best.cases[0].servers[1].throughput_per_s.samples.Median());
}

TEST(Compare, TellsWhereRecordsDiffer) {
  std::vector<json> scaled = Repetitions("n", 1e6);
  for (json& line : scaled) line["workload"]["records"] = 4'000'000;
  const CompareResult result =
      Compared({ServerOf("a", Repetitions("m", 1e6)), ServerOf("b", scaled)}, Options());
  ASSERT_EQ(1u, result.cases.size());
  EXPECT_EQ("records differ: a 1000000, b 4000000", result.cases[0].servers[0].notes.at(0));
}

TEST(Compare, JsonHasWhatTheTableHas) {
  CompareOptions options = Options();
  options.prices = {1'000};
  const CompareResult result = Compared(
      {ServerOf("a", Repetitions("m", 1e6, 1'000)), ServerOf("b", Repetitions("n", 2e6, 900))},
      options);
  const json found = ToJson(result, options);
  EXPECT_EQ("weft-bench compare", found["format"]);
  const json& of = found["cases"][0];
  EXPECT_EQ(1e6, of["servers"][0]["operations_per_s"]["median"]);
  EXPECT_EQ("$/h", of["servers"][0]["costs"][0]["dollars_per_h"]["unit"]);
  EXPECT_EQ("weft-bench run --workload ycsb-c", of["servers"][0]["command_line"]);
  EXPECT_EQ("throughput", of["pairs"][0]["comparisons"][0]["figure"]);
  EXPECT_EQ("b", of["pairs"][0]["comparisons"][0]["winner"]);
  EXPECT_EQ(2u, of["pairs"][0]["break_even"].size());
}

TEST(Compare, TargetsOfAFileAreComparedWhereAsked) {
  std::vector<json> lines = Repetitions("m", 1e6);
  for (json& line : Repetitions("m", 2e6)) {
    line["target"]["name"] = "start:weft";
    lines.push_back(line);
  }
  CompareOptions options = Options();
  options.by_target = true;
  options.servers = {"start:weft=3000,100,200", "store=1000,100,200"};
  const CompareResult result = Compared({ServerOf("a", lines)}, options);
  ASSERT_EQ(1u, result.cases.size());
  ASSERT_EQ(2u, result.cases[0].servers.size());
  EXPECT_EQ("store", result.cases[0].servers[0].server);
  EXPECT_EQ("start:weft", result.cases[0].servers[1].server);
  EXPECT_EQ(2e6, result.cases[0].servers[1].throughput_per_s.samples.Median());
  ASSERT_EQ(1u, result.cases[0].pairs.size());
  EXPECT_EQ(Winner::kSecond, result.cases[0].pairs[0].comparisons[0].second.winner);
  options.servers.clear();
  const CompareResult two =
      Compared({ServerOf("a", lines), ServerOf("b", Repetitions("n", 3e6))}, options);
  ASSERT_EQ(1u, two.cases.size());
  ASSERT_EQ(3u, two.cases[0].servers.size());
  EXPECT_EQ("a/start:weft", two.cases[0].servers[1].server);
  EXPECT_EQ("b/store", two.cases[0].servers[2].server);
  EXPECT_EQ(3u, two.cases[0].pairs.size());
}

TEST(Compare, ReasonsStandBelowTheTable) {
  const std::string text =
      TextOf(Compared({ServerOf("a", Repetitions("m", 1e6)), ServerOf("b", Repetitions("n", 2e6))},
                      Options()),
             Options());
  EXPECT_NE(std::string::npos, text.find("unavailable (1)")) << text;
  const size_t at = text.find("  (1) no RAPL on this machine\n");
  ASSERT_NE(std::string::npos, at) << text;
  EXPECT_EQ(std::string::npos, text.find("  (2) "));
}

TEST(Compare, ServersAreOfFiles) {
  CompareOptions options = Options();
  options.servers = {"c=1000"};
  auto result = CompareServers({ServerOf("a", Repetitions("m", 1e6))}, options);
  ASSERT_FALSE(result);
  EXPECT_EQ("--server c: no file has that name", result.error().message());
  options.files = {"/no/such/a.json"};
  EXPECT_FALSE(CompareFiles(options));
}

TEST(Compare, APriceThatNoServerTakesIsRefused) {
  CompareOptions options = Options();
  options.prices = {500};
  options.servers = {"a=1000"};
  const ServerResults a = ServerOf("a", Repetitions("m", 1e6));
  auto result = CompareServers({a}, options);
  ASSERT_FALSE(result);
  EXPECT_EQ("--price: --server already gives each server a price", result.error().message());
  EXPECT_TRUE(CompareServers({a, ServerOf("b", Repetitions("n", 2e6))}, options));
}

}  // namespace
}  // namespace weft::bench
