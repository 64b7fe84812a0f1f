// bench/workload/rate_schedule.h: how many requests a second are due, over time, for loads that
// send on schedule whatever the store does.
//
// As text, pieces one after another:
//
//     1000                            forever
//     1000 for 10s, 5000 for 500ms    steps
//     ramp 1000 5000 for 10s, 5000    from one rate to the other, evenly, and then on with it
//     sine 1000 5000 period 60s       up and down, from the mean on
//     poisson 1000                    of any of these, with gaps by chance (arrivals.h), not even
//
// If the last piece has an end (`for`), all begins anew there. Times are in min, s, ms, us or ns.
//
// Units     requests a second, seconds; a count of requests is the rate's integral, from 0 s on.
// Threads   a value; const calls from any.
// Errors    kInvalidArgument from Parse, with what is wrong.
// Cost      steps and ramps in closed form; a sine is solved for in a few iterations.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.h"

namespace weft::bench {

class RateSchedule {
 public:
  // REQUIRES: 0 < per_s <= kRateMax
  static RateSchedule Constant(double per_s);
  static Result<RateSchedule> Parse(std::string_view text);
  std::string ToText() const;

  bool is_poisson() const { return is_poisson_; }
  double RateAt(double at_s) const;
  double CountUntil(double at_s) const;
  // When `count` requests are due; if that is throughout a pause, at its end.
  double TimeOf(double count) const;

 private:
  enum class Form : uint8_t { kRamp, kSine };  // a constant rate is a ramp between equals
  struct Piece {
    Form form = Form::kRamp;
    double first = 0;  // rates: of a ramp at its ends, of a sine the least and the greatest
    double second = 0;
    double period_s = 0;
    double seconds = std::numeric_limits<double>::infinity();
    // Of all pieces before.
    double start_s = 0;
    double start_count = 0;

    double RateAt(double at_s) const;  // since its start, as all of these
    double CountUntil(double at_s) const;
    double TimeOf(double count) const;
    double TimeOfSine(double count) const;
  };

  RateSchedule() = default;
  static Result<Piece> ParsePiece(std::string_view text);
  Status Finish(std::string_view text);
  bool repeats() const { return cycle_s_ < std::numeric_limits<double>::infinity(); }
  const Piece& PieceAt(double cycle_s) const;

  std::vector<Piece> pieces_;
  bool is_poisson_ = false;
  double cycle_s_ = 0;  // of all pieces
  double cycle_count_ = 0;
};

inline constexpr double kRateMax = 1e12;

}  // namespace weft::bench
