#include "bench/pipeline/figures.h"

#include <algorithm>

#include "base/ticks.h"

namespace weft::bench {
namespace {

double Share(double part, uint64_t whole) {
  return whole == 0 ? 0 : part / static_cast<double>(whole);
}

void AddEach(const std::vector<uint64_t>& from, std::vector<uint64_t>* to) {
  to->resize(std::max(to->size(), from.size()));
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
}

double Ns(uint64_t ticks) { return static_cast<double>(base::NsOfTicks(ticks)); }

}  // namespace

double Figures::StageUs(size_t stage) const {
  return Share(Ns(stage_ticks[stage]) * 1e-3, batches);
}

double Figures::LongestStageUs() const {
  double longest = 0;
  for (size_t i = 0; i < stage_ticks.size(); ++i) longest = std::max(longest, StageUs(i));
  return longest;
}

double Figures::TaskNs(pipeline::Task task) const {
  return Share(static_cast<double>(task_ns[static_cast<size_t>(task)]), queries());
}

double Figures::Busy() const { return Share(Ns(busy_ticks), wall_ns); }
double Figures::Verifying() const { return Share(Ns(verify_ticks), wall_ns); }
double Figures::LetRun() const { return Share(cpu_s * 1e9, wall_ns); }
double Figures::DeviceBusy() const { return Share(static_cast<double>(device_busy_ns), turns_ns); }

const PlanUse& Figures::MostUsed() const {
  return *std::max_element(
      plan_uses.begin(), plan_uses.end(),
      [](const PlanUse& a, const PlanUse& b) { return a.queries < b.queries; });
}

void Figures::AddUse(const PlanUse& use) {
  for (PlanUse& known : plan_uses) {
    if (known.candidate != use.candidate) continue;
    known.queries += use.queries;
    known.estimate = use.estimate;
    return;
  }
  plan_uses.push_back(use);
}

void Figures::Merge(const Figures& other) {
  gets += other.gets;
  hits += other.hits;
  sets += other.sets;
  refused += other.refused;
  victim_looks += other.victim_looks;
  verified_whole += other.verified_whole;
  batches += other.batches;
  latency_ns.Merge(other.latency_ns);
  AddEach(other.stage_ticks, &stage_ticks);
  AddEach(other.slot_queries, &slot_queries);
  AddEach(other.slot_in_stages, &slot_in_stages);
  for (size_t i = 0; i < task_ns.size(); ++i) task_ns[i] += other.task_ns[i];
  for (const PlanUse& use : other.plan_uses) AddUse(use);
  device_queries += other.device_queries;
  stolen_queries += other.stolen_queries;
  reruns += other.reruns;
  behind_queries += other.behind_queries;
  device_busy_ns += other.device_busy_ns;
  turns_ns += other.turns_ns;
  const uint64_t sizes =
      uint64_t{batch_queries} * workers + uint64_t{other.batch_queries} * other.workers;
  workers += other.workers;
  batch_queries = workers == 0 ? 0 : static_cast<uint32_t>(sizes / workers);
  rate += other.rate;
  wall_ns += other.wall_ns;
  busy_ticks += other.busy_ticks;
  verify_ticks += other.verify_ticks;
  cpu_s += other.cpu_s;
}

nlohmann::json ToJson(const Figures& figures) {
  nlohmann::json tasks = nlohmann::json::object();
  for (uint32_t i = 0; i < pipeline::kTaskCount; ++i) {
    const auto task = static_cast<pipeline::Task>(i);
    tasks[std::string(pipeline::TaskName(task))] = figures.TaskNs(task);
  }
  nlohmann::json stages = nlohmann::json::array();
  for (size_t i = 0; i < figures.stage_ticks.size(); ++i) stages.push_back(figures.StageUs(i));
  return {{"queries", figures.queries()},
          {"queries_per_s", figures.rate},
          {"gets", figures.gets},
          {"hit_ratio", figures.hit_ratio()},
          {"sets", figures.sets},
          {"sets_refused", figures.refused},
          {"victim_looks", figures.victim_looks},
          {"verified_whole", figures.verified_whole},
          {"batches", figures.batches},
          {"batch_queries", figures.batch_queries},
          {"latency_us_mean", figures.latency_ns.Mean() * 1e-3},
          {"latency_us_p50", static_cast<double>(figures.latency_ns.Percentile(50)) * 1e-3},
          {"latency_us_p99", static_cast<double>(figures.latency_ns.Percentile(99)) * 1e-3},
          {"stage_us", stages},
          {"task_ns", tasks},
          {"device_queries", figures.device_queries},
          {"stolen_queries", figures.stolen_queries},
          {"reruns", figures.reruns},
          {"behind_queries", figures.behind_queries},
          {"device_busy", figures.DeviceBusy()},
          {"cpu_busy", figures.Busy()},
          {"verifying", figures.Verifying()},
          {"let_run", figures.LetRun()}};
}

}  // namespace weft::bench
