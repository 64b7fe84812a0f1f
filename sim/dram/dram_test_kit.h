// sim/dram/dram_test_kit.h: what tests of a controller share: requests offered at clocks, what came
// of them, and random traffic.
//
// Threads   one owner.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "base/seed_test_kit.h"
#include "sim/dram/memory.h"

namespace weft::sim {

using base::Stride;
using base::TestSeed;

inline Preset PresetNamed(std::string_view name) { return FindPreset(name).value(); }
inline Preset Ddr3() { return PresetNamed(kDefaultPreset); }

// Of one channel of the default preset, ranks interleaved: a line's number and these more.
inline constexpr uint64_t kNextColumn = 32;
inline constexpr uint64_t kNextRow = 4096;

struct Offer {
  uint64_t line;
  Clock clock = 0;  // of acceptance at the earliest
  bool is_write = false;
};

// One channel; requests are accepted in order, one a clock.
struct Played {
  std::vector<Completion> completions;  // as they came
  std::vector<IssuedCommand> commands;
  ControllerCounts counts;
  int64_t pending = 0;
  std::vector<Clock> accepted;  // of each offer that was

  // From acceptance to done, of each offer.
  std::vector<Clock> Latencies() const {
    std::map<uint64_t, Clock> latencies;
    for (const Completion& completion : completions) {
      latencies[completion.id] = completion.done - completion.accepted;
    }
    std::vector<Clock> in_order;
    for (const auto& [id, latency] : latencies) in_order.push_back(latency);
    return in_order;
  }
  std::vector<Clock> ClocksOf(Command command) const {
    std::vector<Clock> clocks;
    for (const IssuedCommand& issued : commands) {
      if (issued.command == command) clocks.push_back(issued.clock);
    }
    return clocks;
  }
};

inline Played Play(const Preset& preset, const std::vector<Offer>& offers, Clock clocks,
                   ControllerOptions options = {.refreshes = false},
                   Interleave interleave = Interleave::kRank) {
  Played run;
  Memory memory(preset, interleave, options,
                [&](int, const IssuedCommand& issued) { run.commands.push_back(issued); });
  for (uint64_t id = 0; id < offers.size(); ++id) {
    const Offer& offer = offers[id];
    const Clock at = memory.Accept(id, offer.line, offer.is_write, offer.clock, clocks);
    if (at == Memory::kNone) break;
    run.accepted.push_back(at);
  }
  memory.AdvanceTo(clocks);
  Controller& channel = memory.channel(0);
  run.completions = channel.completions();
  run.counts = channel.Counts();
  run.pending = channel.pending();
  return run;
}

// `count` requests, `every` clocks apart on average: mostly a few rows, so that hits, conflicts and
// requests for the same line are frequent.
inline std::vector<Offer> RandomOffers(const Preset& preset, uint64_t seed, size_t count,
                                       double every, double writes) {
  const AddressMap map(Interleave::kRank, preset.organization);
  std::mt19937_64 random(base::TestSeed(seed));
  std::exponential_distribution<double> gap(1 / every);
  std::vector<Offer> offers;
  double clock = 0;
  for (size_t i = 0; i < count; ++i) {
    clock += gap(random);
    const auto below = [&](uint64_t n) { return random() % n; };
    const Place place{
        .rank = static_cast<int>(below(static_cast<uint64_t>(preset.organization.ranks))),
        .bank = static_cast<int>(below(static_cast<uint64_t>(preset.organization.banks()))),
        .row = static_cast<uint32_t>(below(below(4) == 0 ? preset.organization.rows : 3)),
        .column = static_cast<uint32_t>(below(below(2) == 0 ? 2 : 16))};
    offers.push_back({map.LineOf(place), static_cast<Clock>(clock),
                      static_cast<double>(below(1000)) < writes * 1000});
  }
  return offers;
}

}  // namespace weft::sim
