#include "planner/learner.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"

namespace weft::planner {
namespace {

using pipeline::kTaskCount;
using pipeline::Task;

constexpr double kTaskNsMin = 0.5;       // a query: less is the clock's
constexpr double kDeviceBatchesMin = 8;  // fewer say little
constexpr double kIdleBelow = 0.2;       // batches on a device in the mean; see the header
constexpr double kBusyFrom = 2;

bool IsFigure(double value) { return std::isfinite(value) && value > 0; }

// gpu0, gpu1, ... of a plan, as the number in the calibration. False: it has no device.
bool DeviceOf(const pipeline::Plan& plan, size_t devices, size_t* number) {
  for (const pipeline::Stage& stage : plan.stages())
    for (size_t i = 0; i < devices; i++)
      if (stage.processor == "gpu" + std::to_string(i)) {
        *number = i;
        return true;
      }
  return false;
}

// A query's time of a worker, had so much been stolen.
double OfAll(const Estimate& estimate, double stolen) {
  double stolen_ns = 0;
  for (const double ns : estimate.stolen_task_ns) stolen_ns += ns;
  return estimate.worker_ns + (stolen - estimate.stolen_share) * stolen_ns;
}

// Of the time that a device works for each query that is its own. 0: it can't be told.
double DeviceNs(const Measured& measured, const ProcessorCosts& device) {
  const double own = measured.device_queries - measured.stolen_queries;
  if (measured.device_batches < kDeviceBatchesMin || own <= 0 || !IsFigure(measured.device_ns))
    return 0;
  const double working = measured.device_ns - measured.device_batches * device.job_latency;
  const double under_way = working / measured.elapsed_ns;
  if (under_way <= kIdleBelow) return working / own;
  return under_way >= kBusyFrom ? measured.elapsed_ns / own : 0;
}

}  // namespace

Learner::Learner(const Calibration& calibration)
    : calibration_(calibration),
      learned_(calibration),
      factors_(kTaskCount + calibration.devices.size(), 1.0),
      used_(factors_) {}

void Learner::Learn(const Measured& measured, const Profile& profile, const Conditions& conditions,
                    const Candidate& candidate) {
  if (!IsFigure(measured.queries) || !IsFigure(measured.elapsed_ns)) return;
  Model model(learned_, profile, conditions);
  const auto estimate = [&](const Candidate& which, double batch_queries) {
    auto made = model.Of(which.plan, which.steal, std::max(batch_queries, 1.0));
    WEFT_CHECK(made);
    return std::move(*made);
  };
  const double on_device = std::clamp(measured.device_queries / measured.queries, 0.0, 1.0);
  const Estimate one_stage =
      estimate({pipeline::Plan::OneStageCpu(), false}, measured.batch_queries);
  Estimate plan = one_stage;
  double stolen = 0;
  if (on_device > 0) {
    plan = estimate(candidate, measured.device_queries / std::max(measured.device_batches, 1.0));
    stolen = std::clamp(measured.stolen_queries / measured.device_queries, 0.0, 1.0);
  }
  for (size_t i = 0; i < kTaskCount; i++) {
    const double predicted = (1 - on_device) * one_stage.task_ns[i] +
                             on_device * (plan.task_ns[i] + stolen * plan.stolen_task_ns[i]);
    if (!IsFigure(measured.task_ns[i])) continue;
    if (predicted < kTaskNsMin) continue;
    Move(i, measured.task_ns[i] / measured.queries, predicted);
    weights_[i] = predicted;
  }
  if (IsFigure(measured.cpu_ns)) {
    query_ns_ = measured.cpu_ns / measured.queries;
    const double all = (1 - on_device) * OfAll(one_stage, one_stage.stolen_share) +
                       on_device * OfAll(plan, stolen);
    MoveSockets(query_ns_, all);
  }
  size_t device = 0;
  if (on_device > 0 && plan.stolen_share < 1 &&
      DeviceOf(candidate.plan, learned_.devices.size(), &device)) {
    // Following the store is the same thread's, and in its time.
    const double own = measured.device_queries - measured.stolen_queries;
    const double following = own > 0 ? plan.following_ns * measured.device_queries / own : 0;
    Move(kTaskCount + device, DeviceNs(measured, learned_.devices[device]) - following,
         plan.device_ns / (1 - plan.stolen_share));
  }
  Apply();
}

void Learner::Move(size_t factor, double measured, double predicted) {
  if (!IsFigure(measured) || !IsFigure(predicted)) return;
  const double error = std::clamp(measured / predicted, 1 / kErrorMax, kErrorMax);
  factors_[factor] =
      std::clamp(factors_[factor] * std::pow(error, kPart), 1 / kFactorMax, kFactorMax);
}

void Learner::MoveSockets(double measured, double predicted) {
  const double error = measured - predicted;
  if (!std::isfinite(error)) return;
  sockets_ns_ = std::clamp(sockets_ns_ + kSocketsPart * error, 0.0, kSocketsNsMax);
}

void Learner::Apply() {
  double sum = 0, weight = 0;
  for (size_t i = 0; i < kTaskCount; i++) {
    sum += weights_[i] * std::log(factors_[i]);
    weight += weights_[i];
  }
  const double mean = weight > 0 ? std::exp(sum / weight) : 1;
  learned_ = calibration_;
  for (uint32_t i = 0; i < kWorkCount; i++) {
    const auto work = static_cast<Work>(i);
    const auto task = static_cast<size_t>(TaskOf(work));
    const double factor = IsTimed(work) && weights_[task] > 0 ? factors_[task] : mean;
    Scale(&learned_.cpu.unit(work), factor);
    for (ProcessorCosts& device : learned_.devices) Scale(&device.worker_units[i], factor);
  }
  learned_.cpu.job *= mean;
  learned_.cpu.unit(Work::kReceive).instructions += sockets_ns_;
  for (ProcessorCosts& device : learned_.devices) {
    UnitCost& receive = device.worker_units[static_cast<size_t>(Work::kReceive)];
    if (receive != UnitCost{}) receive.instructions += sockets_ns_;
  }
  for (size_t i = 0; i < learned_.devices.size(); i++) {
    ProcessorCosts& device = learned_.devices[i];
    for (UnitCost& unit : device.units) Scale(&unit, device_factor(i));
    device.job *= device_factor(i);
    device.worker_job *= mean;
  }
}

bool Learner::HasMoved(double threshold, std::string* what) const {
  size_t most = 0;
  double by = 0;
  for (size_t i = 0; i < factors_.size(); i++) {
    const double moved = std::abs(std::log(factors_[i] / used_[i]));
    if (moved <= by) continue;
    by = moved;
    most = i;
  }
  if (std::abs(sockets_ns_ - used_sockets_ns_) > threshold * query_ns_) {
    *what = fmt::format("sockets take {:.0f} ns a query", sockets_ns_);
    return true;
  }
  if (by <= std::log1p(threshold)) return false;
  const std::string who = most < kTaskCount
                              ? std::string(pipeline::TaskName(static_cast<Task>(most)))
                              : calibration_.devices[most - kTaskCount].name;
  *what = fmt::format("{} takes {:.2f} times what was calibrated", who, factors_[most]);
  return true;
}

}  // namespace weft::planner
