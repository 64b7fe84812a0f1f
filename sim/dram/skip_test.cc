// Random traffic on every memory: skipping changes nothing, every accepted request completes
// exactly once, and the checker finds no command that breaks a rule.

#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "sim/dram/command_checker.h"
#include "sim/dram/dram_test_kit.h"

namespace weft::sim {
namespace {

constexpr Clock kClocks = 120'000;
constexpr size_t kOffers = 6000;

// Clocks between requests: far too few, few, many.
constexpr double kEvery[] = {0.5, 7, 60};

void ExpectSame(const Played& skipped, const Played& whole) {
  EXPECT_EQ(skipped.counts, whole.counts);
  EXPECT_EQ(skipped.accepted, whole.accepted);
  EXPECT_TRUE(skipped.commands == whole.commands);
  ASSERT_EQ(skipped.completions.size(), whole.completions.size());
  for (size_t i = 0; i < whole.completions.size(); ++i) {
    EXPECT_EQ(skipped.completions[i].id, whole.completions[i].id);
    EXPECT_EQ(skipped.completions[i].done, whole.completions[i].done);
  }
}

void ExpectConserved(const Played& run) {
  std::set<uint64_t> done;
  for (const Completion& completion : run.completions) {
    EXPECT_TRUE(done.insert(completion.id).second) << completion.id << " completed twice";
    ASSERT_LT(completion.id, run.accepted.size());
    EXPECT_EQ(completion.accepted, run.accepted[completion.id]);
  }
  EXPECT_EQ(done.size() + static_cast<size_t>(run.pending), run.accepted.size());
  const ControllerCounts& counts = run.counts;
  EXPECT_EQ(counts.reads_done + counts.writes_done, static_cast<int64_t>(done.size()));
}

void ExpectLegal(const Preset& preset, const Played& run, Clock clocks) {
  CommandChecker checker(preset.organization, preset.timing, true);
  for (const IssuedCommand& issued : run.commands) checker.Check(issued);
  checker.Finish(clocks);
  for (const Violation& violation : checker.violations()) {
    ADD_FAILURE() << preset.name << ": command " << violation.index << " at clock "
                  << violation.clock << ": " << violation.rule;
  }
}

TEST(Skip, ChangesNothingAndLosesNothingOnAnyMemory) {
  const uint64_t seed = TestSeed();
  for (const std::string& name : PresetNames()) {
    const Preset preset = PresetNamed(name);
    for (const double every : kEvery) {
      SCOPED_TRACE(name + ", a request every " + std::to_string(every));
      const auto offers = RandomOffers(preset, seed, kOffers, every, 0.4);
      const Played skipped = Play(preset, offers, kClocks, {});
      ExpectSame(skipped, Play(preset, offers, kClocks, {.skips = false}));
      ExpectConserved(skipped);
      ExpectLegal(preset, skipped, kClocks);
    }
  }
}

void ExpectSkipChangesNothing(const Preset& preset, ControllerOptions options, double every) {
  const auto offers = RandomOffers(preset, TestSeed(), kOffers, every, 0.5);
  const Played skipped = Play(preset, offers, kClocks, options);
  options.skips = false;
  ExpectSame(skipped, Play(preset, offers, kClocks, options));
  ExpectConserved(skipped);
  if (options.refreshes) ExpectLegal(preset, skipped, kClocks);
}

TEST(Skip, ChangesNothingWithOtherOptions) {
  const ControllerOptions options[] = {
      {.transactions_max = 1, .commands_max = 1},
      {.commands_max = 4, .row_hits_max = 1},
      {.commands_max = 64, .row_hits_max = ControllerOptions::kUnlimited, .refreshes = false},
      {.writes = WritePolicy::kBuffer},
      {.transactions_max = 2,
       .writes = WritePolicy::kBuffer,
       .write_buffer_max = 4,
       .idle_writes_max = 1,
       .commands_max = 3},
      {.order = OrderPolicy::kFirstCome},
      {.writes = WritePolicy::kBuffer, .order = OrderPolicy::kFirstCome, .refresh_drain = true},
      {.page = PagePolicy::kClosed},
      {.refresh_drain = true},
      {.powers_down = true},
      {.page = PagePolicy::kClosed, .powers_down = true},
      {.commands_max = 16,
       .order = OrderPolicy::kFirstCome,
       .page = PagePolicy::kClosed,
       .refresh_drain = true,
       .powers_down = true},
  };
  for (size_t i = 0; i < std::size(options); ++i) {
    for (const double every : kEvery) {
      SCOPED_TRACE("options " + std::to_string(i) + ", every " + std::to_string(every));
      ExpectSkipChangesNothing(PresetNamed(kDefaultPreset), options[i], every);
    }
  }
}

TEST(Skip, ChangesNothingWhereBanksRefreshAndColumnsHaveABus) {
  const ControllerOptions options[] = {
      {.refreshes_banks = true},
      {.page = PagePolicy::kClosed, .refreshes_banks = true, .refresh_drain = true},
      {.order = OrderPolicy::kFirstCome, .refreshes_banks = true, .refresh_drain = true},
      {.writes = WritePolicy::kBuffer, .refresh_drain = true},
  };
  uint32_t number = 0;
  for (const int ranks : {1, 2}) {
    for (const bool has_column_bus : {false, true}) {
      Preset preset = PresetNamed("hbm3-6400");
      preset.organization.ranks = ranks;
      preset.organization.has_column_bus = has_column_bus;
      for (size_t i = 0; i < std::size(options); ++i) {
        if (number++ % Stride(30) != 0) continue;  // each, or each seventh
        SCOPED_TRACE("options " + std::to_string(i) + ", ranks " + std::to_string(ranks));
        for (const double every : kEvery) ExpectSkipChangesNothing(preset, options[i], every);
      }
    }
  }
}

TEST(Skip, AllIsDoneInTheEnd) {
  const Preset preset = PresetNamed(kDefaultPreset);
  const auto offers = RandomOffers(preset, TestSeed(), kOffers, 3, 0.3);
  const Played run = Play(preset, offers, 1'000'000, {});
  EXPECT_EQ(run.accepted.size(), kOffers);
  EXPECT_EQ(run.completions.size(), kOffers);
  EXPECT_EQ(run.pending, 0);
}

TEST(Skip, RequestsForALineAreDoneInOrder) {
  const Preset preset = PresetNamed(kDefaultPreset);
  const auto offers = RandomOffers(preset, TestSeed(), kOffers, 2, 0.5);
  const Played run = Play(preset, offers, kClocks, {});
  // The commands of a line come in the order of its requests, and their kinds tell.
  const AddressMap map(Interleave::kRank, preset.organization);
  std::map<uint64_t, std::vector<bool>> asked;
  std::map<uint64_t, std::vector<bool>> commanded;
  for (size_t i = 0; i < run.accepted.size(); ++i) {
    asked[offers[i].line].push_back(offers[i].is_write);
  }
  for (const IssuedCommand& issued : run.commands) {
    if (issued.command != Command::kRead && issued.command != Command::kWrite) continue;
    const uint64_t line = map.LineOf({0, issued.rank, issued.bank, issued.row, issued.column});
    commanded[line].push_back(issued.command == Command::kWrite);
  }
  for (auto& [line, kinds] : commanded) {
    ASSERT_LE(kinds.size(), asked[line].size());
    asked[line].resize(kinds.size());
    EXPECT_EQ(kinds, asked[line]);
  }
}

}  // namespace
}  // namespace weft::sim
