// bench/drive/driver.h: an open target, its records, and runs on it, each with its meters and a
// line in a RunLog. `run`, `quick`, sweeps and experiments are made of it.
//
// Contents   A workload's records are stored before it if they are not there. They stay for the
//            next workload, if that has the same records, until a workload has added or removed
//            some. So YCSB's order is fill, A, B, C, F, D, fill, E.
//
// Threads   one owner.
// Errors    kInvalidArgument: no such target. kUnsupported: this build or machine lacks it, or it
//           lacks operations of the workload; with the reason. An error of a run has the
//           workload's name before it, and the target is closed then.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "bench/drive/load.h"
#include "bench/drive/measure_options.h"
#include "bench/drive/run_log.h"
#include "bench/meter/reading.h"
#include "bench/target/target.h"
#include "bench/workload/mix.h"
#include "weft/status.h"

namespace weft::bench {

class Driver {
 public:
  // `options` and `log` must outlive it. `spec`: as in `options.targets`.
  Driver(std::string spec, const MeasureOptions& options, RunLog* log);
  ~Driver();

  void set_repetition(int repetition) { context_.repetition = repetition; }
  // Scans need an index, with which a server may have to be started.
  void ExpectScans() { target_options_.scans = true; }

  // Opens the target, if need be, sees that it has the records of `mix` and no others, and waits
  // until it is quiet. The fill is a separate run in the log. kUnsupported: see above.
  Status Prepare(const OperationMix& mix);
  // Prepare, then the run; for a workload that fills, the fill is the run. Without a `load.rate`,
  // the workload's counts; a workload that fills is a closed loop, whatever the rate. The members
  // that `notes` gives are added to the line in the log; an error of `notes` ends the run without a
  // line. A run in which nothing ended has no line either, and the log says so.
  using Notes =
      std::function<Result<nlohmann::json>(const LoadFigures& figures, const Readings& readings)>;
  Result<LoadFigures> Run(const OperationMix& mix, LoadOptions load, const Notes& notes = {});
  // Closes the target; the next Run opens it anew.
  void Close();
  // Notes in the log that the workload, at this load, could not be measured.
  void LeaveOut(const OperationMix& mix, const std::string& load, const std::string& why) const;

  const std::string& spec() const { return context_.target_name; }

  // Null where nothing is open.
  const Target* target() const { return opened_.target.get(); }
  // How keys and values of its records are made.
  const RecordFormat* format() const { return opened_.format.get(); }

 private:
  struct Opened {
    std::optional<OperationMix> meant;  // what it was opened for
    std::unique_ptr<RecordFormat> format;
    std::unique_ptr<RecordSpace> space;
    std::unique_ptr<Target> target;
    std::optional<OperationMix> stored;  // of these records; none: it is empty
  };

  Status Open(const OperationMix& mix);
  Result<LoadFigures> Fill(const OperationMix& mix, LoadOptions load, const Notes& notes);
  Result<LoadFigures> RunOnce(const OperationMix& mix, const LoadOptions& load, const Notes& notes);
  void TellWithoutEnergy(const Readings& readings);
  Status Failed(const OperationMix& mix, const Status& status);

  const MeasureOptions& options_;
  RunLog& log_;
  TargetOptions target_options_;
  RunContext context_;
  Opened opened_;
  bool is_told_without_energy_ = false;
};

}  // namespace weft::bench
