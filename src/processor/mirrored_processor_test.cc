#include "processor/plain_mirror.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cache/test_kit.h"
#include "processor/mirror_self_test.h"
#include "processor/mirror_wrapper.h"
#include "processor/mirrored_processor.h"

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

// Begins what it is given and never ends it.
class Hanging final : public MirrorWrapper {
 public:
  explicit Hanging(std::atomic<bool>* has_begun)
      : MirrorWrapper(NewPlainMirror()), has_begun_(has_begun) {}
  Status Launch(std::span<const task::QueryJob>) override {
    has_begun_->store(true);
    return Status::Ok();
  }
  bool OldestIsDone() override { return false; }

 private:
  std::atomic<bool>* const has_begun_;
};

// One job is left: those that wait behind it end, and so does the processor's thread.
TEST(MirroredProcessor, GivesUpADeviceThatHangs) {
  std::atomic<bool> has_begun{false};
  const auto mirror = NewMirroredProcessor(std::make_unique<Hanging>(&has_begun));
  const auto store = cache::OpenStore();
  cache::Client client(store.get());
  client.Set("k", "v");
  ASSERT_TRUE(mirror->Attach(store.get()).ok());
  ASSERT_TRUE(mirror->CatchUp().ok());
  Job left, waiting;
  client.session().Begin();
  for (Job* job : {&left, &waiting}) {
    job->query.index = client.session().index();
    job->query.log = client.session().log();
    job->query.tasks = kRunSearch;
    job->query.end = kSetQueries;
    ASSERT_TRUE(mirror->Start(job).ok());
    while (!has_begun.load() && !left.done()) std::this_thread::yield();
  }
  ASSERT_FALSE(left.done());
  EXPECT_FALSE(waiting.done());
  ASSERT_TRUE(left.Leave());
  mirror->NoteLeft();
  EXPECT_TRUE(waiting.Wait().ok());
  EXPECT_FALSE(left.done());
  client.session().End();
  mirror->Detach();
}

}  // namespace
}  // namespace weft::processor
