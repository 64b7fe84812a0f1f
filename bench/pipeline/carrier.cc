#include "bench/pipeline/carrier.h"

#include <utility>
#include <vector>

#include "base/check.h"

namespace weft::bench {
namespace {

// The plan with one stage on the CPU: a single flight, which is ready as soon as it has begun.
class OneStage : public Carrier {
 public:
  OneStage(cache::Store* store, std::unique_ptr<cache::Session> session)
      : session_(std::move(session)),
        stage_(store, &times_),
        batch_(pipeline::Plan::OneStageCpu()) {}

  Status SetPlan(const pipeline::Plan& plan, bool) override {
    if (plan.stages().size() == 1) return Status::Ok();
    return {Code::kInvalidArgument, plan.ToText() + ": the carrier is for the one-stage plan"};
  }

  uint32_t flights() const override { return 1; }
  uint32_t queries_max() const override { return pipeline::Batch::kQueriesMax; }
  pipeline::Batch& batch(uint32_t) override { return batch_; }
  std::span<const uint64_t> stage_ticks(uint32_t) const override { return {}; }
  const pipeline::RunnerCounters* counters() const override { return nullptr; }
  pipeline::TaskTimes& times() override { return times_; }

  uint32_t Free() override { return begun_ ? kNone : 0; }
  void Begin(uint32_t) override { begun_ = true; }
  uint32_t Ready() override { return begun_ ? 0 : kNone; }
  void Finish(uint32_t, pipeline::Sink& sink) override {
    WEFT_CHECK(begun_);
    stage_.Run(batch_, *session_, sink);
    begun_ = false;
  }
  bool Help() override { return false; }

 private:
  const std::unique_ptr<cache::Session> session_;
  pipeline::TaskTimes times_;
  pipeline::CpuStage stage_;
  pipeline::Batch batch_;
  bool begun_ = false;
};

// Plans of several stages, and whatever follows them.
class SeveralStages : public Carrier {
 public:
  static Result<std::unique_ptr<Carrier>> Create(cache::Store* store, const pipeline::Plan& plan,
                                                 const CarrierOptions& options) {
    auto carrier = std::make_unique<SeveralStages>();
    pipeline::PlanRunner::Options runner;
    const uint32_t batches =
        options.batches != 0 ? options.batches : static_cast<uint32_t>(plan.stages().size());
    runner.batches = batches;
    runner.queries_max = options.queries_max;
    runner.gather_bytes =
        uint64_t{options.queries_max} * (kGatherHeaderBytes + options.value_bytes);
    runner.any_plan = options.any_plan;
    runner.steal = options.steal;
    runner.dice = options.dice;
    runner.on_ready = options.on_device_done;
    auto created = pipeline::PlanRunner::Create(store, &carrier->times_, plan, options.devices,
                                                std::move(runner));
    if (!created) return created.error();
    carrier->runner_ = std::move(*created);
    carrier->queries_max_ = options.queries_max;
    carrier->runs_.resize(batches);
    return std::unique_ptr<Carrier>(std::move(carrier));
  }

  Status SetPlan(const pipeline::Plan& plan, bool steal) override {
    return runner_->SetPlan(plan, steal);
  }

  uint32_t flights() const override { return static_cast<uint32_t>(runs_.size()); }
  uint32_t queries_max() const override { return queries_max_; }
  pipeline::Batch& batch(uint32_t flight) override { return runs_[flight]->batch(); }
  std::span<const uint64_t> stage_ticks(uint32_t flight) const override {
    return runs_[flight]->stage_ticks();
  }
  const pipeline::RunnerCounters* counters() const override { return &runner_->counters(); }
  pipeline::TaskTimes& times() override { return times_; }

  uint32_t Free() override { return NumberOf(runner_->Free()); }
  void Begin(uint32_t flight) override { runner_->Begin(runs_[flight]); }
  uint32_t Ready() override { return NumberOf(runner_->Ready()); }
  void Finish(uint32_t flight, pipeline::Sink& sink) override {
    runner_->Finish(runs_[flight], sink);
  }
  bool Help() override { return runner_->Help(); }

 private:
  uint32_t NumberOf(pipeline::BatchRun* run) {
    if (run == nullptr) return kNone;
    runs_[run->number()] = run;
    return run->number();
  }

  pipeline::TaskTimes times_;  // before runner_, which writes it
  std::unique_ptr<pipeline::PlanRunner> runner_;
  std::vector<pipeline::BatchRun*> runs_;  // by number; null: was not free yet
  uint32_t queries_max_ = 0;
};

}  // namespace

Result<std::unique_ptr<Carrier>> Carrier::Create(cache::Store* store, const pipeline::Plan& plan,
                                                 const CarrierOptions& options) {
  const bool may_get_stages = options.any_plan && !options.devices.empty();
  if (plan.stages().size() > 1 || may_get_stages)
    return SeveralStages::Create(store, plan, options);
  std::unique_ptr<cache::Session> session = store->NewSession();
  if (session == nullptr) return Status(Code::kNoMemory, "the store has no more sessions");
  return std::unique_ptr<Carrier>(std::make_unique<OneStage>(store, std::move(session)));
}

}  // namespace weft::bench
