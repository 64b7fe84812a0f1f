// processor/trial.h: a small index and log in a processor's memory, batches of queries to try on
// it, and a model that predicts the results.
//
// The model is a map from key to object. It knows nothing of buckets, tags or slots, and the
// objects are laid out by hand. So an answer that agrees with it was not made by the code under
// trial. The self-test (self_test.h) and the tests of processors are built from it.
//
// A batch: Begin, any queries, Run. Run repeats, with QueryJob::again, what the processor left
// undone (a task may, after lost races: task/query_job.h). Then it checks each query's answer, and
// that the index holds the model's entries, each once, and nothing else.
//
// Keys      a key that a query of the batch writes is in no other query of it.
// Errors    kCorruption: an answer is wrong; the message says which query's and how. Errors of the
//           processor itself are passed on. kNoMemory.
// Threads   one at a time, except for those that claim sets of job().query.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/pages.h"
#include "processor/processor.h"
#include "task/query_job.h"
#include "weft/status.h"

namespace weft::processor {

inline constexpr uint32_t kAllTasks = kRunSearch | kRunCompare | kRunRead | kRunInsert | kRunDelete;

class Trial {
 public:
  struct Shape {
    uint32_t policy = kPolicyCuckoo;
    uint64_t buckets = 1 << 10;
    uint64_t newer_buckets = 0;  // of a second table, for Look
    uint64_t log_bytes = 4 << 20;
    uint64_t values_bytes = 4 << 20;                   // of QueryJob::values
    uint32_t queries_max = 4096;                       // of a batch
    uint64_t (*hash)(std::string_view key) = nullptr;  // null: a good one
  };
  struct Stored {
    std::string value;
    uint32_t flags = 0;
    uint32_t expiry_s = 0;
    uint64_t cas = 0;  // 0: its place gives it
  };
  static constexpr uint32_t kNow_s = 1000;  // the clock of every batch

  static Result<std::unique_ptr<Trial>> Create(cache::PageSource* source, const Shape& shape);

  // --- a batch ---
  void Begin();
  void Hint(std::string_view key) { Add(key, kWantsHint); }
  void Read(std::string_view key) { Add(key, kWantsRead); }
  void Store(std::string_view key, const Stored& stored);
  void Delete(std::string_view key);
  // A query from which nothing is wanted, whatever its key.
  void Nothing(std::string_view key) { Add(key, kWantsNothing); }
  uint32_t queries() const { return static_cast<uint32_t>(queries_.size()); }

  // Properties of the next batches.
  bool room = true;     // every new key finds a place; false: it may be left without
  bool notes = false;   // QueryJob::notes
  bool shares = false;  // with QueryJob::set_claims
  // The next runs' tasks. Runs of a batch with one task each are stages of a plan.
  uint32_t tasks = kAllTasks;

  Status Run(Processor* processor);

  // The same in steps: MakeJob, any starts and waits of job(), Check.
  void MakeJob(bool again);
  Job* job() { return &job_; }
  // Whether a run with `again` may still do something.
  bool IsLeft() const;
  Status Check();

  // --- between batches ---
  enum class View { kOlder, kNewer, kBoth };
  // Chooses the table that is the index; kBoth: as while it grows.
  void Look(View view);
  // Nothing stored so far counts any more.
  void Flush();

  uint64_t entries() const { return model_.size(); }
  uint64_t moves() const;  // entries that were displaced
  uint32_t result(uint32_t query) const { return columns_.result[query]; }
  uint32_t values_used() const { return *columns_.values_used; }
  bool WasFetched(std::string_view key) const;  // the note of a read. REQUIRES: it is stored

 private:
  struct Entry {
    Stored stored;
    uint64_t location = 0;
    bool is_flushed = false;
    View table = View::kOlder;
  };
  struct Query {
    std::string key;
    uint32_t wanted = kWantsNothing;
    Entry entry;  // of kWantsStore
  };
  // In the processor's memory, one entry a query unless said otherwise.
  struct Columns {
    uint64_t *hash, *word, *position, *placed;
    uint32_t *key_at, *value_at, *claims, *values_used;
    uint8_t *key_bytes, *keys, *wanted, *result, *values;
  };

  explicit Trial(const Shape& shape) : shape_(shape) {}
  Status Reserve(cache::PageSource* source);
  void Add(std::string_view key, uint32_t wanted);
  uint64_t WriteObject(std::string_view key, const Stored& stored);
  uint64_t HashOf(std::string_view key) const;

  bool IsEnded(const Entry& entry) const;
  bool WantsMore(uint32_t query) const;
  Status Wrong(uint32_t query, const std::string& how) const;
  Status CheckQuery(uint32_t query);
  Status CheckHint(uint32_t query) const;
  Status CheckRead(uint32_t query) const;
  Status CheckValue(uint32_t query, const Stored& stored) const;
  Status CheckStore(uint32_t query);
  Status CheckDelete(uint32_t query);
  Status TakeGraves();
  Status CheckIndex() const;
  Status CheckTable(const task::TableRef& table, std::map<uint64_t, std::string>* expected) const;

  const Shape shape_;
  cache::Pages table_pages_, log_pages_, column_pages_;
  task::IndexRef index_{};  // both tables; job_ has the view of them
  task::LogRef log_{};
  Columns columns_{};
  uint64_t log_used_ = 1;  // in 8-byte units; location 0 names no object
  View view_ = View::kOlder;

  std::map<std::string, Entry> model_;
  std::vector<Query> queries_;
  uint32_t tasks_run_ = 0;     // on the batch
  uint64_t keys_used_ = 0;     // bytes
  uint64_t moves_before_ = 0;  // before the batch
  Job job_;
};

}  // namespace weft::processor
