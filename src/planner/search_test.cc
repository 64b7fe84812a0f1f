#include "planner/search.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "pipeline/plan_test_kit.h"
#include "planner/machine_test_kit.h"

namespace weft::planner {
namespace {

Conditions SomeConditions(std::mt19937_64* random) {
  Conditions conditions;
  conditions.workers = 1 + static_cast<uint32_t>((*random)() % 16);
  conditions.batches = 1 + static_cast<uint32_t>((*random)() % 4);
  conditions.queries_max = 64u << (*random)() % 9;
  conditions.interval_us = 50.0 * static_cast<double>(1 + (*random)() % 40);
  return conditions;
}

Profile SomeProfile(std::mt19937_64* random) {
  std::uniform_real_distribution<double> unit(0, 1);
  Profile profile;
  profile.get_share = unit(*random);
  profile.delete_share = (1 - profile.get_share) * unit(*random);
  profile.hit_share = unit(*random);
  profile.key_bytes = 8 << (*random)() % 5;
  profile.value_bytes = 8 << (*random)() % 9;
  profile.zipf = (*random)() % 2 == 0 ? 0 : unit(*random) * 1.2;
  profile.objects = std::pow(10, 3 + 6 * unit(*random));
  profile.looks_per_store = 3 * unit(*random);
  return profile;
}

// The machine with every unit cost anything from a quarter to four times of what it is.
Calibration SomeMachine(std::mt19937_64* random) {
  std::uniform_real_distribution<double> exponent(-2, 2);
  Calibration machine = TestMachine();
  machine.cpu.cache_bytes = 1e6;
  const auto change = [&](ProcessorCosts* costs) {
    for (UnitCost& unit : costs->units) {
      unit.instructions *= std::exp2(exponent(*random));
      unit.memory *= std::exp2(exponent(*random));
      unit.stream *= std::exp2(exponent(*random));
      unit.cache *= std::exp2(exponent(*random));
    }
    costs->job *= std::exp2(exponent(*random));
    costs->interference = std::exp2(exponent(*random)) / 4;
  };
  change(&machine.cpu);
  // A copy into the batch's buffer costs what one into the response does, and is followed by that.
  machine.cpu.unit(Work::kGather) = machine.cpu.unit(Work::kWrite);
  for (ProcessorCosts& device : machine.devices) change(&device);
  return machine;
}

pipeline::Plan ReadsOnDevice() {
  auto plan = pipeline::Plan::Parse(
      "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu");
  EXPECT_TRUE(plan);
  return plan ? *plan : pipeline::Plan::OneStageCpu();
}

TEST(AllPlans, AreDifferentAndBeginWithTheCpus) {
  const std::vector<Candidate> plans = AllPlans(TestMachine());
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(plans[0].plan, pipeline::Plan::OneStageCpu());
  std::set<std::string> texts;
  for (const Candidate& each : plans)
    EXPECT_TRUE(texts.insert(each.plan.ToText() + (each.steal ? " steal" : "")).second)
        << each.plan.ToText();
}

// Nothing is known of what they would cost there.
TEST(AllPlans, LeaveOutChangesThatWereNotMeasured) {
  Calibration machine = TestMachine();
  machine.devices.resize(1);
  const size_t all = AllPlans(machine).size();
  machine.devices[0].unit(Work::kInsert) = {};
  machine.devices[0].unit(Work::kDelete) = {};
  const std::vector<Candidate> plans = AllPlans(machine);
  EXPECT_LT(plans.size(), all);
  for (const Candidate& each : plans) {
    for (const pipeline::Stage& stage : each.plan.stages()) {
      if (stage.processor == "cpu") continue;
      EXPECT_FALSE(stage.Has(pipeline::Task::kInsert)) << each.plan.ToText();
      EXPECT_FALSE(stage.Has(pipeline::Task::kDelete)) << each.plan.ToText();
    }
  }
}

// Whichever of both was measured.
TEST(AllPlans, GiveADeviceTheChangesThatWereMeasured) {
  const auto counts = [](const Calibration& machine, pipeline::Task task) {
    size_t count = 0;
    for (const Candidate& each : AllPlans(machine))
      for (const pipeline::Stage& stage : each.plan.stages())
        count += stage.processor != "cpu" && stage.Has(task) ? 1 : 0;
    return count;
  };
  Calibration machine = TestMachine();
  machine.devices.resize(1);
  // Ten choices of what a read has there; three of where the other change is; with stealing or not.
  EXPECT_EQ(counts(machine, pipeline::Task::kInsert), 10u * 3 * 2);
  EXPECT_EQ(counts(machine, pipeline::Task::kDelete), 10u * 3 * 2);
  machine.devices[0].unit(Work::kDelete) = {};
  EXPECT_EQ(counts(machine, pipeline::Task::kInsert), 10u * 2 * 2);
  EXPECT_EQ(counts(machine, pipeline::Task::kDelete), 0u);
}

TEST(AllPlans, OfNoDeviceIsTheCpusAlone) {
  Calibration machine = TestMachine();
  machine.devices.clear();
  EXPECT_EQ(AllPlans(machine).size(), 1u);
}

// A mirror changes nothing: six plans of reads, with stealing and without.
TEST(AllPlans, OfAMirrorAreThoseOfReads) {
  Calibration machine = TestMachine();
  machine.devices.erase(machine.devices.begin());
  EXPECT_EQ(AllPlans(machine).size(), 1u + 2 * 6);
}

// Every legal plan of up to three stages that the model knows, estimated one by one: none is
// better than what the search found.
TEST(RankPlans, FindsWhatTryingAllLegalPlansFinds) {
  std::mt19937_64 random(cache::TestSeed());
  std::vector<pipeline::Plan> legal;
  for (const uint32_t stages : {1u, 2u, 3u})
    for (pipeline::Plan& plan : pipeline::LegalPlans(stages)) legal.push_back(std::move(plan));
  ASSERT_GT(legal.size(), 200u);
  std::set<std::string> winners;
  for (int round = 0; round < 40; round++) {
    Calibration machine = SomeMachine(&random);
    machine.devices.resize(1);  // the legal plans' only device
    const Profile profile = SomeProfile(&random);
    Conditions conditions = SomeConditions(&random);
    const std::vector<Choice> ranked = RankPlans(machine, profile, conditions, AllPlans(machine));
    Choice best = ranked.front();
    best.estimate = ForChoice(best.candidate, best.estimate);
    winners.insert(best.candidate.plan.ToText());
    for (const pipeline::Plan& plan : legal) {
      for (const bool steal : {false, true}) {
        conditions.steal = steal;
        auto estimate = EstimatePlan(machine, profile, plan, conditions);
        if (!estimate) continue;  // several stages on devices
        *estimate = ForChoice({plan, steal}, *estimate);
        if (estimate->fits) {
          ASSERT_TRUE(best.estimate.fits);
          ASSERT_LE(estimate->queries_per_s, best.estimate.queries_per_s * (1 + 1e-9))
              << plan.ToText() << " is better than " << best.candidate.plan.ToText();
        } else if (!best.estimate.fits) {
          ASSERT_GE(estimate->latency_us, best.estimate.latency_us * (1 - 1e-9));
        }
      }
    }
  }
  EXPECT_GT(winners.size(), 2u) << "the machines are too much alike to show anything";
}

// One estimate is as wrong as another; one stage is what loses nothing.
TEST(RankPlans, LeavesOneStageForAGainAlone) {
  Calibration machine = TestMachine();
  machine.devices.resize(1);
  Profile profile;
  profile.batch_queries = 1000;
  Conditions conditions;
  const auto chosen = [&] {
    return RankPlans(machine, profile, conditions, AllPlans(machine)).front();
  };
  EXPECT_GT(chosen().candidate.plan.stages().size(), 1u);
  // A device so slow that its best plan is some percent better, and then as much worse.
  const double one_stage =
      EstimatePlan(machine, profile, pipeline::Plan::OneStageCpu(), conditions)->queries_per_s;
  double at_the_change = 0;
  while (chosen().candidate.plan.stages().size() > 1) {
    at_the_change = chosen().estimate.queries_per_s / one_stage;
    for (UnitCost& unit : machine.devices[0].units) Scale(&unit, 1.01);
    machine.devices[0].job *= 1.01;
  }
  EXPECT_GE(at_the_change, 1 + kDeviceGainMin);
  EXPECT_LT(at_the_change, 1.02 + kDeviceGainMin);
}

// What a plan yields counts for throughput and latency, and so for the largest batch that fits.
TEST(Estimate, AYieldIsAPartOfThroughput) {
  const Calibration machine = TestMachine();
  const pipeline::Plan plan = ReadsOnDevice();
  Conditions conditions;
  conditions.workers = 2;
  conditions.queries_max = 1 << 20;
  conditions.interval_us = 500;
  Model model(machine, Profile(), conditions);
  const Estimate whole = *model.Of(plan, false, 4096), half = *model.Of(plan, false, 4096, 0.5);
  EXPECT_NEAR(half.queries_per_s, whole.queries_per_s / 2, 1);
  EXPECT_NEAR(half.latency_us, whole.latency_us * 2, 1e-6);
  EXPECT_NEAR(half.worker_ns, whole.worker_ns, 1e-9) << "it is nobody's time";
  const Estimate largest = *model.Of(plan, false, 0), smaller = *model.Of(plan, false, 0, 0.5);
  EXPECT_TRUE(largest.fits && smaller.fits);
  EXPECT_LT(smaller.batch_queries, 0.6 * largest.batch_queries);
  EXPECT_GT(smaller.latency_us, 0.9 * conditions.interval_us);
  EXPECT_FALSE(model.Of(plan, false, largest.batch_queries, 0.5)->fits);
}

// A plan with a device that was tried needs less of a gain than one that was not.
TEST(ForChoice, WhatIsKnownIsTrusted) {
  const pipeline::Plan plan = ReadsOnDevice();
  Estimate estimate;
  estimate.queries_per_s = 1e6;
  estimate.latency_us = 100;
  const auto rate = [&](const Candidate& candidate, bool is_known) {
    return ForChoice(candidate, estimate, is_known).queries_per_s;
  };
  const Candidate device = {plan, true}, one_stage = {pipeline::Plan::OneStageCpu(), false};
  EXPECT_EQ(rate(device, false), 1e6);
  EXPECT_NEAR(rate(one_stage, false) / rate(device, false), 1 + kDeviceGainMin, 1e-9);
  EXPECT_NEAR(rate(one_stage, true) / rate(device, true), 1 + kKnownGainMin, 1e-9);
}

TEST(EstimateAll, YieldsAreOfTheirCandidates) {
  const Calibration machine = TestMachine();
  const auto candidates = AllPlans(machine);
  std::vector<Yields::Yield> yields(candidates.size());
  yields[3].ratio = 0.25;
  Model model(machine, Profile(), Conditions());
  const auto told = EstimateAll(&model, candidates, 1000);
  const auto known = EstimateAll(&model, candidates, 1000, yields);
  for (size_t i = 0; i < told.size(); i++)
    EXPECT_NEAR(known[i].queries_per_s, told[i].queries_per_s * (i == 3 ? 0.25 : 1), 1);
}

// The smaller batches of a plan that yields less have their part in that.
TEST(OutlookOf, WhatWasTriedIsEstimatedToHaveWhatItHad) {
  Calibration machine = TestMachine();
  machine.devices.erase(machine.devices.begin());
  machine.devices[0].job_latency = 800'000;
  const auto candidates = AllPlans(machine);
  Conditions conditions;
  conditions.workers = 2;
  conditions.queries_max = 1 << 20;
  conditions.interval_us = 4000;
  const Profile profile;
  Model model(machine, profile, conditions);
  const auto told = EstimateAll(&model, candidates, 0);
  Yields yields(candidates.size());
  yields.Visit(profile, 0);
  size_t smaller = 0;
  for (const double part : {0.3, 0.6, 1.2}) {
    for (int trial = 0; trial < 40; trial++)  // of all in turn: none is forgotten
      for (size_t i = 0; i < candidates.size(); i++)
        yields.Note(i, false, told[i].queries_per_s * part, 1);
    const Outlook outlook = OutlookOf(&model, candidates, 0, yields, false);
    ASSERT_EQ(outlook.estimates.size(), candidates.size());
    for (size_t i = 0; i < candidates.size(); i++) {
      const std::string name = candidates[i].plan.ToText();
      const bool has_one_stage = i == 0;  // whose batches are as large as they may be
      EXPECT_NEAR(outlook.estimates[i].queries_per_s / told[i].queries_per_s / part, 1, 0.02)
          << name;
      EXPECT_TRUE(outlook.estimates[i].fits) << name;
      if (has_one_stage) continue;
      EXPECT_GT(outlook.estimates[i].latency_us, 0.95 * conditions.interval_us) << name;
      if (part > 1) continue;
      EXPECT_LT(outlook.estimates[i].batch_queries, told[i].batch_queries) << name;
      const double alone =
          model.Of(candidates[i].plan, candidates[i].steal, 0, part)->queries_per_s;
      smaller += alone < told[i].queries_per_s * part * 0.9;
    }
  }
  EXPECT_GT(smaller, 0u) << "batches do not count here";
}

// Batches that are large enough for a plan are not where it yields less, but are where one stage
// does, too.
TEST(FewestQueries, FollowYields) {
  const Calibration machine = TestMachine();
  const pipeline::Plan plan = ReadsOnDevice();
  Conditions conditions;
  conditions.workers = 2;
  conditions.interval_us = 1e6;
  Model model(machine, Profile(), conditions);
  const uint32_t fewest = FewestQueriesOf(&model, {plan, false}, 8192);
  ASSERT_LE(fewest, 8192u);
  EXPECT_GT(FewestQueriesOf(&model, {plan, false}, 8192, 0.6), fewest);
  EXPECT_EQ(FewestQueriesOf(&model, {plan, false}, 8192, 0.6, 0.6), fewest);
}

TEST(RankPlans, PutsThoseThatFitFirst) {
  std::mt19937_64 random(cache::TestSeed());
  const Calibration machine = TestMachine();
  for (int round = 0; round < 50; round++) {
    const auto ranked =
        RankPlans(machine, SomeProfile(&random), SomeConditions(&random), AllPlans(machine));
    for (size_t i = 1; i < ranked.size(); i++) {
      const Estimate before = ForChoice(ranked[i - 1].candidate, ranked[i - 1].estimate);
      const Estimate after = ForChoice(ranked[i].candidate, ranked[i].estimate);
      ASSERT_GE(before.fits, after.fits);
      if (!after.fits) continue;
      ASSERT_GE(before.queries_per_s, after.queries_per_s);
    }
  }
}

TEST(RankPlans, PrefersTheCpuWhereADeviceAddsNothing) {
  Calibration machine = TestMachine();
  for (ProcessorCosts& device : machine.devices)
    for (UnitCost& unit : device.units) unit.instructions += 1000;
  const auto ranked = RankPlans(machine, Profile(), Conditions(), AllPlans(machine));
  EXPECT_EQ(ranked.front().candidate.plan, pipeline::Plan::OneStageCpu());
}

// A job costs 1 us and 5 us of waiting: some thousand queries are needed to make up for that, one
// batch at a time.
TEST(FewestQueries, GrowWithWhatAJobCosts) {
  Calibration machine = TestMachine();
  Conditions conditions;
  conditions.workers = 2;
  const pipeline::Plan plan = ReadsOnDevice();
  const Candidate reads = {plan, false};
  const auto fewest = [&] { return FewestQueriesOf(machine, Profile(), conditions, reads, 8192); };
  const uint32_t first = fewest();
  EXPECT_GE(first, 64u);
  EXPECT_LE(first, 1024u);
  EXPECT_EQ(first % 64, 0u);
  // The fewest: one set less does not pay.
  Profile less;
  less.batch_queries = first - 64;
  Conditions alone = conditions;
  alone.steal = false;
  if (first > 64) {
    auto with = EstimatePlan(machine, less, plan, alone);
    auto without = EstimatePlan(machine, less, pipeline::Plan::OneStageCpu(), alone);
    ASSERT_TRUE(with && without);
    EXPECT_FALSE(with->fits && with->queries_per_s > without->queries_per_s);
  }
  machine.devices[0].job = 50'000;
  EXPECT_GT(fewest(), first);
  machine.devices[0].unit(Work::kSearch).instructions = 1000;
  EXPECT_EQ(fewest(), 8193u);
}

}  // namespace
}  // namespace weft::planner
