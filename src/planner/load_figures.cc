#include "planner/load_figures.h"

namespace weft::planner {

void LoadFigures::Add(const LoadFigures& other) {
  queries += other.queries;
  gets += other.gets;
  hits += other.hits;
  stores += other.stores;
  deletes += other.deletes;
  for (uint32_t i = 0; i < pipeline::kTaskCount; i++) task_ns[i] += other.task_ns[i];
  maintain_ns += other.maintain_ns;
  looks += other.looks;
  busy_ns += other.busy_ns;
  wall_ns += other.wall_ns;
  device_queries += other.device_queries;
  stolen_queries += other.stolen_queries;
  job_ns += other.job_ns;
  jobs += other.jobs;
}

}  // namespace weft::planner
