#include "bench/pipeline/contenders.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/harness/report.h"
#include "planner/calibrator.h"
#include "planner/search.h"

namespace weft::bench {
namespace {

std::vector<processor::Description> DescriptionsOf(const Devices& devices) {
  std::vector<processor::Description> all;
  for (const processor::Guard* guard : devices.guards()) all.push_back(guard->description());
  return all;
}

}  // namespace

Result<std::optional<planner::Calibration>> CalibrationFor(const PipelineOptions& options,
                                                           const Devices& devices) {
  if (options.calibration.empty()) {
    if (std::find(options.plans.begin(), options.plans.end(), "auto") != options.plans.end())
      return Status(Code::kInvalidArgument, "--plan auto needs --calibration");
    return std::optional<planner::Calibration>();
  }
  Result<planner::Calibration> calibration = Status();
  if (options.calibration == "measure") {
    planner::CalibratorOptions how;
    how.workers = static_cast<uint32_t>(options.threads);
    how.devices.assign(devices.guards().begin(), devices.guards().end());
    how.progress = [](std::string_view what, int step, int steps) {
      Progress(fmt::format("calibrate {}/{}: {}", step + 1, steps, what));
    };
    calibration = planner::Calibrate(how);
  } else {
    calibration =
        planner::LoadCalibration(options.calibration, planner::HardwareOf(DescriptionsOf(devices)));
  }
  if (!calibration) return calibration.error();
  return std::optional<planner::Calibration>(std::move(*calibration));
}

Result<std::vector<Contender>> ContendersOf(const PipelineOptions& options, double interval_us,
                                            const Devices& devices) {
  std::vector<Contender> contenders = {{pipeline::Plan::OneStageCpu(), interval_us}};
  for (const std::string& text : options.plans) {
    if (text == "auto") {
      contenders.push_back({pipeline::Plan::OneStageCpu(), interval_us, true, true});
      continue;
    }
    if (text == "all") {
      planner::Calibration devices_alone;
      for (const processor::Description& device : DescriptionsOf(devices)) {
        planner::ProcessorCosts costs;
        costs.mirrored = device.memory == processor::MemoryModel::kMirrored;
        // Plans that the planner leaves out where changes on the device were not measured, too.
        costs.unit(planner::Work::kInsert).memory = costs.unit(planner::Work::kDelete).memory = 1;
        devices_alone.devices.push_back(costs);
      }
      for (planner::Candidate& each : planner::AllPlans(devices_alone))
        if (each.plan.stages().size() > 1)
          contenders.push_back({std::move(each.plan), interval_us, each.steal});
      continue;
    }
    auto plan = pipeline::Plan::Parse(text);
    if (!plan)
      return Status(Code::kInvalidArgument,
                    fmt::format("--plan '{}': {}", text, plan.error().message()));
    if (options.steal != Stealing::kOff) contenders.push_back({*plan, interval_us, true});
    if (options.steal != Stealing::kOn) contenders.push_back({*plan, interval_us, false});
  }
  return contenders;
}

Result<std::vector<Workload>> ParseWorkloads(const PipelineOptions& options) {
  std::vector<std::string> names = options.workloads;
  if (names.empty() || std::find(names.begin(), names.end(), "all") != names.end())
    names = PipelineWorkloads();
  std::vector<Workload> workloads;
  for (const std::string& name : names) {
    auto workload = ParseWorkload(name);
    if (!workload) return workload.error();
    workloads.push_back(std::move(*workload));
  }
  return workloads;
}

DataSetOptions DataSetOptionsOf(const PipelineOptions& options, const Devices& devices) {
  DataSetOptions of_data;
  of_data.memory_bytes = options.memory_mb << 20;
  of_data.fill = options.fill;
  of_data.threads = options.threads;
  of_data.huge_pages = options.huge_pages;
  of_data.may_fill_holes = devices.guards().empty();
  of_data.pages = devices.pages();
  return of_data;
}

nlohmann::json DevicesJson(const Devices& devices) {
  nlohmann::json list = nlohmann::json::array();
  for (const processor::Guard* guard : devices.guards()) {
    const processor::Description& device = guard->description();
    list.push_back({{"name", device.name}, {"hardware", device.hardware}});
  }
  return list;
}

void AddDecision(const planner::PlannerStats& planner, const Figures& figures,
                 nlohmann::json* details) {
  const PlanUse& use = figures.MostUsed();
  const planner::Candidate& chosen = use.candidate;
  (*details)["chosen_share"] =
      static_cast<double>(use.queries) / static_cast<double>(figures.queries());
  (*details)["chosen_plan"] = chosen.plan.ToText();
  (*details)["chosen_steal"] = chosen.steal;
  (*details)["plan_changes"] = planner.changes;
  auto& changes = (*details)["last_plan_changes"] = nlohmann::json::array();
  for (const planner::PlanChange& change : planner.last_changes)
    changes.push_back({{"ms", static_cast<double>(change.at_ns) * 1e-6},
                       {"plan", change.to.plan.ToText()},
                       {"steal", change.to.steal},
                       {"promise", change.promise},
                       {"why", change.why}});
  fmt::print("    planner: {}{}, for {:.0f} % of the queries; {} changes of the plan{}\n",
             chosen.plan.ToText(), chosen.steal ? ", stealing" : "",
             100 * details->at("chosen_share").get<double>(), planner.changes,
             planner.last_change.empty() ? "" : ", the last for " + planner.last_change);
}

}  // namespace weft::bench
