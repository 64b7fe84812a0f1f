#include "bench/durable/contention_charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ContentionRun UsedRun(double cpu_s, std::optional<double> gpu_percent) {
  ContentionRun run;
  run.a.seconds = 10;
  run.cpu_s = cpu_s;
  run.used = {{.cpu_percent = 0, .gpu_percent = gpu_percent}};
  return run;
}

TEST(ContentionCharts, WhatWasNotMeasuredIsNotDrawnAndRepetitionsHaveARange) {
  ContentionTable table;
  table.value_bytes = {256};
  table.taken = {0};
  table.stores = {"weft", "weft-cuda:0"};
  table.runs[{256, 0, "weft"}] = {UsedRun(1, std::nullopt), UsedRun(3, std::nullopt),
                                  UsedRun(2, std::nullopt)};
  table.runs[{256, 0, "weft-cuda:0"}] = {UsedRun(1, 40)};
  const std::vector<LineChart> charts = ContentionUsageCharts(table);
  ASSERT_EQ(charts.size(), 2u);
  const LineChart::Line &cpu = charts[0].lines[0], &gpu = charts[1].lines[0];
  EXPECT_THAT(cpu.y, ElementsAre(20));
  EXPECT_THAT(cpu.y_low, ElementsAre(10));
  EXPECT_THAT(cpu.y_high, ElementsAre(30));
  EXPECT_THAT(gpu.y, IsEmpty());  // and no 0
  EXPECT_THAT(charts[1].lines[1].y, ElementsAre(40));
  EXPECT_EQ(charts[1].lines[1].name, "weft-cuda:0");  // its place, and so its colour
}

}  // namespace
}  // namespace weft::bench
