// bench/meter/power_csv.h: energy from a table of power that any other meter has written.
//
// Format    comma, semicolon or tab separated, first line names: a column of times ("time",
//           "timestamp", "t", "time_s", "seconds", "date") and one of watts ("watts", "power_w",
//           "power", "w"), others do not matter. Names are compared without regard to case. Lines
//           that begin with # are skipped.
// Times     epoch seconds, ISO 8601 (UTC where no zone is given), or, below 10^8, seconds since the
//           run began.
// Errors    what is wrong and in which line: a bad name or number, times out of order, gaps, a
//           table that does not cover the run. Used returns them at the run's end.
// Threads   one owner.
#pragma once

#include <optional>
#include <string>

#include "bench/meter/energy_source.h"
#include "bench/meter/power_trace.h"

namespace weft::bench {

struct PowerTable {
  PowerTrace trace;
  bool since_start = false;  // times count from the run's begin, not from 1970
};
Result<PowerTable> ParsePowerCsv(const std::string& text);

// Epoch seconds of "2026-11-24T22:00:00.5Z", also with a blank for the T, an offset such as +01:00,
// or no zone; none for anything else.
std::optional<double> ParseIso8601(const std::string& text);

class PowerCsv : public EnergySource {
 public:
  // `gap_max`: between two readings, and at either end of the run.
  explicit PowerCsv(std::string path, Seconds gap_max = Seconds(2.5))
      : path_(std::move(path)), gap_max_(gap_max) {}

  std::string Name() const override { return "csv " + path_; }
  bool is_live() const override { return false; }
  Status Start() override;
  Result<Joules> Used() override;
  // Of a run between these times, in epoch seconds.
  Result<Joules> UsedBetween(Seconds begin, Seconds end) const;

 private:
  const std::string path_;
  const Seconds gap_max_;
  Seconds begin_;
};

}  // namespace weft::bench
