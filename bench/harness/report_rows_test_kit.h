// bench/harness/report_rows_test_kit.h: the rows that a benchmark reports, for tests.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/folder_test_kit.h"
#include "bench/harness/report.h"

namespace weft::bench {

// Of a file of results, one object a line.
inline std::vector<nlohmann::json> JsonLines(const std::string& path) {
  std::ifstream file(path);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// Gives `run` a Report and returns what it has written there; *status is what `run` returned.
template <typename Run>
std::vector<nlohmann::json> RowsReported(const Run& run, Status* status) {
  const base::TestFolder folder;
  auto report = Report::Open(folder / "out.jsonl", nlohmann::json::object());
  EXPECT_TRUE(report);
  *status = run(*report);
  return JsonLines(folder / "out.jsonl");
}

}  // namespace weft::bench
