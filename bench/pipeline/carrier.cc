#include "bench/pipeline/carrier.h"

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

  uint32_t flights() const override { return 1; }
  uint32_t queries_max() const override { return pipeline::Batch::kQueriesMax; }
  pipeline::Batch& batch(uint32_t) override { return batch_; }
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

}  // namespace

Result<std::unique_ptr<Carrier>> Carrier::Create(cache::Store* store, const pipeline::Plan& plan) {
  if (plan.stages().size() != 1)
    return Status(Code::kUnsupported,
                  "this build carries out one stage on the cpu, not " + plan.ToText());
  std::unique_ptr<cache::Session> session = store->NewSession();
  if (session == nullptr) return Status(Code::kNoMemory, "the store has no more sessions");
  return std::unique_ptr<Carrier>(std::make_unique<OneStage>(store, std::move(session)));
}

}  // namespace weft::bench
