#include "server/latency.h"

#include <cmath>

namespace weft::server {
namespace {

constexpr std::string_view kClassNames[] = {"get", "set", "delete", "arithmetic", "touch", "other"};
static_assert(std::size(kClassNames) == kLatencyClasses);
static_assert(static_cast<uint8_t>(cache::Verb::kTouch) ==
              static_cast<uint8_t>(LatencyClass::kTouch));

uint64_t CellMiddle(size_t cell) {
  const uint64_t begin = LatencyCellBegin(cell);
  return begin + (LatencyCellBegin(cell + 1) - begin) / 2;
}

}  // namespace

std::string_view LatencyClassName(LatencyClass of) { return kClassNames[static_cast<size_t>(of)]; }

uint64_t LatencyCellBegin(size_t cell) {
  constexpr size_t kParts = size_t{1} << kLatencyPartBits;
  if (cell < 2 * kParts) return cell;
  const size_t shift = (cell >> kLatencyPartBits) - 1;
  return ((cell & (kParts - 1)) + kParts) << shift;
}

LatencyCells& LatencyTotals::Of(LatencyClass of) {
  if (cells_.empty()) cells_.resize(kLatencyClasses);
  return cells_[static_cast<size_t>(of)];
}

const LatencyCells& LatencyTotals::Of(LatencyClass of) const {
  static constexpr LatencyCells kNone = {};
  return cells_.empty() ? kNone : cells_[static_cast<size_t>(of)];
}

LatencyCells LatencyTotals::Sum() const {
  LatencyCells sum = {};
  for (const LatencyCells& cells : cells_)
    for (size_t cell = 0; cell < kLatencyCells; cell++) sum[cell] += cells[cell];
  return sum;
}

void LatencyTotals::Subtract(const LatencyTotals& before) {
  if (cells_.empty() || before.cells_.empty()) return;
  for (size_t i = 0; i < kLatencyClasses; i++)
    for (size_t cell = 0; cell < kLatencyCells; cell++)
      cells_[i][cell] -= std::min(cells_[i][cell], before.cells_[i][cell]);
}

LatencySummary Summarize(const LatencyCells& cells) {
  LatencySummary summary;
  double sum_ns = 0;
  for (size_t cell = 0; cell < kLatencyCells; cell++) {
    if (cells[cell] == 0) continue;
    summary.count += cells[cell];
    summary.max_ns = CellMiddle(cell);
    sum_ns += static_cast<double>(cells[cell]) * static_cast<double>(CellMiddle(cell));
  }
  if (summary.count == 0) return summary;
  summary.mean_ns = sum_ns / static_cast<double>(summary.count);
  const auto at = [&](double part) {
    const auto rank = static_cast<uint64_t>(std::ceil(part * static_cast<double>(summary.count)));
    uint64_t below = 0;
    for (size_t cell = 0; cell < kLatencyCells; cell++) {
      below += cells[cell];
      if (below >= rank) return CellMiddle(cell);
    }
    return summary.max_ns;
  };
  summary.p50_ns = at(0.5);
  summary.p90_ns = at(0.9);
  summary.p99_ns = at(0.99);
  summary.p999_ns = at(0.999);
  return summary;
}

TurnLatency::TurnLatency()
    : ns_per_tick_(static_cast<double>(base::NsOfTicks(uint64_t{1} << 32)) / 0x1p32) {}

void TurnLatency::NoteLate(LatencyClass of, uint64_t requests, uint64_t since) {
  if (late_.empty() || late_.back().began != since) late_.push_back({since, {}});
  late_.back().answered[static_cast<size_t>(of)] += requests;
  classes_ |= kLateBit;
}

void TurnLatency::EndLate() {
  const uint64_t now = base::ReadTicks();
  for (const Late& late : late_) {
    const size_t cell = LatencyCellOf(NsOf(now - std::min(now, late.began)));
    for (size_t i = 0; i < kLatencyClasses; i++)
      if (late.answered[i] != 0) cells_[cell][i].Add(late.answered[i]);
  }
  late_.clear();
  classes_ &= kLateBit - 1;
  EndTurn();
}

void TurnLatency::AddTo(LatencyTotals* totals) const {
  for (size_t i = 0; i < kLatencyClasses; i++) {
    LatencyCells& cells = totals->Of(static_cast<LatencyClass>(i));
    for (size_t cell = 0; cell < kLatencyCells; cell++) cells[cell] += cells_[cell][i].value();
  }
}

}  // namespace weft::server
