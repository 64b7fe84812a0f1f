// bench/drive/run_csv.h: a run as a flat row of a table for spreadsheets: what most people want of
// a line of a result file.
//
// Layout    RFC 4180: comma, quotes where needed, one line a row. Columns are always the same. A
//           meter's column has its value, or the word `unavailable`; the result file has the reason
//           and says whether it is modelled. Fields that a run lacks (the rate of a closed loop)
//           are empty.
// Units     in the columns' names: _us, _s, _j, _w, _per_s, _bytes.
// Threads   pure.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace weft::bench {

// Without line ends.
std::string CsvHead();
// `record`: as RunRecord makes it.
std::string CsvRow(const nlohmann::json& record);

}  // namespace weft::bench
