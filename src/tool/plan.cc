#include "tool/plan.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "planner/search.h"
#include "tool/arguments.h"
#include "tool/device_list.h"

namespace weft::tool {
namespace {

constexpr double kMebibyte = 1 << 20;
constexpr double kBytesBesideObject = 8 + 64 / (8 * 0.75);  // header, and its part of the index
constexpr double kLooksOfFullStore = 2;  // for each store: what goes is collected, and dropped
constexpr size_t kShown = 12;

// What the command line says, as text where it is a number with a point.
struct PlanArguments {
  std::optional<std::string> workload, get, deletes, key, value, skew, hits, interval_us;
  std::string devices = "auto";
  std::string calibration;
  uint64_t memory_mb = 1908;
  uint64_t objects = 0;
  uint64_t workers = 0;
  uint64_t batches = 3;
  uint64_t batch_max = 16384;
  uint64_t batch = 0;
  bool all = false;
};

// Of an option, from `low` to `high`; `value` stays where it was not given.
Status ReadNumber(const char* name, const std::optional<std::string>& text, double low, double high,
                  double* value) {
  if (!text) return Status::Ok();
  double number = 0;
  if (!base::ParseNumber(*text, &number) || !(number >= low && number <= high))
    return {Code::kInvalidArgument,
            fmt::format("{} {}: it must be a number from {} to {}", name, *text, low, high)};
  *value = number;
  return Status::Ok();
}

Result<planner::Profile> ProfileOf(const PlanArguments& given) {
  planner::Profile profile;
  if (given.workload) {
    auto named = planner::ProfileOfWorkload(*given.workload);
    if (!named) return named.error();
    profile = *named;
  }
  const struct {
    const char* name;
    const std::optional<std::string>& text;
    double low, high;
    double* value;
  } numbers[] = {
      {"--get", given.get, 0, 1, &profile.get_share},
      {"--delete", given.deletes, 0, 1, &profile.delete_share},
      {"--key", given.key, 1, 250, &profile.key_bytes},
      {"--value", given.value, 0, 1 << 30, &profile.value_bytes},
      {"--skew", given.skew, 0, 3, &profile.zipf},
      {"--hits", given.hits, 0, 1, &profile.hit_share},
  };
  for (const auto& number : numbers) {
    Status status = ReadNumber(number.name, number.text, number.low, number.high, number.value);
    if (!status.ok()) return status;
  }
  if (profile.get_share + profile.delete_share > 1)
    return Status(Code::kInvalidArgument, "--get and --delete add up to more than 1");
  const double fit = static_cast<double>(given.memory_mb) * kMebibyte /
                     (profile.key_bytes + profile.value_bytes + kBytesBesideObject);
  profile.objects = given.objects != 0 ? static_cast<double>(given.objects) : std::floor(fit);
  profile.looks_per_store = given.objects != 0 ? 0 : kLooksOfFullStore;
  profile.batch_queries = static_cast<double>(given.batch);
  return profile;
}

Result<planner::Calibration> CalibrationOf(const PlanArguments& given) {
  auto guards = OpenDeviceList(given.devices);
  if (!guards) return guards.error();
  std::vector<processor::Description> devices;
  for (const auto& guard : *guards) devices.push_back(guard->description());
  const std::string hardware = planner::HardwareOf(devices);
  const bool is_default = given.calibration.empty();
  const auto workers = static_cast<uint32_t>(
      given.workers != 0 ? given.workers : std::max(std::thread::hardware_concurrency(), 1u));
  const std::string path = is_default ? planner::DefaultPath(hardware, workers) : given.calibration;
  auto calibration = planner::LoadCalibration(path, hardware);
  if (!calibration && calibration.error().code() == Code::kNotFound && is_default)
    return Status(Code::kNotFound,
                  fmt::format("{} has not been measured with {} workers: first run `weft calibrate "
                              "--device {} --threads {}`",
                              hardware, workers, given.devices, workers));
  return calibration;
}

std::string StagesText(const planner::Estimate& estimate) {
  std::string text;
  for (const planner::StageEstimate& stage : estimate.stages)
    text += fmt::format("{}{:.1f}", text.empty() ? "" : " ", stage.us);
  return text;
}

void PrintPlans(std::ostream& out, const planner::Profile& profile,
                const std::vector<planner::Choice>& ranked, bool all) {
  const auto is_one_stage = [](const planner::Choice& choice) {
    return choice.candidate.plan.stages().size() == 1;
  };
  const auto one_stage = std::find_if(ranked.begin(), ranked.end(), is_one_stage);
  out << planner::Describe(profile) << "\n\n"
      << fmt::format("{:>12} {:>7} {:>7} {:>10} {:>7} {:<19} {:<24} {}\n", "M queries/s", "ratio",
                     "batch", "latency us", "stolen", "bound by", "stages us", "plan");
  for (size_t i = 0; i < ranked.size(); i++) {
    if (!all && i >= kShown && !is_one_stage(ranked[i])) continue;
    const planner::Estimate& estimate = ranked[i].estimate;
    out << fmt::format(
        "{:>12.2f} {:>7.2f} {:>7.0f} {:>9.0f}{} {:>6.1f}% {:<19} {:<24} {}{}\n",
        estimate.queries_per_s * 1e-6, estimate.queries_per_s / one_stage->estimate.queries_per_s,
        estimate.batch_queries, estimate.latency_us, estimate.fits ? ' ' : '!',
        100 * estimate.stolen_share, planner::BoundName(estimate.bound), StagesText(estimate),
        ranked[i].candidate.plan.ToText(), ranked[i].candidate.steal ? ", stealing" : "");
  }
  if (ranked.size() > 1)
    out << fmt::format(
        "\na plan with a device is best only if it promises {:.0f} % more than one stage\n",
        100 * planner::kDeviceGainMin);
  out << "\nbest: " << ranked.front().candidate.plan.ToText()
      << (ranked.front().candidate.steal ? ", stealing" : "") << '\n';
  if (!ranked.front().estimate.fits) out << "no plan meets the interval; this one comes nearest\n";
}

void AddOptions(Arguments words, PlanArguments* given) {
  words.AddOption("--workload", "NAME",
                  "workload such as K16-G95-S: keys of 16 bytes, values of 64 bytes, "
                  "95 % GETs, Zipf (U: uniform)",
                  &given->workload);
  words.AddOption("--get", "SHARE", "share of GETs, 0 to 1", &given->get);
  words.AddOption("--delete", "SHARE", "share of deletes; the rest are stores", &given->deletes);
  words.AddOption("--key", "BYTES", "mean length of keys", &given->key);
  words.AddOption("--value", "BYTES", "mean length of values", &given->value);
  words.AddOption("--skew", "EXPONENT", "exponent of the keys' popularity; 0: uniform",
                  &given->skew);
  words.AddOption("--hits", "SHARE", "share of GETs that find their key", &given->hits);
  words.AddOption("--memory-mb", "N", "size of a store that is full of such objects",
                  &given->memory_mb, 1 << 30);
  words.AddOption("--objects", "N", "number of objects in a store that is not full",
                  &given->objects);
  words.AddOption("--batch", "QUERIES", "size of each batch (default: as the interval allows)",
                  &given->batch, 1 << 20);
  words.AddOption("--interval-us", "N", "largest mean latency in microseconds (default: 1000)",
                  &given->interval_us);
  words.AddOption("--threads", "N", "number of workers (default: one for each CPU)",
                  &given->workers, 4096);
  words.AddOption("--batches", "N", "batches that a worker has in flight", &given->batches, 64);
  words.AddOption("--batch-max", "QUERIES", "largest batch of a plan with several stages",
                  &given->batch_max, 1 << 20);
  words.AddOption("--device", "DEVICE,...",
                  "devices that are gpu0, gpu1, ... of plans, as for `weft serve`",
                  &given->devices);
  words.AddOption("--calibration", "PATH", "file that `weft calibrate` wrote", &given->calibration);
  words.AddFlag("--all", "print every plan, not only the best", &given->all);
}

Status Answer(const Console& console, const PlanArguments& given) {
  if (!given.workload && !given.get && !given.value)
    return {Code::kInvalidArgument, "give --workload, or --get or --value"};
  auto profile = ProfileOf(given);
  if (!profile) return profile.error();
  planner::Conditions conditions;
  if (Status status =
          ReadNumber("--interval-us", given.interval_us, 1, 1e9, &conditions.interval_us);
      !status.ok())
    return status;
  if (given.batches == 0 || given.batch_max < kSetQueries)
    return {Code::kInvalidArgument,
            fmt::format("--batches must be at least 1 and --batch-max at least {}", kSetQueries)};
  auto calibration = CalibrationOf(given);
  if (!calibration) return calibration.error();
  conditions.workers =
      given.workers != 0 ? static_cast<uint32_t>(given.workers) : calibration->workers;
  conditions.batches = static_cast<uint32_t>(given.batches);
  conditions.queries_max = static_cast<uint32_t>(given.batch_max);
  PrintPlans(
      console.out, *profile,
      planner::RankPlans(*calibration, *profile, conditions, planner::AllPlans(*calibration)),
      given.all);
  return Status::Ok();
}

}  // namespace

Exit RunPlan(const Console& console, const std::vector<std::string>& arguments) {
  CommandLine line("Predicts by the cost model how each plan would run a workload.", "weft",
                   "Exit status: 0 success; 2 the command could not run.");
  PlanArguments given;
  AddOptions(line.AddCommand("plan", "predict how each plan would run a workload"), &given);
  std::vector<std::string> words = {"plan"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::string text;
  switch (line.Parse(words, &text)) {
    case CommandLine::Outcome::kHelp: console.out << text; return Exit::kOk;
    case CommandLine::Outcome::kWrong: console.err << text << '\n'; return Exit::kCannotRun;
    case CommandLine::Outcome::kNamed: break;
  }
  if (Status status = Answer(console, given); !status.ok()) {
    console.err << "weft plan: " << status.ToString() << '\n';
    return Exit::kCannotRun;
  }
  console.out.flush();
  return console.out.good() ? Exit::kOk : Exit::kCannotRun;
}

}  // namespace weft::tool
