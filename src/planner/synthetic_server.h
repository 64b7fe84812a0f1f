// planner/synthetic_server.h: a worker that serves requests of no client, for calibration.
//
// It receives them (RV: their keys lie in memory; copies of stores' values), parses (PP), takes
// them through a plan, and answers into a buffer (WR). Nothing is sent. These three are the least
// that there can be of them, with no protocol, as a benchmark of the pipeline has them; what a
// server's sockets and protocol take more is learned (planner/learner.h).
//
// Threads   one at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/store.h"
#include "pipeline/plan_runner.h"
#include "planner/load_figures.h"
#include "planner/synthetic_requests.h"

namespace weft::planner {

// The store that they are for: filled with the objects of keys [0, objects).
struct SyntheticStore {
  std::unique_ptr<cache::Store> store;
  uint64_t objects = 0;
  uint32_t workers = 1;  // that serve at once
  uint32_t key_bytes = 16;
  std::string value;  // of all objects
  // That all workers together make over and over, so that few workers ask for no fewer keys than no
  // cache holds; and what all jobs that are made ahead may take, unless those under way take more.
  uint64_t requests = 1u << 20;
  uint64_t requests_min = 1u << 17;  // of a worker
  uint64_t slots_bytes = 192u << 20;
};

class SyntheticServer : private pipeline::Sink {
 public:
  // `zipf`: as MakeRequests takes it. kNoMemory: the store can have no more sessions, or a device
  // has too little memory. What else it is given must outlive it.
  static Result<std::unique_ptr<SyntheticServer>> Create(const SyntheticStore* at,
                                                         std::span<processor::Guard* const> devices,
                                                         const Traffic& traffic, uint32_t number,
                                                         const base::Zipf* zipf = nullptr);

  // Serves until base::NowNs is `until_ns`, a batch at least; returns what it did.
  LoadFigures Serve(uint64_t until_ns);

 private:
  SyntheticServer(const SyntheticStore* at, const Traffic& traffic, uint32_t number,
                  const base::Zipf* zipf);

  void TakeTimes(double sign);
  void Fill(pipeline::Batch* batch, char* values);
  void Parse(size_t begin, size_t end, uint32_t source, const char* value, pipeline::Batch* batch);
  template <uint32_t kKeyBytes>
  size_t ParseGets(size_t begin, size_t end, uint32_t source, pipeline::Batch* batch);
  std::string_view KeyOf(size_t request) const {
    return {&keys_[request * at_->key_bytes], at_->key_bytes};
  }
  char* ValuesOf(uint32_t batch);
  void ServeInOneStage(uint64_t until_ns);
  void ServeByPlan(uint64_t until_ns);
  void Write(pipeline::Batch& batch, uint32_t begin, uint32_t end,
             cache::Session& session) override;
  char* WriteGathered(const pipeline::Batch& batch, uint32_t begin, uint32_t end, char* out) const;
  void RunOther(pipeline::Batch&, uint32_t, cache::Session&) override {}

  // Constant after construction.
  const SyntheticStore* const at_;
  const Traffic traffic_;
  const uint32_t value_bytes_;
  // Of the requests, which it serves over and over.
  std::vector<SyntheticRequest::Verb> verbs_;
  std::vector<char> keys_;

  pipeline::TaskTimes times_;  // before runner_, which writes it
  std::unique_ptr<cache::Session> session_;
  pipeline::CpuStage stage_;
  pipeline::Batch batch_;
  std::unique_ptr<pipeline::PlanRunner> runner_;  // null with the one-stage plan
  std::vector<char> values_, out_;
  char* out_at_;
  size_t next_ = 0;  // request
  uint32_t hits_ = 0;
  uint64_t idle_ticks_ = 0;  // waiting
  double idle_cpu_ns_ = 0;   // of it, on a core
  LoadFigures figures_;
};

}  // namespace weft::planner
