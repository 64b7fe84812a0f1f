#include "bench/workload/rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "bench/workload/words.h"

namespace weft::bench {
namespace {

constexpr double kForEver = std::numeric_limits<double>::infinity();
constexpr double kSecondsMax = 1e9;

Status BadRate(std::string_view text, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("rate '{}': {}", text, why)};
}

std::optional<double> RateOf(std::string_view word) {
  const std::optional<double> rate = NumberOf(word);
  if (!rate || *rate < 0 || *rate > kRateMax) return std::nullopt;
  return rate;
}

// How long something lasts.
std::optional<double> LengthOf(std::string_view word) {
  const std::optional<double> seconds = TimeOf(word, 1e9);
  return seconds > 0 && seconds <= kSecondsMax ? seconds : std::nullopt;
}

}  // namespace

double RateSchedule::Piece::RateAt(double at_s) const {
  if (form == Form::kSine)
    return (first + second) / 2 +
           (second - first) / 2 * std::sin(2 * std::numbers::pi * at_s / period_s);
  return first == second ? first : first + (second - first) * at_s / seconds;
}

double RateSchedule::Piece::CountUntil(double at_s) const {
  const double mean = (first + second) / 2;
  if (form == Form::kSine) {
    const double turn_s = period_s / (2 * std::numbers::pi);
    return mean * at_s + (second - first) / 2 * turn_s * (1 - std::cos(at_s / turn_s));
  }
  return first == second ? first * at_s : at_s * (first + (second - first) * at_s / seconds / 2);
}

double RateSchedule::Piece::TimeOf(double count) const {
  if (form == Form::kSine) return TimeOfSine(count);
  if (first == second) return count / first;
  // The root that does not cancel.
  const double slope = (second - first) / seconds;
  const double root = std::sqrt(std::max(0.0, first * first + 2 * slope * count));
  return std::min(seconds, count == 0 ? 0 : 2 * count / (first + root));
}

double RateSchedule::Piece::TimeOfSine(double count) const {
  const double period_count = (first + second) / 2 * period_s;
  const double periods = std::floor(count / period_count);
  const double rest = count - periods * period_count;
  // Newton's method, or half of what is left where it leads out of that.
  double low = 0;
  double high = period_s;
  double at = rest / period_count * period_s;
  for (int i = 0; i < 60; ++i) {
    const double off = CountUntil(at) - rest;
    (off > 0 ? high : low) = at;
    const double rate = RateAt(at);
    double next = rate > 0 ? at - off / rate : low;
    if (!(next > low && next < high)) next = (low + high) / 2;
    const double step = std::abs(next - at);
    at = next;
    if (step < 1e-11 * period_s) break;
  }
  return periods * period_s + at;
}

RateSchedule RateSchedule::Constant(double per_s) {
  WEFT_CHECK(per_s > 0 && per_s <= kRateMax);
  RateSchedule schedule;
  Piece piece;
  piece.first = piece.second = per_s;
  schedule.pieces_ = {piece};
  WEFT_CHECK(schedule.Finish("").ok());
  return schedule;
}

Result<RateSchedule> RateSchedule::Parse(std::string_view text) {
  RateSchedule schedule;
  std::string_view rest = text;
  const std::vector<std::string_view> words = WordsOf(text);
  if (!words.empty() && words[0] == "poisson") {
    schedule.is_poisson_ = true;
    rest = rest.substr(rest.find("poisson") + 7);
  }
  for (const std::string_view part : PartsOf(rest, ',')) {
    auto piece = ParsePiece(part);
    if (!piece) return BadRate(text, piece.error().message());
    schedule.pieces_.push_back(*piece);
  }
  Status status = schedule.Finish(text);
  if (!status.ok()) return status;
  return schedule;
}

Result<RateSchedule::Piece> RateSchedule::ParsePiece(std::string_view text) {
  const Status bad(Code::kInvalidArgument,
                   fmt::format("'{}' is not '1000', '1000 for 10s', 'ramp 1000 5000 for 10s' or "
                               "'sine 1000 5000 period 60s', with rates up to {:g}",
                               text, kRateMax));
  std::vector<std::string_view> words = WordsOf(text);
  Piece piece;
  if (words.size() >= 2 && words[words.size() - 2] == "for") {
    const std::optional<double> seconds = LengthOf(words.back());
    if (!seconds)
      return Status(Code::kInvalidArgument,
                    fmt::format("'{}' is not a time such as 10s, 500ms or 2min", words.back()));
    piece.seconds = *seconds;
    words.resize(words.size() - 2);
  }
  if (words.empty()) return bad;
  const bool sine = words[0] == "sine" && words.size() == 5 && words[3] == "period";
  const bool ramp = words[0] == "ramp" && words.size() == 3;
  if (!sine && !ramp && words.size() != 1) return bad;
  const auto first = RateOf(words[sine || ramp ? 1 : 0]);
  const auto second = sine || ramp ? RateOf(words[2]) : first;
  if (!first || !second) return bad;
  piece.first = *first;
  piece.second = *second;
  if (ramp && piece.seconds == kForEver)
    return Status(Code::kInvalidArgument, "a ramp needs an end: 'ramp 1000 5000 for 10s'");
  if (!sine) return piece;
  const std::optional<double> period = LengthOf(words[4]);
  if (!period) return bad;
  if (piece.first > piece.second)
    return Status(Code::kInvalidArgument, "a sine's least rate must come first");
  piece.form = Form::kSine;
  piece.period_s = *period;
  return piece;
}

Status RateSchedule::Finish(std::string_view text) {
  cycle_s_ = cycle_count_ = 0;
  for (Piece& piece : pieces_) {
    if (cycle_s_ == kForEver) return BadRate(text, "every piece except the last needs 'for'");
    piece.start_s = cycle_s_;
    piece.start_count = cycle_count_;
    cycle_s_ += piece.seconds;
    cycle_count_ += piece.seconds == kForEver ? 0 : piece.CountUntil(piece.seconds);
  }
  const Piece& last = pieces_.back();
  if (repeats() ? cycle_count_ == 0 : last.first + last.second == 0)
    return BadRate(text, "no operation would ever be due");
  return Status::Ok();
}

const RateSchedule::Piece& RateSchedule::PieceAt(double cycle_s) const {
  size_t i = 0;
  while (i + 1 < pieces_.size() && pieces_[i + 1].start_s <= cycle_s) ++i;
  return pieces_[i];
}

double RateSchedule::RateAt(double at_s) const {
  if (repeats()) at_s = std::fmod(at_s, cycle_s_);
  const Piece& piece = PieceAt(at_s);
  return piece.RateAt(at_s - piece.start_s);
}

double RateSchedule::CountUntil(double at_s) const {
  const double cycles = repeats() ? std::floor(at_s / cycle_s_) : 0;
  if (cycles > 0) at_s -= cycles * cycle_s_;
  const Piece& piece = PieceAt(at_s);
  return cycles * cycle_count_ + piece.start_count + piece.CountUntil(at_s - piece.start_s);
}

double RateSchedule::TimeOf(double count) const {
  const double cycles = repeats() ? std::floor(count / cycle_count_) : 0;
  count -= cycles * cycle_count_;
  // The last piece that begins with so many: what comes before it in the same place is a pause.
  size_t i = 0;
  while (i + 1 < pieces_.size() && pieces_[i + 1].start_count <= count) ++i;
  // A pause at the end leads into the next cycle, whose count is one of this one only by rounding.
  while (i > 0 && pieces_[i].first + pieces_[i].second == 0) --i;
  const Piece& piece = pieces_[i];
  const double since_s = std::min(piece.TimeOf(count - piece.start_count), piece.seconds);
  return (cycles > 0 ? cycles * cycle_s_ : 0) + piece.start_s + since_s;
}

std::string RateSchedule::ToText() const {
  std::string text;
  for (const Piece& piece : pieces_) {
    text += text.empty() ? (is_poisson_ ? "poisson " : "") : ", ";
    if (piece.form == Form::kSine) {
      text += fmt::format("sine {} {} period {}s", piece.first, piece.second, piece.period_s);
    } else if (piece.first == piece.second) {
      text += fmt::format("{}", piece.first);
    } else {
      text += fmt::format("ramp {} {}", piece.first, piece.second);
    }
    if (piece.seconds != kForEver) text += fmt::format(" for {}s", piece.seconds);
  }
  return text;
}

}  // namespace weft::bench
