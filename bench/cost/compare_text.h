// bench/cost/compare_text.h: a comparison for people and for programs.
//
// Threads   pure functions.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "bench/cost/compare.h"

namespace weft::bench {

// A table for each case, then the comparison of each pair of servers.
std::string TextOf(const CompareResult& result, const CompareOptions& options);
// {"format": "weft-bench compare", "version": 1, "options": {...}, "cases": [...], "notes": [...]}
nlohmann::json ToJson(const CompareResult& result, const CompareOptions& options);

}  // namespace weft::bench
