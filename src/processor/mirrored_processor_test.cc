#include "processor/plain_mirror.h"

#include <gtest/gtest.h>

#include "cache/test_kit.h"
#include "processor/mirror_self_test.h"

namespace weft::processor {
namespace {

TEST(MirroredProcessor, PassesItsSelfTestAgainAndAgain) {
  const auto mirror = NewMirrorProcessor();
  for (int i = 0; i < 3; i++) {
    const Status status = MirrorSelfTest(mirror.get());
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

// Answers every read with what the first one found.
class Liar final : public Processor {
 public:
  const Description& description() const override { return inner_->description(); }
  cache::PageSource* pages() override { return inner_->pages(); }
  Status Attach(cache::Store* store) override { return inner_->Attach(store); }
  void Detach() override { inner_->Detach(); }
  Status Start(Job* job) override {
    Job honest;
    honest.query = job->query;
    if (Status status = inner_->Start(&honest); !status.ok()) return status;
    job->Begin();
    Status status = honest.Wait();
    for (uint32_t i = 1; i < job->query.end; i++)
      job->query.value_at[i] = job->query.value_at[0];
    job->Finish(status);
    return Status::Ok();
  }

 private:
  const std::unique_ptr<Processor> inner_ = NewMirrorProcessor();
};

TEST(MirroredProcessor, TheSelfTestFindsWrongAnswers) {
  Liar liar;
  EXPECT_EQ(MirrorSelfTest(&liar).code(), Code::kCorruption);
}

TEST(MirroredProcessor, TheSelfTestFindsOneThatAnswersNothing) {
  const auto mirror = NewMirrorProcessor(0);  // no object has room
  EXPECT_EQ(MirrorSelfTest(mirror.get()).code(), Code::kUnsupported);
}

TEST(MirroredProcessor, TakesNoJobsWithoutAStore) {
  const auto mirror = NewMirrorProcessor();
  Job job;
  EXPECT_EQ(mirror->Start(&job).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace weft::processor
