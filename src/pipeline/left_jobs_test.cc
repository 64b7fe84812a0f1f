#include "pipeline/left_jobs.h"

#include <gtest/gtest.h>

#include <map>

#include "pipeline/plan_test_kit.h"

namespace weft::pipeline {
namespace {

// Keeps what was told, by key.
struct Telling : Sink {
  std::map<std::string, std::string> told;
  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) override {
    for (uint32_t i = begin; i < end; i++) {
      const cache::Reply reply = ReplyOf(batch, i, session);
      told[std::string(batch.key(i))] =
          std::to_string(static_cast<int>(reply.outcome)) + " " + std::string(reply.value);
    }
  }
  void RunOther(Batch&, uint32_t, cache::Session&) override {}
};
std::string Told(Outcome outcome, const std::string& value = "") {
  return std::to_string(static_cast<int>(outcome)) + " " + value;
}

// A device of either kind of memory whose jobs end when the test says so, or as it says.
class Odd final : public processor::Processor {
 public:
  explicit Odd(processor::MemoryModel memory) {
    description_.name = "odd";
    description_.memory = memory;
    description_.tasks = kRunSearch | kRunCompare | kRunRead;
    if (memory == processor::MemoryModel::kCoupled) description_.tasks |= kRunInsert | kRunDelete;
    description_.steals = true;
  }
  const processor::Description& description() const override { return description_; }
  cache::PageSource* pages() override { return cache::SystemPages(); }
  Status Start(processor::Job* job) override {
    if (refuses) return {Code::kIoError, "refused"};
    jobs.push_back(job);
    job->Begin();
    if (fails) job->Finish({Code::kIoError, "failed"});
    return Status::Ok();
  }
  void NoteLeft() override { was_left = true; }

  std::vector<processor::Job*> jobs;
  bool refuses = false;
  bool fails = false;
  bool was_left = false;

 private:
  processor::Description description_;
};

class LeftJobsTest : public testing::TestWithParam<processor::MemoryModel> {
 protected:
  LeftJobsTest() {
    auto owned = std::make_unique<Odd>(GetParam());
    device_ = owned.get();
    devices_ = std::make_unique<Devices>(std::move(owned));
    store_ = OpenStore(WeakHash(64));
    client_ = std::make_unique<Client>(store_.get());
  }

  bool is_coupled() const { return GetParam() == processor::MemoryModel::kCoupled; }
  void OpenRunner(uint32_t job_ms_max) {
    PlanRunner::Options options;
    options.batches = 1;
    options.job_ms_max = job_ms_max;
    auto runner = PlanRunner::Create(store_.get(), &times_,
                                     PlanOf(is_coupled() ? kAllOnDevice : kReadsOnDevice),
                                     devices_->list(), options);
    ASSERT_TRUE(runner.has_value()) << runner.error().ToString();
    runner_ = std::move(*runner);
  }
  // Begins a batch that reads "r", stores "k" and deletes "d".
  BatchRun* BeginBatch() {
    BatchRun* const run = runner_->Free();
    Batch& batch = run->batch();
    batch.Clear();
    const uint32_t source = batch.AddSource(kMuchRoom);
    batch.AddRead(source, 0, "r", store_->HashOf("r"));
    for (const auto& [verb, key] : {std::pair{Verb::kStore, "k"}, {Verb::kDelete, "d"}}) {
      Command command = Client::Of(verb, key);
      command.hash = store_->HashOf(key);
      command.value = "from the batch";
      batch.AddCommand(source, 0, command);
    }
    runner_->Begin(run);
    return run;
  }
  void ExpectDone(BatchRun* run) {
    Telling sink;
    runner_->Finish(run, sink);
    EXPECT_EQ(sink.told["r"], Told(Outcome::kHit, "to be read"));
    EXPECT_EQ(sink.told["k"], Told(Outcome::kStored));
    EXPECT_EQ(sink.told["d"], Told(Outcome::kDeleted));
    EXPECT_EQ(client_->Value("k"), "from the batch");
    EXPECT_EQ(client_->Value("d"), "(none)");
  }
  void Fill() {
    client_->Set("r", "to be read");
    client_->Set("k", "old");
    client_->Set("d", "to be deleted");
  }

  Odd* device_;
  std::unique_ptr<Devices> devices_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<Client> client_;
  TaskTimes times_;
  std::unique_ptr<PlanRunner> runner_;
};

TEST_P(LeftJobsTest, AJobThatDoesNotEndIsLeftAndTheCpuServesOn) {
  OpenRunner(0);
  Fill();
  BatchRun* const run = BeginBatch();
  ASSERT_EQ(device_->jobs.size(), 1u);
  processor::Job* const job = device_->jobs[0];
  while (!PlanRunner::IsReady(run)) runner_->Advance();
  ExpectDone(run);
  EXPECT_FALSE(devices_->guard().usable());
  EXPECT_TRUE(devices_->guard().has_left_jobs());
  EXPECT_TRUE(device_->was_left);
  EXPECT_NE(devices_->guard().last_failure().find("a job has not ended within 0 ms"),
            std::string::npos)
      << devices_->guard().last_failure();
  EXPECT_EQ(runner_->counters().left.value(), 1u);
  EXPECT_EQ(store_->trusts_dead_marks(), !is_coupled());
  // Whoever works on the store itself is still in the epoch; nobody else is.
  const uint64_t stamp = store_->epochs().Retire();
  runner_->Advance();
  EXPECT_EQ(store_->epochs().Passed(stamp), !is_coupled());
  // The next batch has columns of its own.
  BatchRun* const next = BeginBatch();
  while (!PlanRunner::IsReady(next)) runner_->Advance();
  EXPECT_NE(job->query.columns.keys, next->batch().columns().keys);
  Telling sink;
  runner_->Finish(next, sink);
  EXPECT_EQ(device_->jobs.size(), 1u) << "it gets no more work";
  // The kernel goes on after all: there is nothing left for it to do.
  client_->Set("k", "newer");
  client_->Set("d", "is back");
  task::RunQueries(job->query, 0, job->query.end, 0);
  EXPECT_EQ(client_->Value("k"), "newer");
  EXPECT_EQ(client_->Value("d"), "is back");
  job->Finish(Status::Ok());
  runner_->Advance();
  EXPECT_TRUE(store_->epochs().Passed(stamp));
}

TEST_P(LeftJobsTest, WhoeverWaitsForMemoryDoesNotWaitForItForEver) {
  OpenRunner(1);
  Fill();
  BatchRun* const run = BeginBatch();
  runner_->LeaveEpochs();
  ASSERT_TRUE(PlanRunner::IsReady(run));
  ExpectDone(run);
  EXPECT_FALSE(devices_->guard().usable());
}

TEST_P(LeftJobsTest, WaitEndsAndSoDoesTheRunner) {
  OpenRunner(1);
  Fill();
  BatchRun* const run = BeginBatch();
  runner_->Wait();
  ASSERT_TRUE(PlanRunner::IsReady(run));
  ExpectDone(run);
  runner_.reset();  // with a job that never ends
  EXPECT_FALSE(device_->jobs[0]->done());
}

TEST_P(LeftJobsTest, AJobThatEndsInTimeIsTaken) {
  OpenRunner(10'000);
  Fill();
  BatchRun* const run = BeginBatch();
  runner_->Advance();
  ASSERT_FALSE(PlanRunner::IsReady(run));
  device_->jobs[0]->Finish(Status::Ok());
  runner_->Advance();
  ASSERT_TRUE(PlanRunner::IsReady(run));
  ExpectDone(run);
  EXPECT_TRUE(devices_->guard().usable());
}

// A read that the CPU did in the place of a device is noted once, in whatever row it is.
TEST_P(LeftJobsTest, ReadsAreNotedOnceWhereTheDeviceRefusesOrFails) {
  for (const bool refuses : {true, false}) {
    device_->refuses = refuses;
    device_->fails = !refuses;
    OpenRunner(10'000);
    constexpr uint32_t kReads = 8 * kNoteRows * kNoteRowQueries;
    const auto key = [&](uint32_t i) { return (refuses ? "a" : "b") + std::to_string(i); };
    for (uint32_t i = 0; i < kReads; i++) client_->Set(key(i), "v");
    BatchRun* const run = runner_->Free();
    run->batch().Clear();
    const uint32_t source = run->batch().AddSource(kMuchRoom);
    for (uint32_t i = 0; i < kReads; i++)
      run->batch().AddRead(source, 0, key(i), store_->HashOf(key(i)));
    runner_->Begin(run);
    while (!PlanRunner::IsReady(run)) runner_->Advance();
    Telling sink;
    runner_->Finish(run, sink);
    client_->session().Begin();
    for (uint32_t i = 0; i < kReads; i++) {
      const std::string name = key(i);
      const task::Found found = task::Find(client_->session().index(), client_->session().log(),
                                           cache::TaskKey(name, store_->HashOf(name)));
      ASSERT_NE(found.slot, nullptr);
      EXPECT_EQ(task::SlotRecency(found.word), 1u) << name;
    }
    client_->session().End();
  }
}

INSTANTIATE_TEST_SUITE_P(Memory, LeftJobsTest,
                         testing::Values(processor::MemoryModel::kCoupled,
                                         processor::MemoryModel::kMirrored),
                         [](const auto& test) {
                           return test.param == processor::MemoryModel::kCoupled ? "Coupled"
                                                                                 : "Mirrored";
                         });

}  // namespace
}  // namespace weft::pipeline
