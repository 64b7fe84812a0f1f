#include "bench/pipeline/model_check.h"

#include <string>

#include "pipeline/batch.h"

namespace weft::bench {

planner::Profile ProfileOf(const Workload& workload, uint64_t objects, const Figures& figures) {
  planner::Profile profile;
  profile.get_share = workload.get_share;
  profile.key_bytes = workload.key_bytes;
  profile.value_bytes = workload.value_bytes;
  profile.zipf = workload.zipf ? defaults::kZipfTheta : 0;
  profile.objects = static_cast<double>(objects);
  profile.hit_share = figures.hit_ratio();
  if (figures.sets != 0)
    profile.looks_per_store =
        static_cast<double>(figures.victim_looks) / static_cast<double>(figures.sets);
  return profile;
}

planner::Conditions ConditionsOf(const PipelineOptions& options, const Contender& contender) {
  planner::Conditions conditions;
  conditions.workers = static_cast<uint32_t>(options.threads);
  // Of three stages where the planner chooses: its plans have one on a device between two others.
  const size_t stages = contender.is_auto ? 3 : contender.plan.stages().size();
  conditions.batches = options.batches != 0 ? options.batches : static_cast<uint32_t>(stages);
  conditions.queries_max = options.batch_max / kSetQueries * kSetQueries;
  conditions.one_stage_max = pipeline::Batch::kQueriesMax;
  conditions.interval_us = contender.interval_us;
  conditions.steal = contender.steal;
  return conditions;
}

double ErrorOf(const planner::Estimate& estimate, const Figures& figures) {
  const double let_run = figures.LetRun();
  const bool shared = estimate.bound == planner::Bound::kWorkers && let_run > 0;
  return estimate.queries_per_s / (shared ? figures.rate / let_run : figures.rate) - 1;
}

nlohmann::json ToJson(const planner::Estimate& estimate) {
  nlohmann::json stages = nlohmann::json::array();
  for (const planner::StageEstimate& stage : estimate.stages) stages.push_back(stage.us);
  nlohmann::json tasks = nlohmann::json::object();
  for (uint32_t i = 0; i < pipeline::kTaskCount; ++i) {
    const double ns = estimate.task_ns[i] + estimate.stolen_share * estimate.stolen_task_ns[i];
    tasks[std::string(pipeline::TaskName(static_cast<pipeline::Task>(i)))] = ns;
  }
  return {{"queries_per_s", estimate.queries_per_s},
          {"batch_queries", estimate.batch_queries},
          {"latency_us", estimate.latency_us},
          {"stolen_share", estimate.stolen_share},
          {"bound", planner::BoundName(estimate.bound)},
          {"fits", estimate.fits},
          {"stage_us", stages},
          {"task_ns", tasks},
          {"worker_ns", estimate.worker_ns}};
}

}  // namespace weft::bench
