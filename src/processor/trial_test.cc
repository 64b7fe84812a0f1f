// A trial agrees with a processor that is right, and notices every kind of answer that is not.
#include "processor/trial.h"

#include <gtest/gtest.h>

#include <functional>

#include "processor/cpu_processor.h"

namespace weft::processor {
namespace {

// Spoils what a right processor has done.
class Spoiler final : public Processor {
 public:
  using Spoil = std::function<void(const task::QueryJob& query)>;
  explicit Spoiler(Spoil spoil) : processor_(NewCpuProcessor()), spoil_(std::move(spoil)) {}

  const Description& description() const override { return processor_->description(); }
  cache::PageSource* pages() override { return processor_->pages(); }
  Status Start(Job* job) override {
    Status status = processor_->Start(job);
    if (status.ok()) status = job->Wait();
    if (status.ok()) spoil_(job->query);
    return status;
  }

 private:
  const std::unique_ptr<Processor> processor_;
  const Spoil spoil_;
};

std::unique_ptr<Trial> NewTrial() {
  auto trial = Trial::Create(cache::SystemPages(), {});
  EXPECT_TRUE(trial) << trial.error().ToString();
  return std::move(*trial);
}

// One of each; queries 0: read, 1: miss, 2: replacing store, 3: new store, 4: delete, 5: hint.
void MakeMixed(Trial* trial, Processor* right) {
  trial->Begin();
  for (const char* key : {"read", "replaced", "deleted", "hinted"}) trial->Store(key, {"value"});
  const Status stored = trial->Run(right);
  ASSERT_TRUE(stored.ok()) << stored.ToString();
  trial->Begin();
  trial->Read("read");
  trial->Read("missing");
  trial->Store("replaced", {"other", 7});
  trial->Store("new", {"value", 0, Trial::kNow_s + 1});
  trial->Delete("deleted");
  trial->Hint("hinted");
  trial->Nothing("read");
}

TEST(Trial, AgreesWithARightProcessor) {
  const auto cpu = NewCpuProcessor();
  const auto trial = NewTrial();
  MakeMixed(trial.get(), cpu.get());
  const Status status = trial->Run(cpu.get());
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(trial->entries(), 4u);
}

TEST(Trial, NoticesWhatIsWrong) {
  using Query = task::QueryJob;
  const std::pair<const char*, Spoiler::Spoil> spoils[] = {
      {"a byte of a value", [](const Query& q) { q.values[q.value_at[0] * 8 + 8] ^= 1; }},
      {"client flags", [](const Query& q) { q.values[q.value_at[0] * 8] ^= 1; }},
      {"a value that was not gathered", [](const Query& q) { q.result[0] = kResultFound; }},
      {"a place in the index", [](const Query& q) { q.columns.position[0] ^= 1; }},
      {"a hit that missed", [](const Query& q) { q.result[0] = kResultMissed; }},
      {"a miss that hit", [](const Query& q) { q.result[1] = kResultFound; }},
      {"an unsaid store", [](const Query& q) { q.result[2] = kResultMissed; }},
      {"a wrong predecessor", [](const Query& q) { q.columns.word[2] = 0; }},
      {"a predecessor that was none", [](const Query& q) { q.columns.word[3] = 1; }},
      {"an unsaid delete", [](const Query& q) { q.result[4] = kResultMissed; }},
      {"a hint of another tag", [](const Query& q) { q.columns.word[5] ^= 1ul << kTagShift; }},
      {"a hint that was not found", [](const Query& q) { q.columns.word[5] = 0; }},
      {"a grave elsewhere", [](const Query& q) { q.columns.position[4] ^= 1; }},
      {"a query that nothing was wanted of", [](const Query& q) { q.result[6] = kResultFound; }},
      {"an entry lost",
       [](const Query& q) { *SlotAtPosition(q.index, q.columns.position[0]) = 0; }},
      {"an entry half done",
       [](const Query& q) { *SlotAtPosition(q.index, q.columns.position[0]) |= kSlotMoving; }},
      {"an entry twice",
       [](const Query& q) {
         const uint64_t at = q.columns.position[0];
         *SlotAtPosition(q.index, (at + kBucketSlots) % (q.index.older.bucket_count * 8)) =
             q.columns.word[0];
       }},
  };
  const auto cpu = NewCpuProcessor();
  for (const auto& [what, spoil] : spoils) {
    const auto trial = NewTrial();
    MakeMixed(trial.get(), cpu.get());
    Spoiler spoiler(spoil);
    const Status status = trial->Run(&spoiler);
    EXPECT_EQ(status.code(), Code::kCorruption) << what;
  }
}

}  // namespace
}  // namespace weft::processor
