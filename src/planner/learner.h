// planner/learner.h: corrects a calibration by what workers and devices really take.
//
// Unit costs are measured once, in half a minute, and the machine may be busier or slower since. So
// each task of the CPU, and each device, has a factor: what it was measured to take by what was
// predicted. A span of windows moves it by a small part of the error, so that one that was
// disturbed does not matter, and it is bounded: a machine on which everything takes more than twice
// as long is to be calibrated again.
//
// Tasks     by pipeline::TaskTimes, per query of the whole system: what the plan in force predicts,
//           with so much stolen as was, and the one-stage plan for the batches that were too small.
//           What no task's time has is taken to be wrong by as much as the others in the mean.
// Sockets   what workers' threads take beyond all that is predicted, RV and SD of sockets and the
//           protocol above all, which no calibration measures; where the threads' CPU time is
//           known. A duration a query that is added to RV, whatever the plan. It follows quickly,
//           for it changes with how many requests come at once.
// Devices   as far as they are known to be busy: all the time, where two batches or more are there
//           in the mean; while they have one, where they hardly ever have two. Nothing is learned
//           between these, for waiting is not told from working.
// Threads   one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "planner/search.h"

namespace weft::planner {

// What all workers have taken in some time.
struct Measured {
  double queries = 0;
  double elapsed_ns = 0;
  double batch_queries = 0;  // mean
  TaskNs task_ns{};          // of all queries together; 0: nobody measures it
  double cpu_ns = 0;         // that the workers' threads ran; 0: not known
  // Of stages on a device, stolen parts too.
  double device_batches = 0, device_queries = 0, stolen_queries = 0;
  double behind_queries = 0;  // in one stage, for the device was behind the store
  double device_ns = 0;       // each batch from the stage's begin to its end
};

class Learner {
 public:
  static constexpr double kFactorMax = 2;      // and its reciprocal
  static constexpr double kPart = 0.1;         // of the error's logarithm, each time
  static constexpr double kErrorMax = 2;       // that is believed at once
  static constexpr double kSocketsPart = 0.5;  // of the error, each time
  static constexpr double kSocketsNsMax = 1e6;

  explicit Learner(const Calibration& calibration);

  // All was done by `candidate`, which the calibration knows, but for batches that were too small.
  void Learn(const Measured& measured, const Profile& profile, const Conditions& conditions,
             const Candidate& candidate);

  // The calibration times the factors.
  const Calibration& learned() const { return learned_; }
  double factor(pipeline::Task task) const { return factors_[static_cast<size_t>(task)]; }
  double device_factor(size_t device) const { return factors_[pipeline::kTaskCount + device]; }
  double sockets_ns() const { return sockets_ns_; }  // a query, of a worker's time

  // Whether some factor has moved by more than `threshold` of itself since NoteUse, or what sockets
  // take by as much of all that a query takes; `what` says which one: "KC takes 1.12 times what was
  // calibrated".
  bool HasMoved(double threshold, std::string* what) const;
  void NoteUse() {
    used_ = factors_;
    used_sockets_ns_ = sockets_ns_;
  }

 private:
  void Move(size_t factor, double measured, double predicted);
  void MoveSockets(double measured, double predicted);
  void Apply();

  Calibration calibration_;
  Calibration learned_;
  std::vector<double> factors_;  // of the tasks, then of the devices
  std::vector<double> used_;
  double sockets_ns_ = 0;
  double used_sockets_ns_ = 0;
  double query_ns_ = 0;  // that was measured last, of a worker's time; with sockets
  TaskNs weights_{};     // of the tasks that were measured at some time: what they took of a query
};

}  // namespace weft::planner
