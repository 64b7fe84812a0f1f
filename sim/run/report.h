// sim/run/report.h: a run's figures as files: summary.json, a row of runs.csv, and epoch.csv.
//
// Units     in each name; latencies of accesses in core cycles, of the controller in clocks.
// Threads   pure, except for the files.
// Errors    kIoError: a file can't be written. kInvalidArgument: runs.csv has other columns.
// Source    the simulator's specification, sections 3.8 and 5.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "sim/machine/run_result.h"
#include "weft/status.h"

namespace weft::sim {

// `config`: what the run was asked to do, and from which source, as the report shows it. `units`:
// what the prefetching units counted, by name; null: the report leaves it out.
nlohmann::ordered_json Summary(const nlohmann::ordered_json& config, const RunResult& run,
                               const nlohmann::ordered_json& units = nullptr);

// The columns of a run's row, and the row: the configuration's plain values, then figures,
// then the units', after "unit_".
std::string CsvHeader(const nlohmann::ordered_json& config,
                      const nlohmann::ordered_json& units = nullptr);
std::string CsvRow(const nlohmann::ordered_json& config, const RunResult& run,
                   const nlohmann::ordered_json& units = nullptr);

std::string EpochCsv(const RunResult& run);

// Writes the folder's summary.json and epoch.csv anew, and appends to its runs.csv.
Status WriteReport(const std::string& folder, const nlohmann::ordered_json& config,
                   const RunResult& run, const nlohmann::ordered_json& units = nullptr);

}  // namespace weft::sim
