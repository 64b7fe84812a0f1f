// planner/load_figures.h: the figures of synthetic workers in a turn.
//
// Units     nanoseconds of workers' time, all workers together. Except for wall_ns, only while the
//           system let them run.
// Threads   a value.
#pragma once

#include <array>

#include "pipeline/task_times.h"

namespace weft::planner {

struct LoadFigures {
  double queries = 0, gets = 0, hits = 0, stores = 0, deletes = 0;
  std::array<double, pipeline::kTaskCount> task_ns{};
  double maintain_ns = 0;  // of MM: making room and other work between batches
  double looks = 0;        // looks at objects of victims
  double busy_ns = 0;      // at work
  double wall_ns = 0;      // of the turn, once for each worker
  double device_queries = 0, stolen_queries = 0;
  double job_ns = 0;  // sum over jobs, from start to end
  double jobs = 0;

  void Add(const LoadFigures& other);
  // Of a query.
  double TaskNs(pipeline::Task task) const {
    return queries == 0 ? 0 : task_ns[static_cast<size_t>(task)] / queries;
  }
  double BusyNs() const { return queries == 0 ? 0 : busy_ns / queries; }
  double JobNs() const { return queries == 0 ? 0 : job_ns / queries; }
  double WallNs() const { return queries == 0 ? 0 : wall_ns / queries; }
};

}  // namespace weft::planner
