// planner/planner_test_kit.h: machines, workers and their queries for tests of the planner.
#pragma once

#include "base/ticks.h"
#include "planner/planner.h"
#include "planner/test_machine.h"
#include "planner/test_workload.h"

namespace weft::planner {

inline constexpr uint32_t kWindowGroups = 2;

// With gpu0 alone, whose work takes `slower` times as long.
inline Calibration Machine(double slower = 1) {
  Calibration machine = TestMachine();
  machine.devices.resize(1);
  for (UnitCost& unit : machine.devices[0].units) {
    unit.instructions *= slower;
    unit.memory *= slower;
    unit.stream *= slower;
  }
  machine.devices[0].job *= slower;
  return machine;
}

// With a device that reads quickly and follows stores slowly: half stores are best left to the CPU.
inline Calibration ReadingMachine(uint32_t workers) {
  Calibration machine = TestMachine();
  machine.devices.erase(machine.devices.begin());
  machine.devices[0].change = 400.0 / workers;
  machine.cpu.unit(Work::kSearch).memory = 40;
  return machine;
}

inline Planner::Options OptionsFor(uint32_t workers) {
  Planner::Options options;
  options.conditions.workers = workers;
  options.conditions.queries_max = 16384;
  options.window_us = 0;  // by queries alone
  return options;
}

// Queries of a workload to all workers, until each has counted a window.
inline void FeedWindow(RandomQueries* queries, Planner* planner, uint32_t workers) {
  for (uint32_t group = 0; group < kWindowGroups; group++)
    for (uint32_t worker = 0; worker < workers; worker++) {
      queries->Count(1, &planner->profiler(worker));
      planner->Note(worker);
    }
}

// Counts what the tasks of so many queries take of a worker on the machine.
inline void AddTimes(const Calibration& machine, const Profile& truth, const Decision& decision,
                     double queries, pipeline::TaskTimes* times) {
  static const double ticks_per_ns = 1e9 / static_cast<double>(base::NsOfTicks(1'000'000'000));
  Model model(machine, truth, Conditions());
  auto estimate = model.Of(decision.candidate.plan, decision.candidate.steal, 1024);
  for (size_t i = 0; i < pipeline::kTaskCount; i++)
    times->Add(static_cast<pipeline::Task>(i),
               static_cast<uint64_t>(estimate->task_ns[i] * queries * ticks_per_ns), 0);
}

}  // namespace weft::planner
