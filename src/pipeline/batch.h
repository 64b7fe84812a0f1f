// pipeline/batch.h: the queries that go through the tasks together, as a structure of arrays.
//
// Task PP adds queries in the order in which they must take effect. The stages fill in the results,
// and task WR reads them. The batch carries its Plan, so plans change between batches only.
//
// A query is one of three kinds: a plain read, a command about a key, or something that is not
// about a key but has its place in the order. A plain read is its key alone, and costs no Command.
//
// Lifetime  keys are copied in; a command's value and other views stay the owner's and must stay
//           until the batch is done. What the results point at is valid within the epoch of
//           CpuStage::Run, which calls Sink::Write for it.
// Threads   one at a time, except that a processor works on the columns of task/query_job.h.
// Cost      between batches every entry says what a plain read begins with, so that adding one
//           writes its key and its owner alone; Clear puts that back where a batch has been. Words
//           and positions stay what they were: whoever takes one for a candidate looks at its slot
//           (CompareOne in task/batch_tasks.h); ForgetEntries where they may be of other tables.
// Memory    columns and keys are allocated once, for BatchOptions::queries_max queries; what a
//           processor sees, from BatchOptions::pages; commands as they come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/copy_short.h"
#include "cache/command.h"
#include "cache/pages.h"
#include "pipeline/plan.h"
#include "task/query_job.h"

namespace weft::pipeline {

enum class QueryKind : uint8_t { kRead, kCommand, kOther };

// What became of a query.
enum class QueryState : uint8_t {
  kWaiting,
  kDone,
  kSkipped,  // not run: its source may write no more for now, or an earlier one of it was skipped
};

struct BatchOptions {
  uint32_t queries_max = 1024;
  // Room for the values that task RD gathers; 0: none is gathered.
  uint64_t gather_bytes = 0;
  // Memory that every processor of its plans sees; it must outlive the batch.
  cache::PageSource* pages = cache::SystemPages();
};

class Batch {
  struct Source {
    int64_t room;
    uint64_t rewritten = 0;
    uint32_t kept_until = 0;  // one behind its last query of KeepUpTo
    bool shows_versions = false;
  };
  struct Owner {
    uint32_t source, tag;
  };

 public:
  static constexpr uint32_t kQueriesMax = 1024;  // of a batch for the one-stage plan
  // That a reply takes of its source's room, beside its value and its key.
  static constexpr int64_t kReplyBytes = 64;

  // For the one-stage plan, in the process's own memory.
  explicit Batch(const Plan& plan);
  // kNoMemory where the pages' owner has too little.
  static Result<std::unique_ptr<Batch>> Create(const Plan& plan, const BatchOptions& options);

  void Clear();
  // What queries of earlier batches left in the columns' words and positions goes: reads may find
  // it there as if a search had. It does no harm where it is of the index that the batch will see,
  // for a candidate is looked at before it is believed. REQUIRES: nothing of the batch has been run
  void ForgetEntries();
  const Plan& plan() const { return plan_; }
  // Batches under way keep theirs. REQUIRES: nothing of the batch has been run.
  void SetPlan(const Plan& plan) { plan_ = plan; }
  uint32_t size() const { return size_; }
  uint32_t queries_max() const { return queries_max_; }
  bool full() const { return size_ == queries_max_; }

  // A source is whoever gets the replies: `room` is how many bytes may be written for it in this
  // batch before the stage has to ask for more (Sink::MoreRoom). Returns its number.
  uint32_t AddSource(int64_t room);
  // The source's plain reads show the versions of what they find: these must last from then on.
  // Only the CPU's one stage sees to it, and not above a disk.
  void ShowVersionsTo(uint32_t source) { sources_[source].shows_versions = true; }
  bool shows_versions(uint32_t source) const { return sources_[source].shows_versions; }

  // Adds plain reads in a row, as AddRead does, and keeps at hand what AddRead looks up each time.
  // The batch has them when it ends; it is used by nobody else meanwhile.
  class ReadAdder {
   public:
    ReadAdder(Batch* batch, uint32_t source)
        : batch_(batch),
          source_(source),
          size_(batch->size_),
          keys_end_(batch->keys_end_),
          owners_(batch->owners_.data()),
          hash_(batch->hash_),
          key_at_(batch->key_at_),
          key_bytes_(batch->key_bytes_),
          keys_(reinterpret_cast<char*>(batch->keys_)) {}
    ReadAdder(const ReadAdder&) = delete;
    ReadAdder& operator=(const ReadAdder&) = delete;
    ~ReadAdder() {
      batch_->size_ = size_;
      batch_->keys_end_ = keys_end_;
    }
    bool full() const { return size_ == batch_->queries_max_; }
    // REQUIRES: as AddRead
    void Add(uint32_t tag, std::string_view key, uint64_t hash) {
      WEFT_DCHECK(size_ != batch_->queries_max_ && key.size() <= kKeyBytesMax);
      const uint32_t i = size_++;
      const uint32_t at = keys_end_;
      keys_end_ = at + static_cast<uint32_t>(key.size());
      owners_[i] = {source_, tag};
      hash_[i] = hash;
      key_at_[i] = at;
      key_bytes_[i] = static_cast<uint8_t>(key.size());
      base::CopyShort(keys_ + at, key.data(), key.size());
    }

   private:
    Batch* const batch_;
    const uint32_t source_;
    uint32_t size_, keys_end_;
    Owner* const owners_;
    uint64_t* const hash_;
    uint32_t* const key_at_;
    uint8_t* const key_bytes_;
    char* const keys_;
  };
  // `tag` is the owner's. REQUIRES: !full(), at most kKeyBytesMax key bytes
  void AddRead(uint32_t source, uint32_t tag, std::string_view key, uint64_t hash) {
    ReadAdder(this, source).Add(tag, key, hash);
  }
  // Adds a command about `key`; the caller fills in the rest. It stays where it is until the next
  // one is added. REQUIRES: as AddRead
  cache::Command& AddCommand(uint32_t source, uint32_t tag, std::string_view key, uint64_t hash);
  // The same; the rest is as in `like`.
  cache::Command& AddCommand(uint32_t source, uint32_t tag, std::string_view key, uint64_t hash,
                             const cache::Command& like);
  void AddCommand(uint32_t source, uint32_t tag, const cache::Command& command) {
    AddCommand(source, tag, command.key, command.hash, command);
  }
  // `barrier`: it changes the store or tells of it, so that nothing may overtake it either way.
  // `key` with its hash: of what it does beside its answer; empty: nothing.
  void AddOther(uint32_t source, uint32_t tag, bool barrier = true, std::string_view key = {},
                uint64_t hash = 0);

  QueryKind kind(uint32_t i) const { return kind_[i]; }
  QueryState state(uint32_t i) const { return state_[i]; }
  uint32_t source(uint32_t i) const { return owners_[i].source; }
  uint32_t tag(uint32_t i) const { return owners_[i].tag; }
  std::string_view key(uint32_t i) const {
    return {reinterpret_cast<const char*>(keys_) + key_at_[i], key_bytes_[i]};
  }
  // REQUIRES: kind kCommand
  const cache::Command& command(uint32_t i) const { return commands_[command_at_[i]]; }
  const cache::Reply& reply(uint32_t i) const { return replies_[command_at_[i]]; }
  cache::Reply& reply(uint32_t i) { return replies_[command_at_[i]]; }

  // Results of a plain read that was not gathered (result(i) is not kResultRead): location of the
  // object, 0 for a miss, and why it is one.
  uint64_t location(uint32_t i) const { return word_[i] & kLocationMask; }
  cache::Miss miss(uint32_t i) const { return miss_[i]; }

  // A value that task RD gathered.
  struct Gathered {
    uint32_t client_flags;
    std::string_view value;
    bool wants_note;  // kValueNoteBit
  };
  // All that were, for who reads many of them.
  class GatheredValues {
   public:
    GatheredValues(const uint8_t* values, const uint32_t* value_at)
        : values_(values), value_at_(value_at) {}
    // REQUIRES: result(i) is kResultRead
    Gathered operator[](uint32_t i) const {
      const uint8_t* const at = At(i);
      uint32_t client_flags, bytes;
      std::memcpy(&client_flags, at, 4);
      std::memcpy(&bytes, at + 4, 4);
      return {client_flags,
              {reinterpret_cast<const char*>(at) + kGatherHeaderBytes, bytes},
              (value_at_[i] & kValueNoteBit) != 0};
    }
    // Asks for the first line of it, if there is one.
    void Prefetch(uint32_t i) const { task::Prefetch(At(i)); }
    // Asks for the others. REQUIRES: as above
    void PrefetchRest(uint32_t i) const {
      const uint8_t* const at = At(i);
      uint32_t bytes;
      std::memcpy(&bytes, at + 4, 4);
      bytes = std::min(bytes, kPrefetchBytesMax);
      for (uint32_t offset = kCacheLineBytes; offset < bytes + kGatherHeaderBytes;
           offset += kCacheLineBytes)
        task::Prefetch(at + offset);
    }

   private:
    const uint8_t* At(uint32_t i) const {
      return values_ + uint64_t{value_at_[i] & ~kValueNoteBit} * 8;
    }

    const uint8_t* const values_;
    const uint32_t* const value_at_;
  };
  // Asks for what of it a last stage reads of queries [begin, begin + count), as far as there are
  // so many: their results, and where values lie.
  void PrefetchResults(uint32_t begin, uint32_t count) const {
    const uint32_t end = std::min(size_, begin + count);
    for (uint32_t i = begin; i < end; i += kCacheLineBytes) task::Prefetch(result_ + i);
    for (uint32_t i = begin; i < end; i += kCacheLineBytes / sizeof *value_at_)
      task::Prefetch(value_at_ + i);
  }
  // Asks for the word and position of query `i`.
  void PrefetchEntry(uint32_t i) const {
    task::Prefetch(word_ + i);
    task::Prefetch(position_ + i);
  }
  GatheredValues gathered() const { return {values_, value_at_}; }
  Gathered gathered(uint32_t i) const { return gathered()[i]; }
  // One behind the last of the queries from `begin` on that are all kResultRead, up to `limit`.
  uint32_t GatheredEnd(uint32_t begin, uint32_t limit) const;
  // The same of those that no stage has answered.
  uint32_t UnansweredEnd(uint32_t begin, uint32_t limit) const;
  // The same of those that are plain reads, too.
  uint32_t UnansweredReadsEnd(uint32_t begin, uint32_t limit) const;
  // The same of those that are kDone.
  uint32_t DoneEnd(uint32_t begin, uint32_t limit) const;
  // The same of those that are of the source of `begin`.
  uint32_t SourceEnd(uint32_t begin, uint32_t limit) const;

  task::Columns columns() { return {hash_, key_at_, key_bytes_, keys_, word_, position_}; }
  // The batch as a stage runs it; index, log and tasks are the caller's to fill in.
  task::QueryJob AsJob();

  // Takes other memory for the columns, of the process's own, with what queries and stages have put
  // there but gathered values; and gives away the former, in which nothing is wanted any more: for
  // a processor that may still be at work on it.
  cache::Pages LeaveColumns();

  // For stages.
  void SetState(uint32_t i, QueryState state) { state_[i] = state; }
  void SetDone(uint32_t begin, uint32_t end) {
    constexpr uint32_t kFew = 8;  // for which a call takes longer
    if (end - begin > kFew) {
      std::memset(&state_[begin], static_cast<int>(QueryState::kDone), end - begin);
      return;
    }
    for (uint32_t i = begin; i < end; i++) state_[i] = QueryState::kDone;
  }
  void SetMiss(uint32_t i, cache::Miss miss) {
    word_[i] = 0;
    miss_[i] = miss;
  }
  // Gives a plain read a command and a reply of its own, for an answer that is not in the log.
  cache::Reply& TurnIntoCommand(uint32_t i);
  uint64_t word(uint32_t i) const { return word_[i]; }
  uint64_t position(uint32_t i) const { return position_[i]; }
  uint64_t hash(uint32_t i) const { return hash_[i]; }
  uint64_t& placed(uint32_t i) { return placed_[i]; }
  int64_t room(uint32_t source) const { return sources_[source].room; }
  void AddRoom(uint32_t source, int64_t bytes) { sources_[source].room += bytes; }
  void TakeRoom(uint32_t source, int64_t bytes) { sources_[source].room -= bytes; }
  // Nothing more may be written for it: the rest of its queries is skipped.
  void EndRoom(uint32_t source) { sources_[source].room = kNoRoom; }
  bool has_ended(uint32_t source) const { return sources_[source].room < kNoRoom / 2; }
  // Bytes that changes wrote beyond those that the source sent: a touch writes all of its item.
  uint64_t& rewritten(uint32_t source) { return sources_[source].rewritten; }
  // What the reply to query `i` takes, about, beside a value.
  int64_t ReplyBytes(uint32_t i) const {
    const int64_t keys = kind_[i] == QueryKind::kCommand ? 2 : 1;  // meta commands echo more
    return kReplyBytes + keys * key_bytes_[i];
  }
  // Of values in replies, for the statistics.
  void CountValueBytes(uint64_t bytes) { value_bytes_ += bytes; }
  uint32_t sources() const { return static_cast<uint32_t>(sources_.size()); }
  // What a stage before the last is to do, and how far it came: task/query_job.h.
  uint8_t& wanted(uint32_t i) { return wanted_[i]; }
  void WantOfAll(uint8_t wanted) { std::memset(wanted_, wanted, size_); }
  uint8_t result(uint32_t i) const { return result_[i]; }
  void SetResult(uint32_t i, uint8_t result) { result_[i] = result; }
  // Before the first stage: nothing is gathered, no set is claimed.
  void ClearGathered();
  void ClearClaims();
  // As before the first stage, for who runs the same job again.
  void ForgetResults() { std::memset(result_, static_cast<int>(kResultNone), size_); }
  // Whether the last stage is to note the accesses of gathered reads, for who gathered them worked
  // on a mirror.
  bool notes_due() const { return notes_due_; }
  void set_notes_due(bool due) { notes_due_ = due; }
  // Which of them: QueryJob::note_row.
  uint32_t note_row() const { return note_row_; }
  void set_note_row(uint32_t row) { note_row_ = row; }
  // True where some query must see all before it done, and nothing behind it.
  bool has_barrier() const { return has_barrier_; }
  // False: nothing in it changes anything, or needs more than its key.
  bool has_commands() const { return !commands_.empty(); }
  bool has_only_reads() const { return commands_.empty() && others_ == 0; }
  uint32_t others() const { return others_; }  // not about a key
  // Whether IN.search has left candidates in the columns for all queries with a key.
  bool searched() const { return searched_; }
  void set_searched(bool searched) { searched_ = searched; }
  // A stage before the last may change something for query `i`. All that its source asked for up to
  // it must then be answered, because it can't be asked again.
  void KeepUpTo(uint32_t i) { sources_[source(i)].kept_until = i + 1; }
  bool MustAnswer(uint32_t i) const { return MustAnswerFrom(i, source(i)); }
  // Whether `source` has such a query at `i` or behind it.
  bool MustAnswerFrom(uint32_t i, uint32_t source) const { return i < sources_[source].kept_until; }
  // A query about a key is not run.
  void Skip(uint32_t i) {
    state_[i] = QueryState::kSkipped;
    skipped_++;
  }
  // A read found nothing.
  void CountMiss() { misses_++; }

  // For statistics, after the last stage, and until Clear.
  uint32_t skipped() const { return skipped_; }      // about one
  uint32_t misses() const { return misses_; }        // of the reads that were done
  uint32_t keys_bytes() const { return keys_end_; }  // of all
  std::span<const cache::Command> commands() const { return commands_; }
  // Bytes of all values in replies.
  uint64_t ReplyValueBytes() const { return value_bytes_; }

 private:
  static constexpr int64_t kNoRoom = INT64_MIN / 2;

  Batch(const Plan& plan, const BatchOptions& options, cache::Pages pages);
  void TakeColumns(cache::Pages pages);
  void AddCommandQuery(uint32_t source, uint32_t tag, std::string_view key, uint64_t hash);
  cache::Command& AboutLastKey(cache::Command& command) const;
  static uint64_t ColumnBytes(const BatchOptions& options);
  uint32_t KeyBytesOfAll() const;

  Plan plan_;
  const uint32_t queries_max_;
  uint32_t size_ = 0;
  uint32_t keys_end_ = 0;
  uint32_t entries_end_ = 0;  // behind it all words and positions are 0
  bool has_barrier_ = false;
  bool searched_ = false;
  bool notes_due_ = false;
  uint32_t note_row_ = 0;
  uint32_t others_ = 0, skipped_ = 0, misses_ = 0;
  uint64_t value_bytes_ = 0;  // in replies

  // What processors see, in pages_; one entry a query but where said.
  cache::Pages pages_;
  uint64_t *hash_, *word_, *position_;
  uint64_t* placed_;  // task MM: location of the object to be published, of a grave, or 0
  uint32_t *key_at_, *value_at_;
  uint32_t* claims_;       // one a set
  uint32_t* values_used_;  // one
  uint8_t *key_bytes_, *wanted_, *result_;
  uint8_t* keys_;                 // one behind the other
  uint8_t* values_;               // gathered
  uint32_t values_capacity_ = 0;  // in 8-byte units

  std::vector<QueryKind> kind_;
  std::vector<QueryState> state_;
  std::vector<cache::Miss> miss_;
  std::vector<Owner> owners_;
  std::vector<uint32_t> command_at_;
  std::vector<cache::Command> commands_;
  std::vector<cache::Reply> replies_;
  std::vector<Source> sources_;
};

}  // namespace weft::pipeline
