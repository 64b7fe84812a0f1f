// SelfTest of processor/self_test.h. A file called like that header would be taken for a test.
#include "processor/self_test.h"

#include <string>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/thread.h"
#include "processor/announce.h"
#include "processor/cpu_processor.h"
#include "processor/trial.h"

namespace weft::processor {
namespace {

constexpr uint64_t kLow48 = (uint64_t{1} << 48) - 1;

// Four tags for all keys, so that every search meets other keys' entries.
uint64_t HashOfFewTags(std::string_view key) {
  const uint64_t hash = base::HashBytes(key);
  return (hash & 3) << 48 | (hash >> 16 & kLow48);
}
// One hash for keys of the same first byte: whole hashes collide.
uint64_t HashOfFirstByte(std::string_view key) { return base::HashBytes(key.substr(0, 1)); }

std::string Numbered(const char* name, uint32_t i) { return name + std::to_string(i); }

// A key of just so many bytes; two of a `variant` differ in their last byte alone.
std::string KeyOfLength(uint32_t bytes, char variant) {
  std::string key(bytes, static_cast<char>('a' + bytes % 26));
  key.back() = variant;
  return key;
}

class SelfTester {
 public:
  explicit SelfTester(Processor* processor) : processor_(processor), cpu_(NewCpuProcessor(0)) {}

  Status Run() {
    constexpr std::pair<const char*, Status (SelfTester::*)()> kParts[] = {
        {"keys of every length", &SelfTester::KeysOfEveryLength},
        {"equal hashes", &SelfTester::EqualHashes},
        {"replaced and deleted", &SelfTester::ReplacedAndDeleted},
        {"ended and flushed", &SelfTester::EndedAndFlushed},
        {"values gathered", &SelfTester::ValuesGathered},
        {"displacement", &SelfTester::Displacement},
        {"full buckets", &SelfTester::FullBuckets},
        {"a growing index", &SelfTester::GrowingIndex},
        {"tasks in stages", &SelfTester::TasksInStages},
        {"notes of reads", &SelfTester::NotesOfReads},
        {"shared sets", &SelfTester::SharedSets},
        {"run again", &SelfTester::RunAgain},
    };
    for (const auto& [name, part] : kParts) {
      const Status status = (this->*part)();
      if (!status.ok()) {
        return Status(status.code(), "self-test of " + processor_->description().name + ", " +
                                         name + ": " + std::string(status.message()));
      }
    }
    return {};
  }

 private:
  Result<std::unique_ptr<Trial>> NewTrial(Trial::Shape shape) {
    shape.queries_max = 1024;
    return Trial::Create(processor_->pages(), shape);
  }
  static Trial::Shape WithHash(uint64_t (*hash)(std::string_view key)) {
    Trial::Shape shape;
    shape.hash = hash;
    return shape;
  }

  // Runs the batch on the processor under test, or on the CPU where that has not all of the tasks.
  Status Run(Trial* trial) { return trial->Run(For(trial->tasks)); }
  Processor* For(uint32_t tasks) {
    return (processor_->description().tasks & tasks) == tasks ? processor_ : cpu_.get();
  }

  Status StoreNumbered(Trial* trial, const char* name, uint32_t count, const std::string& value) {
    trial->Begin();
    for (uint32_t i = 0; i < count; i++) trial->Store(Numbered(name, i), {value + Numbered("", i)});
    return Run(trial);
  }
  Status ReadNumbered(Trial* trial, const char* name, uint32_t count) {
    trial->Begin();
    for (uint32_t i = 0; i < count; i++) trial->Read(Numbered(name, i));
    return Run(trial);
  }

  Status KeysOfEveryLength() {
    auto trial = NewTrial(WithHash(HashOfFewTags));
    if (!trial) return trial.error();
    (*trial)->Begin();
    for (uint32_t bytes = 1; bytes <= 250; bytes++) {
      for (const char variant : {'A', 'B'}) {
        (*trial)->Store(KeyOfLength(bytes, variant),
                        {std::string(bytes % 40, variant), bytes % 3, 0, bytes % 5});
      }
    }
    if (Status status = Run(trial->get()); !status.ok()) return status;
    (*trial)->Begin();
    for (uint32_t bytes = 1; bytes <= 250; bytes++) {
      for (const char variant : {'A', 'B', 'C'}) (*trial)->Read(KeyOfLength(bytes, variant));
      (*trial)->Hint(KeyOfLength(bytes, 'A'));
    }
    (*trial)->Read("one more, that their number is odd");
    return Run(trial->get());
  }

  // As many keys of one hash as two buckets hold may enter; the test leaves some room.
  Status EqualHashes() {
    Trial::Shape shape = WithHash(HashOfFirstByte);
    shape.policy = kPolicySetAssociative;
    auto trial = NewTrial(shape);
    if (!trial) return trial.error();
    const auto key_of = [](char first, int i) { return std::string(1, first) + Numbered("", i); };
    for (const char* value : {"first", "second"}) {
      (*trial)->Begin();
      for (const char first : {'a', 'b', 'c', 'd'})
        for (int i = 0; i < 12; i++) (*trial)->Store(key_of(first, i), {value});
      if (Status status = Run(trial->get()); !status.ok()) return status;
    }
    (*trial)->Begin();
    for (const char first : {'a', 'b', 'c', 'd', 'e'}) {
      for (int i = 0; i < 6; i++) (*trial)->Delete(key_of(first, i));
      for (int i = 6; i < 16; i++) (*trial)->Read(key_of(first, i));
    }
    return Run(trial->get());
  }

  Status ReplacedAndDeleted() {
    auto trial = NewTrial(WithHash(HashOfFewTags));
    if (!trial) return trial.error();
    Status status = StoreNumbered(trial->get(), "key", 900, "old");
    if (status.ok()) status = StoreNumbered(trial->get(), "key", 900, "new");
    if (status.ok()) status = StoreNumbered(trial->get(), "key", 900, "new");
    if (!status.ok()) return status;
    (*trial)->Begin();
    for (uint32_t i = 0; i < 1000; i++) {
      if (i % 4 == 0) {
        (*trial)->Delete(Numbered("key", i));
      } else if (i % 4 == 1) {
        (*trial)->Nothing(Numbered("key", i));
      } else if (i % 4 == 2) {
        (*trial)->Store(Numbered("key", i), {"third", i});
      } else {
        (*trial)->Read(Numbered("key", i));
      }
    }
    status = Run(trial->get());
    if (status.ok()) status = ReadNumbered(trial->get(), "key", 1000);
    return status.ok() ? StoreNumbered(trial->get(), "key", 1000, "last") : status;
  }

  Status EndedAndFlushed() {
    auto trial = NewTrial({});
    if (!trial) return trial.error();
    (*trial)->Begin();
    for (uint32_t i = 0; i < 300; i++)
      (*trial)->Store(Numbered("key", i), {"value", i % 2, Trial::kNow_s - 150 + i});
    Status status = Run(trial->get());
    if (status.ok()) status = ReadNumbered(trial->get(), "key", 300);
    if (!status.ok()) return status;
    for (const bool flushed : {false, true}) {
      if (flushed) (*trial)->Flush();
      (*trial)->Begin();
      for (uint32_t i = 0; i < 300; i++) {
        if (i % 3 == 0) (*trial)->Delete(Numbered("key", i));
        if (i % 3 == 1) (*trial)->Store(Numbered("key", i), {"newer", 0, 0, i});
        if (i % 3 == 2) (*trial)->Read(Numbered("key", i));
      }
      status = Run(trial->get());
      if (status.ok()) status = ReadNumbered(trial->get(), "key", 300);
      if (!status.ok()) return status;
    }
    return {};
  }

  Status ValuesGathered() {
    constexpr uint32_t kLongest = kGatherBytesMax;
    for (const uint64_t values_bytes : {uint64_t{1} << 20, uint64_t{80} << 10}) {
      Trial::Shape shape;
      shape.values_bytes = values_bytes;  // enough for all; for a few
      auto trial = NewTrial(shape);
      if (!trial) return trial.error();
      const uint32_t sizes[] = {
          0, 1, 7, 8, 9, kLongest - 1, kLongest, kLongest + 1, 100'000, 1000, 1'200'000, 64};
      (*trial)->Begin();
      for (uint32_t bytes : sizes)
        (*trial)->Store(Numbered("value", bytes), {std::string(bytes, 'v'), bytes, 0, bytes % 2});
      if (Status status = Run(trial->get()); !status.ok()) return status;
      (*trial)->Begin();
      for (int round = 0; round < 6; round++)
        for (uint32_t bytes : sizes) (*trial)->Read(Numbered("value", bytes));
      if (Status status = Run(trial->get()); !status.ok()) return status;
      const bool overflowed = uint64_t{(*trial)->values_used()} * 8 > values_bytes;
      if (overflowed != (values_bytes < (1 << 20)))
        return Status(Code::kCorruption, "the counter of gathered bytes is wrong");
      uint32_t gathered = 0;
      for (uint32_t i = 0; i < (*trial)->queries(); i++)
        gathered += (*trial)->result(i) == kResultRead ? 1 : 0;
      if (gathered == 0) return Status(Code::kCorruption, "no value was gathered");
    }
    return {};
  }

  // A table filled so far that some entries must make room for others.
  Status Displacement() {
    Trial::Shape shape;
    shape.buckets = 96;  // no power of two
    auto trial = NewTrial(shape);
    if (!trial) return trial.error();
    (*trial)->room = false;
    constexpr uint32_t kKeys = 96 * kBucketSlots * 87 / 100;
    Status status;
    for (uint32_t i = 0; i < kKeys && status.ok(); i += kKeys / 6) {
      (*trial)->Begin();
      for (uint32_t j = i; j < i + kKeys / 6; j++) (*trial)->Store(Numbered("key", j), {"value"});
      status = Run(trial->get());
    }
    if (!status.ok()) return status;
    if ((*trial)->moves() == 0) return Status(Code::kCorruption, "nothing was displaced");
    if ((*trial)->entries() < kKeys * 95 / 100)
      return Status(Code::kCorruption,
                    "only " + std::to_string((*trial)->entries()) + " entries found room");
    return ReadNumbered(trial->get(), "key", kKeys);
  }

  Status FullBuckets() {
    Trial::Shape shape = WithHash(HashOfFirstByte);
    shape.policy = kPolicySetAssociative;
    auto trial = NewTrial(shape);
    if (!trial) return trial.error();
    (*trial)->room = false;
    if (Status status = StoreNumbered(trial->get(), "key", 100, "value"); !status.ok())
      return status;
    if ((*trial)->entries() != 2 * kBucketSlots) {
      return Status(Code::kCorruption,
                    "two buckets hold " + std::to_string((*trial)->entries()) + " entries");
    }
    if (Status status = StoreNumbered(trial->get(), "key", 100, "other"); !status.ok())
      return status;
    return ReadNumbered(trial->get(), "key", 100);
  }

  Status GrowingIndex() {
    Trial::Shape shape = WithHash(HashOfFewTags);
    shape.buckets = 128;
    shape.newer_buckets = 192;
    auto trial = NewTrial(shape);
    if (!trial) return trial.error();
    Status status = StoreNumbered(trial->get(), "old", 400, "value");
    (*trial)->Look(Trial::View::kNewer);
    if (status.ok()) status = StoreNumbered(trial->get(), "new", 400, "value");
    if (!status.ok()) return status;
    (*trial)->Look(Trial::View::kBoth);
    (*trial)->Begin();
    for (uint32_t i = 0; i < 450; i++) {
      for (const char* name : {"old", "new"}) {
        if (i % 4 == 0) (*trial)->Delete(Numbered(name, i));
        if (i % 4 == 1) (*trial)->Store(Numbered(name, i), {"other"});
        if (i % 4 == 2) (*trial)->Read(Numbered(name, i));
        if (i % 4 == 3) (*trial)->Hint(Numbered(name, i));
      }
    }
    status = Run(trial->get());
    if (status.ok()) status = ReadNumbered(trial->get(), "old", 450);
    return status.ok() ? ReadNumbered(trial->get(), "new", 450) : status;
  }

  Status TasksInStages() {
    auto trial = NewTrial(WithHash(HashOfFewTags));
    if (!trial) return trial.error();
    if (Status status = StoreNumbered(trial->get(), "key", 600, "value"); !status.ok())
      return status;
    (*trial)->Begin();
    for (uint32_t i = 0; i < 700; i++) {
      if (i % 5 < 3) (*trial)->Read(Numbered("key", i));
      if (i % 5 == 3) (*trial)->Store(Numbered("key", i), {"other"});
      if (i % 5 == 4) (*trial)->Delete(Numbered("key", i));
    }
    uint32_t run = 0;
    for (const uint32_t task : {kRunSearch, kRunCompare, kRunInsert, kRunDelete, kRunRead}) {
      (*trial)->tasks = task;
      (*trial)->MakeJob(false);
      if (Status status = RunJob(trial->get(), For(task)); !status.ok()) return status;
      run |= task;
      for (uint32_t i = 0; i < 700; i++) {
        const uint32_t result = (*trial)->result(i);
        if ((result == kResultRead && (run & kRunRead) == 0) ||
            (result == kResultStored && (run & kRunInsert) == 0) ||
            (result == kResultDeleted && (run & kRunDelete) == 0))
          return Status(Code::kCorruption, "query " + std::to_string(i) + " was run too soon");
      }
    }
    return (*trial)->Check();
  }

  static Status RunJob(Trial* trial, Processor* processor) {
    if (Status status = processor->Start(trial->job()); !status.ok()) return status;
    return trial->job()->Wait();
  }

  Status NotesOfReads() {
    auto trial = NewTrial({});
    if (!trial) return trial.error();
    Status status = StoreNumbered(trial->get(), "key", 300, "value");
    for (const bool notes : {false, true}) {
      (*trial)->notes = notes;
      if (status.ok()) status = ReadNumbered(trial->get(), "key", 200);
      if (!status.ok()) return status;
      for (uint32_t i = 0; i < 300; i++) {
        if ((*trial)->WasFetched(Numbered("key", i)) != (notes && i < 200))
          return Status(Code::kCorruption, "a read of query " + std::to_string(i) +
                                               (notes ? " was not noted" : " was noted"));
      }
    }
    return {};
  }

  // Sets that are somebody else's are left alone; two that share a job run each set once.
  Status SharedSets() {
    if (!processor_->description().steals) return {};
    auto trial = NewTrial(WithHash(HashOfFewTags));
    if (!trial) return trial.error();
    (*trial)->shares = true;
    for (uint32_t round = 0; round < 4; round++) {
      const bool at_once = round % 2 == 1;
      (*trial)->Begin();
      for (uint32_t i = 0; i < 1000; i++)
        (*trial)->Store(Numbered("key", i), {Numbered("round", round)});
      if (Status status = ShareJob(trial->get(), at_once); !status.ok()) return status;
    }
    return {};
  }

  // Every second set is the CPU's; or both take what they get.
  Status ShareJob(Trial* trial, bool at_once) {
    trial->MakeJob(false);
    const task::QueryJob& query = trial->job()->query;
    if (at_once) {
      auto other = base::StartThread([&query] {
        for (uint32_t set = task::SetCount(query); set-- > 0;)
          if (task::ClaimSet(query, set)) RunSet(query, set);
      });
      if (!other) return other.error();
      const Status status = RunJob(trial, For(kAllTasks));
      other->join();
      if (!status.ok()) return status;
    } else {
      for (uint32_t set = 1; set < task::SetCount(query); set += 2) query.set_claims[set] = 1;
      if (Status status = RunJob(trial, For(kAllTasks)); !status.ok()) return status;
      for (uint32_t i = 0; i < query.end; i++) {
        const bool is_ours = i / kSetQueries % 2 == 1;
        if (is_ours != (query.result[i] == kResultNone))
          return Status(Code::kCorruption, "query " + std::to_string(i) + " of a set that is " +
                                               (is_ours ? "another's was run" : "its was not run"));
      }
      for (uint32_t set = 1; set < task::SetCount(query); set += 2) RunSet(query, set);
    }
    for (uint32_t set = 0; set < task::SetCount(query); set++)
      if (query.set_claims[set] != 1)
        return Status(Code::kCorruption, "set " + std::to_string(set) + " was claimed by nobody");
    return trial->Check();
  }

  static void RunSet(const task::QueryJob& query, uint32_t set) {
    task::RunQueries(query, task::SetBegin(query, set), task::SetEnd(query, set), 0);
  }

  // As after a failure: a part of the job was not run, some of what was has not been said.
  Status RunAgain() {
    auto trial = NewTrial(WithHash(HashOfFewTags));
    if (!trial) return trial.error();
    if (Status status = StoreNumbered(trial->get(), "key", 700, "value"); !status.ok())
      return status;
    (*trial)->Begin();
    for (uint32_t i = 0; i < 1000; i++) {
      if (i % 3 == 0) (*trial)->Delete(Numbered("key", i));
      if (i % 3 == 1) (*trial)->Store(Numbered("key", i), {"other"});
      if (i % 3 == 2) (*trial)->Read(Numbered("key", i));
    }
    (*trial)->MakeJob(false);
    const task::QueryJob& query = (*trial)->job()->query;
    (*trial)->job()->query.end = 600;
    if (Status status = RunJob(trial->get(), For(kAllTasks)); !status.ok()) return status;
    for (uint32_t i = 600; i < 1000; i++)
      if (i % 2 == 0) AnnounceChange(query, i, i % 4 == 0);
    (*trial)->MakeJob(true);
    if (Status status = RunJob(trial->get(), For(kAllTasks)); !status.ok()) return status;
    return (*trial)->Check();
  }

  Processor* const processor_;
  const std::unique_ptr<Processor> cpu_;
};

}  // namespace

Status SelfTest(Processor* processor) {
  WEFT_CHECK(processor->description().memory == MemoryModel::kCoupled);
  return SelfTester(processor).Run();
}

}  // namespace weft::processor
