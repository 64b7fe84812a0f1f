// tests/durable/fault_history.h: what writers did to a store on a failing file system, and the
// judgement of what a crash left of it.
//
// The promise under test: after a crash the state is that after some prefix of the writes, in their
// order. The prefix has every write that was acknowledged with sync, and so everything acknowledged
// before one of those began. After the end of a process it has every acknowledged write. A write
// that returned an error may have happened or not. Ingested tables are a write with sync. A
// checkpoint that was made is there, whole, after any crash.
//
// Threads   a Writer: one. The order between threads is known by the stamps of one clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "durable/kit.h"
#include "durable/store.h"

namespace weft::durable {

using Stamps = std::atomic<uint64_t>;

struct Attempt {
  enum class Outcome : uint8_t { kUnderWay, kOk, kError };
  Batch batch;  // empty: no write, but a flush: all acknowledged before it is synced
  bool sync = false;
  uint64_t begun = 0;
  uint64_t ended = 0;
  Outcome outcome = Outcome::kUnderWay;
};

// A checkpoint that was acknowledged, and what it holds of its writer's keys.
struct Copied {
  std::string dir;
  Model model;
  uint64_t ended = 0;
};

struct WriterHabits {
  int operations = 0;
  bool faults = false;   // an error may be an answer; a wrong value never
  bool compacts = true;  // now and then
};

// A writer's keys begin with its letter, so that no other changes them.
class Writer {
 public:
  // `base`: its keys' present values.
  Writer(int index, uint64_t seed, Model base, Stamps* stamps);

  // Writes, reads, flushes, compacts, ingests and copies until all is done or too many writes have
  // failed.
  void Work(Store* store, const WriterHabits& habits);

  const std::string& prefix() const { return prefix_; }
  const Model& base() const { return base_; }
  const std::vector<Attempt>& attempts() const { return attempts_; }
  const std::vector<Copied>& checkpoints() const { return checkpoints_; }

 private:
  Change DrawChange();
  std::string DrawKey();
  void Write(Store* store, bool faults);
  void Get(Store* store, bool faults);
  void Read(Store* store, bool faults);
  void Flush(Store* store, bool faults);
  void Compact(Store* store, bool faults);
  void Ingest(Store* store, bool faults);
  void Checkpoint(Store* store, bool faults);
  void Keep(Attempt attempt, const Status& status, bool faults);
  bool Uncertain(const std::string& key) const;

  const std::string prefix_;
  Random random_;
  const Model base_;
  Model model_;
  std::vector<std::string> uncertain_;  // keys of writes that failed
  std::vector<Attempt> attempts_;
  std::vector<Copied> checkpoints_;
  Stamps* const stamps_;
  int failed_ = 0;
};

// The instant of a crash: the files then, and stamps right before and behind it.
struct Cut {
  std::unique_ptr<base::MemoryFileSystem> files;
  uint64_t before = 0;
  uint64_t behind = 0;
};

// Fails unless `found` is what the promise allows. `all_acknowledged`: the process ended, but the
// power stayed.
void Judge(const std::vector<Writer>& writers, const Cut& cut, bool all_acknowledged,
           const std::vector<std::pair<std::string, std::string>>& found);

}  // namespace weft::durable
