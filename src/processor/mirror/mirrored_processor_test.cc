#include "processor/mirror/plain_mirror.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/for_ever.h"
#include "cache/cache_test_kit.h"
#include "processor/guard.h"
#include "processor/mirror/mirror_self_test.h"
#include "processor/mirror/mirror_wrapper_test_kit.h"
#include "processor/mirror/mirrored_processor.h"

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
  bool Detach() override { return inner_->Detach(); }
  Status Start(Job* job) override {
    Job honest;
    honest.query = job->query;
    if (Status status = inner_->Start(&honest); !status.ok()) return status;
    job->Begin();
    Status status = honest.Wait();
    for (uint32_t i = 1; i < job->query.end; i++) job->query.value_at[i] = job->query.value_at[0];
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
  // On a busy machine the thread may take long to end.
  constexpr int kTenMinutesMs = 600'000;
  const auto mirror = NewMirroredProcessor(std::make_unique<Hanging>(&has_begun),
                                           {.given_up_ms_max = kTenMinutesMs});
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
  EXPECT_TRUE(mirror->Detach());
}

// Of a device that hangs also what follows the store, which is in its epoch then.
class HangingWhole final : public MirrorWrapper {
 public:
  struct Marks {
    std::atomic<bool> has_begun{false}, waits{false}, is_to_end{false};
  };

  explicit HangingWhole(Marks* marks) : MirrorWrapper(NewPlainMirror()), marks_(marks) {}
  uint32_t groups_max() const override { return 2; }
  Status Launch(std::span<const task::QueryJob>) override {
    marks_->has_begun = true;
    return Status::Ok();
  }
  bool OldestIsDone() override { return false; }
  Status CopyIndex(const task::Bucket* table, std::span<const uint64_t> numbers) override {
    if (marks_->has_begun) marks_->waits = true;
    while (marks_->waits && !marks_->is_to_end) std::this_thread::yield();
    return MirrorWrapper::CopyIndex(table, numbers);
  }

 private:
  Marks* const marks_;
};

// All that its thread may touch outlives the test.
struct KeptParts {
  HangingWhole::Marks marks;
  std::unique_ptr<cache::Store> store = cache::OpenStore();
  Job left, behind;
};

TEST(MirroredProcessor, ADeviceThatHangsWhileItFollowsHoldsNobodyUp) {
  const auto parts = std::make_shared<KeptParts>();
  base::KeepForEver(parts);
  cache::Client client(parts->store.get());
  client.Set("k", "v");
  {
    Guard guard(NewMirroredProcessor(std::make_unique<HangingWhole>(&parts->marks)));
    ASSERT_TRUE(guard.Attach(parts->store.get()).ok());
    ASSERT_TRUE(guard.CatchUp().ok());
    for (Job* job : {&parts->left, &parts->behind}) {
      client.session().Begin();
      job->query.index = client.session().index();
      job->query.log = client.session().log();
      job->query.tasks = kRunSearch;
      job->query.end = kSetQueries;
      ASSERT_TRUE(guard.Start(job).ok());
      while (!parts->marks.has_begun) std::this_thread::yield();
      client.session().End();
      client.Set("l", "v");  // the next job finds something to follow
    }
    while (!parts->marks.waits) std::this_thread::yield();
    for (Job* job : {&parts->left, &parts->behind}) {
      ASSERT_TRUE(job->Leave());
      guard.Leave({Code::kDeviceLost, "a job has not ended"});
    }
    EXPECT_EQ(guard.CatchUp().code(), Code::kDeviceLost);
    EXPECT_FALSE(guard.Detach()) << "the store is in use";
  }
  parts->marks.is_to_end = true;
}

}  // namespace
}  // namespace weft::processor
