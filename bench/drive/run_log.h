// bench/drive/run_log.h: reports runs: a line of a table on standard output; and, if asked for, a
// line of a result file (docs/formats/bench-results.md), a row of a CSV table, and an HdrHistogram
// log of each run.
//
// HDR logs  two files a run: FOLDER/DATE-TARGET-WORKLOAD-NUMBER.hlog has an interval a whole slice,
//           ...-kinds.hlog the whole run for each kind of operation, with its name as the tag. DATE
//           is when the log was opened, so later runs add to the folder.
// Threads   one at a time.
// Errors    kIoError: a file can't be written. kInvalidArgument: a CSV file that has other columns.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/drive/hdr_log.h"
#include "bench/drive/load.h"
#include "bench/drive/run_log_options.h"
#include "bench/drive/run_record.h"
#include "bench/harness/samples.h"
#include "bench/workload/mix.h"
#include "weft/status.h"

namespace weft::bench {

class RunLog {
 public:
  // One run. The log must outlive it.
  class Entry {
   public:
    // Counting begins.
    Status Start();
    Status Add(const SliceRow& row, const base::Histogram& latency_ns);
    // `record`: from RunRecord, and what was added to it.
    Status End(const nlohmann::json& record, const LoadFigures& figures);

   private:
    friend class RunLog;
    Status AddKinds(const LoadFigures& figures);
    Entry(RunLog* log, std::string hdr_path) : log_(*log), hdr_path_(std::move(hdr_path)) {}

    RunLog& log_;
    const std::string hdr_path_;  // without its ending; empty: not asked for
    double start_s_ = 0;          // since the epoch
    std::optional<HdrLog> slices_;
  };

  static Result<RunLog> Open(const RunLogOptions& options);

  // Before the first run of a table.
  void PrintHead() const;
  Entry Begin(const RunContext& context, const OperationMix& mix);
  // Medians and ranges of each target, workload and load with several runs.
  void PrintMedians() const;
  // Reports what could not be measured, in the table and, as a separate line, in the result file.
  // The next run returns the file's errors.
  void LeaveOut(const LeftOut& what, const std::string& why);

  int runs() const { return runs_; }  // that were begun

 private:
  void Keep(const nlohmann::json& record);

  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Lines {
    std::string path;
    std::unique_ptr<std::FILE, Closer> file;  // null: not asked for

    static Result<Lines> Open(const std::string& path);
    Status Write(const std::string& line);
  };

  explicit RunLog(RunLogOptions options) : options_(std::move(options)) {}

  RunLogOptions options_;
  Lines json_;
  Lines csv_;
  struct Told {
    Samples operations_per_s, p50_us, p99_us;
  };
  std::map<std::string, Told> told_;  // by what the runs were
  std::vector<std::string> order_;    // of these
  std::string opened_;                // when the log was opened, as part of a file's name
  int runs_ = 0;
};

}  // namespace weft::bench
