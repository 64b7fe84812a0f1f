// The self-test passes a processor that is right and names what is wrong with others.
#include "processor/self_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "processor/cpu_processor.h"
#include "processor/faulty_processor.h"
#include "processor/trial.h"

namespace weft::processor {
namespace {

// Runs jobs as if they said something else: a processor with one mistake.
class Mistaken final : public Processor {
 public:
  using Mistake = void (*)(task::QueryJob* query);
  explicit Mistaken(Mistake mistake) : processor_(NewCpuProcessor()), mistake_(mistake) {}

  const Description& description() const override { return processor_->description(); }
  cache::PageSource* pages() override { return processor_->pages(); }
  Status Start(Job* job) override {
    Job mistaken;
    mistaken.query = job->query;
    mistake_(&mistaken.query);
    job->Begin();
    const Status status = processor_->Start(&mistaken);
    job->Finish(status.ok() ? mistaken.Wait() : status);
    return {};
  }

 private:
  const std::unique_ptr<Processor> processor_;
  const Mistake mistake_;
};

TEST(SelfTest, PassesTheCpu) {
  const auto cpu = NewCpuProcessor();
  const Status status = SelfTest(cpu.get());
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(SelfTest, NamesMistakes) {
  using Query = task::QueryJob;
  struct Case {
    Mistaken::Mistake mistake;
    const char* part;
  };
  const Case cases[] = {
      {[](Query* q) { q->end -= q->end % 2; }, "keys of every length"},
      {[](Query* q) { q->tasks &= ~kRunCompare; }, "keys of every length"},
      {[](Query* q) { q->tasks &= ~kRunRead; }, "keys of every length"},
      {[](Query* q) { q->tasks &= ~kRunInsert; }, "keys of every length"},
      {[](Query* q) { q->tasks &= ~kRunDelete; }, "equal hashes"},
      {[](Query* q) { q->now_s = 0; }, "ended and flushed"},
      {[](Query* q) { q->now_s++; }, "ended and flushed"},
      {[](Query* q) { q->now_s--; }, "ended and flushed"},
      {[](Query* q) { q->log.flush_floor = 0; }, "ended and flushed"},
      {[](Query* q) { q->log.segment_shift++; }, "ended and flushed"},
      {[](Query* q) { q->values_capacity = std::min(q->values_capacity, 16000u); },
       "values gathered"},
      {[](Query* q) { q->index.policy = kPolicySetAssociative; }, "displacement"},
      {[](Query* q) { q->index.newer.buckets = nullptr, q->index.insert_newer = 0; },
       "a growing index"},
      {[](Query* q) { q->tasks = kAllTasks; }, "tasks in stages"},
      {[](Query* q) { q->notes = 0; }, "notes of reads"},
      {[](Query* q) { q->notes = 1; }, "notes of reads"},
      {[](Query* q) { q->set_claims = nullptr; }, "shared sets"},
      {[](Query* q) { q->again = 0; }, "run again"},
  };
  for (const Case& one : cases) {
    Mistaken mistaken(one.mistake);
    const Status status = SelfTest(&mistaken);
    EXPECT_EQ(status.code(), Code::kCorruption);
    EXPECT_NE(status.message().find(std::string("self-test of cpu, ") + one.part + ": "),
              std::string::npos)
        << one.part << ": " << status.ToString();
  }
}

TEST(SelfTest, PassesOnWhatTheProcessorSays) {
  Faults faults;
  faults.lose_at = 5;
  Status status = SelfTest(NewFaultyProcessor(NewCpuProcessor(), faults).get());
  EXPECT_EQ(status.code(), Code::kDeviceLost) << status.ToString();
  faults = {};
  faults.memory_bytes = 4 << 20;
  status = SelfTest(NewFaultyProcessor(NewCpuProcessor(), faults).get());
  EXPECT_EQ(status.code(), Code::kNoMemory) << status.ToString();
}

}  // namespace
}  // namespace weft::processor
