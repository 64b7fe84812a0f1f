// planner/calibration.h: the cost model's knowledge of a machine: unit costs of each processor.
//
// Measured on the machine itself with all workers at work (planner/calibrator.h), and kept in a
// file that names the hardware. A file of other hardware is refused, because its figures would
// choose the wrong plans.
//
// Units     nanoseconds of the processor's time: of one worker's thread with all workers at work
//           (so that their effects on each other are included), of a device as a whole.
// Threads   values; Load and Save: any.
// Source    paper 000, table I: L_M and L_C, I_F / IPC, mu. Each work has its own L_M and L_C here,
//           because the cost of an access depends on how many of them the work keeps under way.
//           Consecutive lines in memory have another cost than lines in the cache:
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

// The work for a query, in pieces that are always done as a whole. A task of paper 000 is one or
// several of them, depending on the plan.
enum class Work : uint8_t {
  kReceive,        // RV
  kParse,          // PP: with the key's hash
  kPlace,          // MM: lays the object of a store
  kEmpty,          // MM: a look at an object of a segment that is emptied for room;
  kSearch,         // IN.search
  kInsert,         // IN.insert: behind Search and KC of the same query; on a device with that KC;
  kDelete,         // IN.delete: likewise
  kCompare,        // KC: and all that a read needs except its value
  kWrite,          // RD and WR in one: from the log into the response;
  kGather,         // RD: into the batch's own buffer
  kFinish,         // KC: its pass over a query whose value an earlier stage has gathered
  kNote,           // notes the access of a read that was gathered from a mirror
  kWriteGathered,  // WR: from the batch's own buffer
  kSettle,         // settles: the last stage's part of a change that an earlier one made
  kHandOver,       // handing over: what several stages cost a plan's first and last
  kSend,           // SD
  // Further costs of a store or delete, including the cost of unlike queries:
  kReceiveValue,   // RV: of a store's value
  kParseChange,    // more than kParse
  kCompareChange,  // more than kCompare
  kAnswerChange,   // WR: of its reply, instead of kWrite
  kCompareFound,   // instead of kCompare, for a device's finds: the object was not prefetched
  kCompareLeft,    // KC, and Search: of a read that a device with a copy has left
  // Ending a row of queries whose values an earlier stage has gathered, besides these:
  kCompareRow,
  kWriteRow,
};
inline constexpr uint32_t kWorkCount = 24;

// "search", "write gathered", ...
std::string_view WorkName(Work work);
// The task whose time includes it.
pipeline::Task TaskOf(Work work);
// Whether its task's time is known (pipeline/task_times.h). No clock runs while a batch is handed
// over. A change that a stage has made is settled within the last stage's other work.
bool IsTimed(Work work);

// Costs of one work on one processor, in nanoseconds.
struct UnitCost {
  double instructions = 0;  // I_F / IPC
  double key_byte = 0;      // the part of it for each byte of the key
  double memory = 0;        // L_M: an access that goes to memory
  double stream = 0;        // a line of an object, prefetched with others, from memory
  double cache = 0;         // L_C: an access that the processor's cache serves
  double far = 0;           // as `stream`, for lines beyond those prefetched at once

  bool operator==(const UnitCost&) const = default;
};
void Scale(UnitCost* unit, double factor);

inline constexpr double kCacheObjectBytes = 64;
inline constexpr double kCacheObjectBytesMax = 1224;  // the largest that are measured

struct ProcessorCosts {
  std::string name;          // "cpu", "opencl:0", "cuda:0"
  std::string hardware;      // as its driver names it
  bool mirrored = false;     // it works on a copy of the store
  uint32_t line_bytes = 64;  // C: as in paper 000
  // Bytes of the caches that hold what is used most, for objects of kCacheObjectBytes with their
  // part of a bucket. For larger ones, up to kCacheObjectBytesMax, they grow with the size to the
  // power cache_growth: with long objects the next, larger level helps, too.
  double cache_bytes = 0;
  double cache_growth = 0;
  std::array<UnitCost, kWorkCount> units{};
  // Besides the cost of each query: that of a batch (CPU), or of a job (device).
  double job = 0;
  // From a job's start until its end is noticed, besides its queries' time: nobody works then.
  double job_latency = 0;
  // mu - 1: how much a processor of the other kind slows it down by being busy all the time.
  double interference = 0;
  // For a device: a worker's costs in plans with it, instead of the CPU's units. They apply to
  // works that find lines that the device has written or read, or whose looks the device has made
  // instead. None: as the CPU's.
  std::array<UnitCost, kWorkCount> worker_units{};
  double worker_job = 0;  // a batch of such a plan, beyond the CPU's `job`
  // Costs of following the store for a mirrored device: of a changed entry of the index, and of a
  // byte of an object.
  double change = 0;
  double change_byte = 0;

  const UnitCost& unit(Work work) const { return units[static_cast<size_t>(work)]; }
  UnitCost& unit(Work work) { return units[static_cast<size_t>(work)]; }
  bool operator==(const ProcessorCosts&) const = default;
};

struct Calibration {
  std::string hardware;        // of the host: its processors and their number
  std::string date;            // UTC
  uint32_t workers = 1;        // at work while it was measured
  uint64_t scratch_bytes = 0;  // memory that it was measured in, beside a server; 0: no limit
  ProcessorCosts cpu;
  std::vector<ProcessorCosts> devices;  // gpu0, gpu1, ... of plans

  bool operator==(const Calibration&) const = default;
};

// The hardware that a calibration of this machine with these devices names.
std::string HardwareOf(const std::vector<processor::Description>& devices);

// Where this user's calibration of such hardware, with that many workers, is kept unless a path is
// given.
std::string DefaultPath(std::string_view hardware, uint32_t workers);

std::string ToText(const Calibration& calibration);  // JSON, of one version
// kCorruption if it is no calibration or a figure is missing, negative or no number; kUnsupported
// if it is of another version.
Result<Calibration> ParseCalibration(std::string_view text);

// kNotFound: there is no such file. kIoError: it can't be read. kInvalidArgument: it is of other
// hardware than `hardware`, and the message names both.
Result<Calibration> LoadCalibration(const std::string& path, std::string_view hardware);
// Makes its folder if there is none. The file is complete or unchanged.
Status SaveCalibration(const std::string& path, const Calibration& calibration);

}  // namespace weft::planner
