#include "tool/calibrate.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <memory>
#include <thread>

#include "planner/calibrator.h"
#include "tool/arguments.h"
#include "tool/device_list.h"

namespace weft::tool {
namespace {

constexpr uint64_t kThreadsMax = 256;

void PrintUnits(std::ostream& out,
                const std::array<planner::UnitCost, planner::kWorkCount>& units) {
  for (uint32_t i = 0; i < planner::kWorkCount; i++) {
    const planner::UnitCost& unit = units[i];
    if (unit == planner::UnitCost{}) continue;
    out << "  " << std::left << std::setw(20) << planner::WorkName(static_cast<planner::Work>(i))
        << std::right << std::setw(13) << unit.instructions << std::setw(14) << unit.key_byte
        << std::setw(13) << unit.memory << std::setw(13) << unit.stream << std::setw(13) << unit.far
        << std::setw(13) << unit.cache << '\n';
  }
}

void PrintCosts(std::ostream& out, const planner::ProcessorCosts& costs) {
  out << costs.name << " (" << costs.hardware << ")\n"
      << "  what is done         instructions  a key's byte  from memory   a line more"
         "    far behind   from cache\n"
      << std::fixed << std::setprecision(2);
  PrintUnits(out, costs.units);
  if (costs.worker_units != decltype(costs.worker_units)()) {
    out << "  a worker's, where it has a part\n";
    PrintUnits(out, costs.worker_units);
    out << "  a worker's batch " << costs.worker_job << " more\n";
  }
  out << "  a job or batch " << costs.job << ", its latency " << costs.job_latency
      << "; others slow it down by " << 100 * costs.interference << " %; ";
  if (costs.cache_bytes > 0)
    out << "caches hold " << BytesText(static_cast<uint64_t>(costs.cache_bytes)) << "; ";
  if (costs.mirrored)
    out << "follows a change in " << costs.change << ", a byte in " << costs.change_byte << "; ";
  out << "nanoseconds of one worker's, or the device's, time\n";
}

struct CalibrateArguments {
  std::string devices = "auto";
  std::string file;
  uint64_t threads = 0;
  uint64_t memory_mb = 0;
  bool quiet = false;
};

Result<planner::Calibration> Measure(const Console& console, const CalibrateArguments& given) {
  auto guards = OpenDeviceList(given.devices);
  if (!guards) return guards.error();
  planner::CalibratorOptions options;
  options.workers = given.threads != 0 ? static_cast<uint32_t>(given.threads)
                                       : std::max(std::thread::hardware_concurrency(), 1u);
  options.memory_bytes = given.memory_mb << 20;
  for (const auto& guard : *guards) options.devices.push_back(guard.get());
  if (!given.quiet) {
    options.progress = [&console](std::string_view what, int step, int steps) {
      console.err << "weft calibrate: " << step + 1 << " of " << steps << ": " << what << '\n';
    };
  }
  return planner::Calibrate(options);
}

}  // namespace

Exit RunCalibrate(const Console& console, const std::vector<std::string>& arguments) {
  CommandLine line("Measures this machine's processors, so that the planner can choose plans.",
                   "weft", "Exit status: 0 the file was written; 2 the command could not run.");
  CalibrateArguments given;
  Arguments words = line.AddCommand("calibrate", "measure this machine for the planner");
  words.AddOption("--device", "DEVICE,...",
                  "devices that are gpu0, gpu1, ... of plans, as for `weft serve`", &given.devices);
  words.AddOption("--file", "PATH", "file to write (default: the file that `weft serve` reads)",
                  &given.file);
  words.AddOption("--threads", "N",
                  "number of workers, the same as for `weft serve -t` (default: one for each CPU)",
                  &given.threads, kThreadsMax);
  words.AddOption("--memory-mb", "N",
                  "MiB of each store used to measure (default: many times the CPU's caches)",
                  &given.memory_mb, 1 << 20);
  words.AddFlag("--quiet", "do not report progress", &given.quiet);
  std::vector<std::string> all = {"calibrate"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::string text;
  switch (line.Parse(all, &text)) {
    case CommandLine::Outcome::kHelp: console.out << text; return Exit::kOk;
    case CommandLine::Outcome::kWrong: console.err << text << '\n'; return Exit::kCannotRun;
    case CommandLine::Outcome::kNamed: break;
  }
  auto calibration = Measure(console, given);
  Status status = calibration ? Status::Ok() : calibration.error();
  if (status.ok()) {
    if (given.file.empty())
      given.file = planner::DefaultPath(calibration->hardware, calibration->workers);
    status = planner::SaveCalibration(given.file, *calibration);
  }
  if (!status.ok()) {
    console.err << "weft calibrate: " << status.ToString() << '\n';
    return Exit::kCannotRun;
  }
  console.out << calibration->hardware << ", " << calibration->workers << " workers, "
              << calibration->date << '\n';
  PrintCosts(console.out, calibration->cpu);
  for (const planner::ProcessorCosts& device : calibration->devices)
    PrintCosts(console.out, device);
  console.out << "written to " << given.file << '\n';
  console.out.flush();
  return console.out.good() ? Exit::kOk : Exit::kCannotRun;
}

}  // namespace weft::tool
