// bench/drive/run_log.h: where runs are told: a line of a table on standard output, and as asked
// for a line of a result file (docs/formats/bench-results.md), a row of a CSV table, and
// HdrHistogram's log of each run.
//
// HDR logs  one file a run, FOLDER/TARGET-WORKLOAD-NUMBER.hlog: an interval a whole slice, and at
//           the end the whole run again for each kind of operation, with its name as the tag.
// Threads   one at a time.
// Errors    kIoError: a file can't be written. kInvalidArgument: a CSV file that has other columns.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "bench/drive/hdr_log.h"
#include "bench/drive/load.h"
#include "bench/drive/run_log_options.h"
#include "bench/drive/run_record.h"
#include "bench/workload/mix.h"
#include "weft/status.h"

namespace weft::bench {

class RunLog {
 public:
  // One run, from its beginning. The log outlives it.
  class Entry {
   public:
    Status Add(const SliceRow& row, const base::Histogram& latency_ns);
    // `record`: RunRecord's, and what was added to it.
    Status End(const nlohmann::json& record, const LoadFigures& figures);

   private:
    friend class RunLog;
    Entry(RunLog* log, std::optional<HdrLog> hdr) : log_(*log), hdr_(std::move(hdr)) {}

    RunLog& log_;
    std::optional<HdrLog> hdr_;
  };

  static Result<RunLog> Open(const RunLogOptions& options);

  // Before the first run of a table.
  void PrintHead() const;
  Result<Entry> Begin(const RunContext& context, const OperationMix& mix);
  // What could not be measured, in the table.
  static void LeaveOut(const std::string& what, const std::string& why);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Lines {
    std::string path;
    std::unique_ptr<std::FILE, Closer> file;  // null: none asked for

    static Result<Lines> Open(const std::string& path);
    Status Write(const std::string& line);
  };

  explicit RunLog(RunLogOptions options) : options_(std::move(options)) {}

  RunLogOptions options_;
  Lines json_;
  Lines csv_;
  int runs_ = 0;
};

}  // namespace weft::bench
