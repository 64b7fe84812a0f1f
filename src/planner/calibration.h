// planner/calibration.h: what the cost model knows of a machine: the unit costs of each processor.
//
// Measured on the machine itself with all workers at work (planner/calibrator.h), kept in a file
// that names the hardware; a file of other hardware is refused, for its figures would choose the
// wrong plans.
//
// Units     nanoseconds of the processor's time: of one worker's thread with all workers at work
//           (so that what they do to each other is in it), of a device as a whole.
// Threads   values; Load and Save: any.
// Source    paper 000, table I: L_M and L_C, I_F / IPC, mu. Each work has its own L_M and L_C here,
//           for what an access costs depends on how many of them the work keeps under way, and
//           lines that follow each other in memory are told from those in the cache:
//           docs/design/0017-calibration.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/task_times.h"
#include "processor/processor.h"
#include "weft/status.h"

namespace weft::planner {

// What is done for a query, in pieces that are always done as a whole. A task of paper 000 is one
// of them or several, by the plan.
enum class Work : uint8_t {
  kReceive,        // RV
  kParse,          // PP, with the key's hash
  kPlace,          // MM: lays the object of a store
  kEmpty,          // MM: a look at an object of a segment that is emptied for room
  kSearch,         // IN.search
  kInsert,         // IN.insert, behind Search and KC of the same query; on a device with that KC
  kDelete,         // IN.delete, likewise
  kCompare,        // KC, and all that a read needs but its value
  kWrite,          // RD and WR in one: from the log into the response
  kGather,         // RD into the batch's own buffer
  kFinish,         // KC's pass over a query whose value an earlier stage has gathered
  kNote,           // notes the access of a read that was gathered from a mirror
  kWriteGathered,  // WR from the batch's own buffer
  kSettle,         // the last stage's part of a change that an earlier one made
  kHandOver,       // what a plan with several stages costs its first and its last
  kSend,           // SD
  // Beside the above, of a store or delete, with what it costs that not all queries are alike:
  kReceiveValue,   // RV of a store's value
  kParseChange,    // more than kParse
  kCompareChange,  // more than kCompare
  kAnswerChange,   // WR of its reply, instead of kWrite
  kCompareFound,   // instead of kCompare, what a device has found: nobody has asked for the object
  kCompareLeft,    // KC, and Search, of a read that a device with a copy has left
  // Of a row of queries whose values an earlier stage has gathered, beside its queries: what it
  // costs that it ends.
  kCompareRow,
  kWriteRow,
};
inline constexpr uint32_t kWorkCount = 24;

// "search", "write gathered", ...
std::string_view WorkName(Work work);
// Whose time it is counted to.
pipeline::Task TaskOf(Work work);
// Whether that is known (pipeline/task_times.h): no clock runs while a batch is handed over, and
// changes that a stage has made are settled within what else the last stage does.
bool IsTimed(Work work);

// Of one work on one processor, nanoseconds.
struct UnitCost {
  double instructions = 0;  // I_F / IPC
  double key_byte = 0;      // as much of it for each byte of the key
  double memory = 0;        // L_M: an access that goes to memory
  double stream = 0;        // a line of an object that is asked for with others, from memory
  double cache = 0;         // L_C: an access to what the processor's cache holds
  double far = 0;           // as `stream`, of those that are more than can be asked for at once

  bool operator==(const UnitCost&) const = default;
};
void Scale(UnitCost* unit, double factor);

inline constexpr double kCacheObjectBytes = 64;
inline constexpr double kCacheObjectBytesMax = 1224;  // the largest that are measured

struct ProcessorCosts {
  std::string name;          // "cpu", "opencl:0", "cuda:0"
  std::string hardware;      // as its driver says
  bool mirrored = false;     // it works on a copy of the store
  uint32_t line_bytes = 64;  // C of paper 000
  // That hold what is used most, where an object, with its part of a bucket, has kCacheObjectBytes;
  // of larger objects, up to kCacheObjectBytesMax, as many times that as their size is, to this
  // power: of long ones the next level, which is larger, saves something too.
  double cache_bytes = 0;
  double cache_growth = 0;
  std::array<UnitCost, kWorkCount> units{};
  // Beside what each query costs: of a batch (CPU), of a job (device).
  double job = 0;
  // From a job's start until its end is noticed, beside its queries' time: nobody works meanwhile.
  double job_latency = 0;
  // mu - 1: by how much it is slowed down where the other kind of processor is busy all the time.
  double interference = 0;
  // Of a device: what a worker takes in plans with it, instead of the CPU's units, for works that
  // find lines which the device has written or read, or what it has looked at in their stead. None:
  // as the CPU's.
  std::array<UnitCost, kWorkCount> worker_units{};
  double worker_job = 0;  // a batch of such a plan, more than the CPU's `job`
  // Of what follows the store for a mirrored device: a changed entry of the index, a byte of an
  // object.
  double change = 0;
  double change_byte = 0;

  const UnitCost& unit(Work work) const { return units[static_cast<size_t>(work)]; }
  UnitCost& unit(Work work) { return units[static_cast<size_t>(work)]; }
  bool operator==(const ProcessorCosts&) const = default;
};

struct Calibration {
  std::string hardware;        // of the host: its processors and how many of them
  std::string date;            // UTC
  uint32_t workers = 1;        // that were at work while it was measured
  uint64_t scratch_bytes = 0;  // that it was measured in, beside a server; 0: with no such limit
  ProcessorCosts cpu;
  std::vector<ProcessorCosts> devices;  // gpu0, gpu1, ... of plans

  bool operator==(const Calibration&) const = default;
};

// What a calibration of this machine with these devices says of its hardware.
std::string HardwareOf(const std::vector<processor::Description>& devices);

// Where this user's calibration of such hardware, with so many workers, is kept unless a path is
// given.
std::string DefaultPath(std::string_view hardware, uint32_t workers);

std::string ToText(const Calibration& calibration);  // JSON, of one version
// kCorruption where it is no calibration or a figure is missing, negative or no number;
// kUnsupported where it is of another version.
Result<Calibration> ParseCalibration(std::string_view text);

// kNotFound: there is no such file. kIoError: it can't be read. kInvalidArgument: it is of other
// hardware than `hardware`, and the message names both.
Result<Calibration> LoadCalibration(const std::string& path, std::string_view hardware);
// Makes its folder where there is none. The file is whole or as it was.
Status SaveCalibration(const std::string& path, const Calibration& calibration);

}  // namespace weft::planner
