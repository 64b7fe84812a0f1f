#include "planner/learner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "planner/machine_test_kit.h"

namespace weft::planner {
namespace {

using pipeline::Task;

constexpr double kQueriesTaken = 30'000;
constexpr double kBatch = 1000;

Calibration Wrong(double factor) {
  Calibration machine = TestMachine();
  const auto spoil = [factor](ProcessorCosts* costs) {
    for (UnitCost& unit : costs->units) Scale(&unit, factor);
    costs->job *= factor;
  };
  spoil(&machine.cpu);
  for (ProcessorCosts& device : machine.devices) spoil(&device);
  return machine;
}

Candidate PlanOf(const char* text, bool steal) { return {*pipeline::Plan::Parse(text), steal}; }
Candidate OneStage() { return {pipeline::Plan::OneStageCpu(), false}; }
Candidate DeviceReads() {
  return PlanOf("[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu", true);
}

Profile HalfStores() {
  Profile profile;
  profile.get_share = 0.5;
  profile.looks_per_store = 2;
  return profile;
}

Estimate EstimateOn(const Calibration& machine, const Candidate& candidate) {
  Model model(machine, HalfStores(), Conditions());
  return *model.Of(candidate.plan, candidate.steal, kBatch);
}

// What the machine takes that everything was measured on: all batches by the candidate.
Measured TakenBy(const Candidate& candidate) {
  const Estimate truth = EstimateOn(TestMachine(), candidate);
  Measured measured;
  measured.queries = kQueriesTaken;
  measured.batch_queries = kBatch;
  measured.elapsed_ns = kQueriesTaken * truth.longest_ns;
  const bool on_device = candidate.plan.stages().size() > 1;
  if (on_device) {
    measured.device_queries = kQueriesTaken;
    measured.device_batches = kQueriesTaken / kBatch;
    measured.stolen_queries = kQueriesTaken * truth.stolen_share;
    measured.elapsed_ns = kQueriesTaken * truth.device_ns;  // it never waits
    measured.device_ns = 3 * measured.elapsed_ns;           // so many batches are there
  }
  for (size_t i = 0; i < measured.task_ns.size(); i++)
    measured.task_ns[i] =
        kQueriesTaken * (truth.task_ns[i] + truth.stolen_share * truth.stolen_task_ns[i]);
  return measured;
}

void Learn(Learner* learner, const Candidate& candidate, int times) {
  const Measured measured = TakenBy(candidate);
  for (int i = 0; i < times; i++) learner->Learn(measured, HalfStores(), Conditions(), candidate);
}

TEST(Learner, HealsAWrongCalibration) {
  for (const double factor : {1.8, 1 / 1.8}) {
    for (const Candidate& candidate : {OneStage(), DeviceReads()}) {
      Learner learner(Wrong(factor));
      const double truth = EstimateOn(TestMachine(), candidate).queries_per_s;
      const double before = EstimateOn(learner.learned(), candidate).queries_per_s;
      EXPECT_GT(std::abs(before / truth - 1), 0.4) << candidate.plan.ToText();
      Learn(&learner, candidate, 5);
      const double soon = EstimateOn(learner.learned(), candidate).queries_per_s;
      EXPECT_GT(std::abs(soon / truth - 1), 0.1) << "slowly: one span may be disturbed";
      Learn(&learner, candidate, 35);
      const double after = EstimateOn(learner.learned(), candidate).queries_per_s;
      EXPECT_NEAR(after / truth, 1, 0.05) << candidate.plan.ToText();
    }
  }
}

TEST(Learner, LeavesARightCalibrationAsItIs) {
  Learner learner(TestMachine());
  Learn(&learner, OneStage(), 100);
  Learn(&learner, DeviceReads(), 100);
  for (size_t i = 0; i < pipeline::kTaskCount; i++)
    EXPECT_NEAR(learner.factor(static_cast<Task>(i)), 1, 1e-6);
  std::string what;
  EXPECT_FALSE(learner.HasMoved(0.05, &what));
}

// A task that alone is wrong is healed alone.
TEST(Learner, TellsTasksApart) {
  Calibration machine = TestMachine();
  for (double UnitCost::*figure : {&UnitCost::instructions, &UnitCost::memory, &UnitCost::stream})
    machine.cpu.unit(Work::kSearch).*figure *= 1.5;
  Learner learner(machine);
  Learn(&learner, OneStage(), 60);
  EXPECT_NEAR(learner.factor(Task::kSearch), 1 / 1.5, 0.02);
  EXPECT_NEAR(learner.factor(Task::kCompare), 1, 1e-6);
  EXPECT_NEAR(learner.device_factor(0), 1, 1e-6);
  std::string what;
  EXPECT_TRUE(learner.HasMoved(0.05, &what));
  EXPECT_EQ(what.substr(0, 20), "IN.search takes 0.67");
  learner.NoteUse();
  EXPECT_FALSE(learner.HasMoved(0.05, &what));
}

// Who drives a device with a copy follows the store in the same time, which is no error of the
// device's.
TEST(Learner, FollowingTheStoreIsNotTheDevicesError) {
  const Candidate reads =
      PlanOf("[RV PP MM]cpu -> [IN.search KC RD]gpu1 -> [IN.insert IN.delete WR SD]cpu", false);
  const Estimate truth = EstimateOn(TestMachine(), reads);
  ASSERT_GT(truth.following_ns, 0.5 * truth.device_ns);
  Measured measured = TakenBy(reads);
  measured.elapsed_ns = kQueriesTaken * (truth.device_ns + truth.following_ns);
  measured.device_ns = 3 * measured.elapsed_ns;
  Learner learner(TestMachine());
  for (int i = 0; i < 40; i++) learner.Learn(measured, HalfStores(), Conditions(), reads);
  EXPECT_NEAR(learner.device_factor(1), 1, 0.01);
}

// A server parses and writes more than calibration's requests have: more than factors may say is
// taken with the sockets, so that all that a thread takes is told right.
TEST(Learner, WhatNoFactorExplainsIsTakenWithTheSockets) {
  Learner learner(TestMachine());
  Measured measured = TakenBy(OneStage());
  const auto parse = static_cast<size_t>(Task::kParse);
  measured.task_ns[parse] *= 10;
  const double truth = EstimateOn(TestMachine(), OneStage()).worker_ns +
                       0.9 * measured.task_ns[parse] / kQueriesTaken;
  measured.cpu_ns = kQueriesTaken * truth;
  for (int i = 0; i < 60; i++) learner.Learn(measured, HalfStores(), Conditions(), OneStage());
  EXPECT_EQ(learner.factor(Task::kParse), Learner::kFactorMax);
  EXPECT_GT(learner.sockets_ns(), 0);
  EXPECT_NEAR(EstimateOn(learner.learned(), OneStage()).worker_ns, truth, truth * 0.01);
}

// Sockets, which a calibration lacks, make everything slower and a device worth less.
TEST(Learner, WhatThreadsTakeBesideTheirTasksIsReceivingAndSending) {
  constexpr double kSocketsNs = 400;
  for (const Candidate& candidate : {OneStage(), DeviceReads()}) {
    Learner learner(TestMachine());
    const auto gain = [&learner] {
      return EstimateOn(learner.learned(), DeviceReads()).queries_per_s /
             EstimateOn(learner.learned(), OneStage()).queries_per_s;
    };
    const double gain_before = gain();
    Measured measured = TakenBy(candidate);
    // A server times neither.
    for (const Task task : {Task::kReceive, Task::kSend})
      measured.task_ns[static_cast<size_t>(task)] = 0;
    const Estimate truth = EstimateOn(TestMachine(), candidate);
    measured.cpu_ns = kQueriesTaken * (truth.worker_ns + kSocketsNs);
    for (int i = 0; i < 20; i++) learner.Learn(measured, HalfStores(), Conditions(), candidate);
    EXPECT_NEAR(learner.sockets_ns(), kSocketsNs, 1) << candidate.plan.ToText();
    EXPECT_NEAR(EstimateOn(learner.learned(), OneStage()).worker_ns,
                EstimateOn(TestMachine(), OneStage()).worker_ns + kSocketsNs, 2);
    EXPECT_GT(gain_before, 1);
    EXPECT_LT(gain() - 1, (gain_before - 1) * 0.9);
    std::string what;
    EXPECT_TRUE(learner.HasMoved(0.05, &what));
    EXPECT_EQ(what, "sockets take 400 ns a query");
    learner.NoteUse();
    EXPECT_FALSE(learner.HasMoved(0.05, &what));
    // Who is told nothing of threads forgets nothing, and learns nothing.
    measured.cpu_ns = 0;
    learner.Learn(measured, HalfStores(), Conditions(), candidate);
    EXPECT_NEAR(learner.sockets_ns(), kSocketsNs, 1);
    // They become cheap, as where more requests come at once.
    measured.cpu_ns = kQueriesTaken * truth.worker_ns;
    for (int i = 0; i < 20; i++) learner.Learn(measured, HalfStores(), Conditions(), candidate);
    EXPECT_NEAR(learner.sockets_ns(), 0, 1);
  }
}

// What a worker takes beside a device is the same task's.
TEST(Learner, CorrectsWhatWorkersTakeBesideADevice) {
  Calibration machine = TestMachine();
  const auto parse = static_cast<size_t>(Work::kParse);
  const auto receive = static_cast<size_t>(Work::kReceive);
  machine.devices[0].worker_units[parse] = {4, 0, 0, 0, 0};
  machine.devices[0].worker_units[receive] = {3, 0, 0, 0, 0};
  Learner learner(machine);
  Measured measured = TakenBy(OneStage());
  measured.task_ns[static_cast<size_t>(Task::kParse)] *= 1.5;
  double in_tasks = 0;
  for (const double ns : measured.task_ns) in_tasks += ns;
  measured.cpu_ns = in_tasks + 100 * kQueriesTaken;  // of sockets
  for (int i = 0; i < 60; i++) learner.Learn(measured, HalfStores(), Conditions(), OneStage());
  const ProcessorCosts& cpu = learner.learned().cpu;
  const ProcessorCosts& device = learner.learned().devices[0];
  EXPECT_NEAR(device.worker_units[parse].instructions, 4 * learner.factor(Task::kParse), 1e-9);
  EXPECT_NEAR(learner.factor(Task::kParse), 1.5, 0.05);
  EXPECT_GT(learner.sockets_ns(), 50);
  EXPECT_NEAR(device.worker_units[receive].instructions,
              3 * learner.factor(Task::kReceive) + learner.sockets_ns(), 1e-9);
  EXPECT_NEAR(cpu.unit(Work::kReceive).instructions,
              learner.factor(Task::kReceive) + learner.sockets_ns(), 1e-9);
  // None where none was measured.
  EXPECT_EQ(learner.learned().devices[1].worker_units[receive], UnitCost());
}

TEST(Learner, IsBounded) {
  for (const double absurd : {1e-300, 1e-9, 1e9, 1e300}) {
    Learner learner(TestMachine());
    Measured measured = TakenBy(DeviceReads());
    for (double& ns : measured.task_ns) ns *= absurd;
    measured.elapsed_ns = std::min(measured.elapsed_ns * absurd, 1e300);
    measured.device_ns = 3 * measured.elapsed_ns;
    for (int i = 0; i < 1000; i++)
      learner.Learn(measured, HalfStores(), Conditions(), DeviceReads());
    const double bound = absurd < 1 ? 0.5 : 2;
    EXPECT_DOUBLE_EQ(learner.factor(Task::kCompare), bound);
    const Estimate estimate = EstimateOn(learner.learned(), DeviceReads());
    const Estimate truth = EstimateOn(TestMachine(), DeviceReads());
    EXPECT_LE(estimate.worker_ns, truth.worker_ns * 2.5);
    EXPECT_GE(estimate.worker_ns, truth.worker_ns / 2.5);
  }
}

TEST(Learner, TakesNoNonsense) {
  Learner learner(TestMachine());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double nonsense : {nan, infinity, -infinity, -5.0, 0.0}) {
    Measured measured = TakenBy(DeviceReads());
    for (double& ns : measured.task_ns) ns = nonsense;
    measured.device_ns = nonsense;
    learner.Learn(measured, HalfStores(), Conditions(), DeviceReads());
    measured.elapsed_ns = nonsense;
    learner.Learn(measured, HalfStores(), Conditions(), DeviceReads());
    measured.queries = nonsense;
    learner.Learn(measured, HalfStores(), Conditions(), DeviceReads());
  }
  EXPECT_EQ(learner.learned(), TestMachine());
}

// Between never and always two batches on the device, waiting is not told from working.
TEST(Learner, LearnsOfDevicesWhatIsPlain) {
  const auto factor = [](double under_way) {
    Learner learner(TestMachine());
    Measured measured = TakenBy(DeviceReads());
    const double latency = measured.device_batches * TestMachine().devices[0].job_latency;
    measured.device_ns = under_way * measured.elapsed_ns * 1.3 + latency;
    measured.elapsed_ns *= 1.3;
    for (int i = 0; i < 80; i++) learner.Learn(measured, HalfStores(), Conditions(), DeviceReads());
    return learner.device_factor(0);
  };
  EXPECT_NEAR(factor(4), 1.3, 0.1);
  EXPECT_EQ(factor(1), 1);
  EXPECT_LT(factor(0.1), 0.6);  // then it works a tenth of the time
}

}  // namespace
}  // namespace weft::planner
