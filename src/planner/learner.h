// planner/learner.h: corrects a calibration by the real times of workers and devices.
//
// Unit costs are measured once, in half a minute, and the machine may be busier or slower since. So
// each task of the CPU, and each device, has a factor: its measured time divided by the predicted
// one. A span of windows moves it by a small part of the error, so that one disturbed span does not
// matter. It is bounded: a machine that takes more than twice as long needs a new calibration.
//
// Tasks     by pipeline::TaskTimes, per query of the whole system: as predicted for the plan in
//           force, with the stealing that happened, and for the one-stage plan, which takes batches
//           that are too small. Costs that no task's time covers are scaled by the mean of the
//           tasks' factors.
// Sockets   time of the workers' threads beyond the prediction, if their CPU time is known: above
//           all RV and SD of sockets and the protocol, which no calibration measures. It is added
//           to RV, as a duration a query, whatever the plan. It follows quickly, because it changes
//           with how many requests come at once.
// Devices   as far as they are known to be busy: all the time with two batches or more on average;
//           while they have one, if they hardly ever have two. Between these nothing is learned,
//           because waiting looks like working.
// Threads   one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "planner/search.h"

namespace weft::planner {

// The times of all workers together.
struct Measured {
  double queries = 0;
  double elapsed_ns = 0;
  double batch_queries = 0;  // mean
  TaskNs task_ns{};          // of all queries together; 0: nobody measures it;
  double cpu_ns = 0;         // CPU time of the workers' threads; 0: not known
  // For stages on a device, including stolen parts.
  double device_batches = 0, device_queries = 0, stolen_queries = 0;
  double behind_queries = 0;  // in one stage, because the device was behind the store
  double device_ns = 0;       // each batch from the stage's begin to its end
};

class Learner {
 public:
  static constexpr double kFactorMax = 2;      // and its reciprocal
  static constexpr double kPart = 0.1;         // of the error's logarithm; each time
  static constexpr double kErrorMax = 2;       // the largest believed at once
  static constexpr double kSocketsPart = 0.5;  // of the error, each time
  static constexpr double kSocketsNsMax = 1e6;

  explicit Learner(const Calibration& calibration);

  // `candidate`, which the calibration knows, did all except batches that were too small.
  void Learn(const Measured& measured, const Profile& profile, const Conditions& conditions,
             const Candidate& candidate);

  // The calibration times the factors.
  const Calibration& learned() const { return learned_; }
  double factor(pipeline::Task task) const { return factors_[static_cast<size_t>(task)]; }
  double device_factor(size_t device) const { return factors_[pipeline::kTaskCount + device]; }
  double sockets_ns() const { return sockets_ns_; }  // a query, of a worker's time

  // Whether some factor has moved by more than `threshold` of itself since NoteUse, or the sockets'
  // time by that part of a query's. `what` says which one: "KC takes 1.12 times what was
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
  double query_ns_ = 0;  // last measured, of a worker's time; including sockets
  TaskNs weights_{};     // the measured tasks' parts of a query
};

}  // namespace weft::planner
