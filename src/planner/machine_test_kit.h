// planner/machine_test_kit.h: a machine of round figures, for tests: two workers, gpu0 on coupled
// memory, gpu1 with memory of its own.
#pragma once

#include "planner/calibration.h"

namespace weft::planner {

// A stream figure of so much is 1 for a value of 64 bytes and its header.
inline constexpr double kGatheredLines = 64.0 / (8 + 64);

inline Calibration TestMachine() {
  Calibration machine;
  machine.hardware = "2 x round figures";
  machine.date = "2026-11-22T15:00:00Z";
  machine.workers = 2;
  ProcessorCosts& cpu = machine.cpu;
  cpu.name = "cpu";
  cpu.hardware = "round figures";
  //                    instructions, a byte of the key, memory, stream, cache
  cpu.unit(Work::kReceive) = {1, 0, 0, 0, 0};
  cpu.unit(Work::kParse) = {2, 0.5, 0, 0, 0};
  cpu.unit(Work::kPlace) = {10, 0, 0, 8, 0};
  cpu.unit(Work::kEmpty) = {5, 0, 10, 0, 0};
  cpu.unit(Work::kSearch) = {4, 0, 10, 0, 0};
  cpu.unit(Work::kInsert) = {20, 0, 10, 0, 0};
  cpu.unit(Work::kDelete) = {8, 0, 10, 0, 0};
  cpu.unit(Work::kCompare) = {3, 0, 10, 1, 0};
  cpu.unit(Work::kWrite) = {5, 0, 10, 1, 0};
  cpu.unit(Work::kGather) = {6, 0, 10, 2 * kGatheredLines, 0};
  cpu.unit(Work::kFinish) = {2, 0, 0, 0, 0};
  cpu.unit(Work::kNote) = {0, 0, 8, 0, 0};
  cpu.unit(Work::kWriteGathered) = {3, 0, 0, 1, 0};
  cpu.unit(Work::kSettle) = {2, 0, 0, 0, 0};
  cpu.unit(Work::kCompareFound) = {3, 0, 10, 0, 0};
  cpu.unit(Work::kCompareLeft) = {0, 0, 32, 0, 0};
  cpu.unit(Work::kHandOver) = {1, 0, 0, 0, 0};
  ProcessorCosts coupled;
  coupled.name = "opencl:0";
  coupled.hardware = "more round figures";
  coupled.job = 1000;
  coupled.job_latency = 5000;
  coupled.unit(Work::kSearch) = {1, 0, 2, 0, 0};
  coupled.unit(Work::kCompare) = {1, 0, 2, 0, 0};
  coupled.unit(Work::kGather) = {1, 0, 2, 2 * kGatheredLines, 0};
  coupled.unit(Work::kInsert) = {10, 0, 4, 0, 0};
  coupled.unit(Work::kDelete) = {10, 0, 4, 0, 0};
  ProcessorCosts mirrored = coupled;
  mirrored.name = "cuda:0";
  mirrored.mirrored = true;
  mirrored.job = 20'000;
  mirrored.job_latency = 40'000;
  mirrored.unit(Work::kSearch) = {0.1, 0, 0.2, 0, 0};
  mirrored.unit(Work::kCompare) = {0.1, 0, 0.2, 0, 0};
  mirrored.unit(Work::kGather) = {0.5, 0, 0.2, 0.5 * kGatheredLines, 0};
  mirrored.change = 40;
  mirrored.change_byte = 0.1;
  machine.devices = {coupled, mirrored};
  return machine;
}

}  // namespace weft::planner
