#include "sim/record/recorded_store.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "cache/pages.h"
#include "cache/store.h"
#include "pipeline/batch.h"
#include "pipeline/cpu_stage.h"
#include "pipeline/reply_of.h"

namespace weft::sim {
namespace {

constexpr int64_t kMuchRoom = int64_t{1} << 40;
constexpr uint32_t kWritesBetween = 64;  // while it is filled, before the housekeeping
// An index that its creator sizes for n items has so much of its slots in use with them.
constexpr double kLoadOfExpected = 0.75;

uint64_t ObjectBytes(const StoreWorkload& workload, uint64_t id, std::string* scratch) {
  workload.WriteValue(id, scratch);
  return (sizeof(task::Object) + workload.options().key_bytes + scratch->size() + 7) & ~uint64_t{7};
}

CacheOptions StoreOptions(const RecordingOptions& options, const StoreWorkload& workload) {
  CacheOptions cache;
  cache.index_policy = options.policy;
  cache.hash_seed = 1;  // the same recording again
  cache.prefetch = options.prefetches;
  cache.append_lanes = static_cast<uint32_t>(options.cores);
  cache.expected_items = static_cast<uint64_t>(static_cast<double>(options.workload.ids) *
                                               kLoadOfExpected / options.load);
  cache.memory_bytes = options.memory_bytes;
  if (cache.memory_bytes == 0) {
    std::string scratch;
    uint64_t bytes = 0;
    for (uint64_t id = 0; id < options.workload.ids; ++id)
      bytes += ObjectBytes(workload, id, &scratch);
    const auto index_bytes = static_cast<uint64_t>(static_cast<double>(options.workload.ids) /
                                                   options.load * sizeof(uint64_t));
    cache.memory_bytes = std::max<uint64_t>(uint64_t{16} << 20, 2 * bytes + 3 * index_bytes);
  }
  cache.object_bytes_max =
      std::min<uint32_t>(1u << 20, static_cast<uint32_t>(cache.memory_bytes / 4));
  return cache;
}

Status Check(const RecordingOptions& options) {
  const auto refuse = [](std::string why) {
    return Status(Code::kInvalidArgument, std::move(why));
  };
  if (options.cores < 1 || options.cores > RecordedStore::kCoresMax)
    return refuse(
        fmt::format("cores: {} is not from 1 to {}", options.cores, RecordedStore::kCoresMax));
  if (options.batch < 1 || options.batch > pipeline::CpuStage::kGroupQueries)
    return refuse(fmt::format("batch: {} is not from 1 to {}", options.batch,
                              pipeline::CpuStage::kGroupQueries));
  if (!(options.load > 0 && options.load <= 0.8))
    return refuse(fmt::format("load: {} is not above 0 and up to 0.8", options.load));
  if (options.ops < 0) return refuse("the number of operations is negative");
  return Status::Ok();
}

}  // namespace

class RecordedStore::Engine : private pipeline::Sink {
 public:
  Engine(const RecordingOptions& options, const StoreWorkload& workload)
      : options_(options), workload_(workload), begun_ns_(base::NowNs()) {}

  // Once, before all else.
  Status Open();
  const RecordingOptions& options() const { return options_; }
  const StoreShape& shape() const { return shape_; }
  const TableImage& initial_table() const { return initial_table_; }
  const Answers& answers() const { return answers_; }
  const AccessRecorder& recorder() const { return *recorder_; }
  TableImage TableNow() const;
  bool is_repeatable() const;
  Result<bool> Next(int number, Record* record);

 private:
  // Pages of the system's, and where they are.
  class Kept : public cache::PageSource {
   public:
    Result<cache::Pages> Reserve(size_t bytes_wanted, bool huge) override;
    const uint8_t* data = nullptr;
    size_t bytes = 0;
  };
  struct Core {
    Core(const StoreWorkload* workload, int number) : queries(workload, number) {}

    StoreWorkload::Queries queries;
    int64_t ops_left = 0;
    Kept batch_pages;
    std::unique_ptr<cache::Session> session;
    std::unique_ptr<pipeline::Batch> batch;
    pipeline::TaskTimes times;
    std::unique_ptr<pipeline::CpuStage> stage;
    cache::Pages replies;
    // Of the batch under way.
    std::vector<StoreWorkload::Query> asked;
    std::vector<std::string> values;
    uint64_t reply_bytes = 0;
    // Records that weren't asked for yet.
    std::vector<Record> records;
    size_t next = 0;
  };

  Status Fill();
  Status MakeCores();
  void Trace();
  // A batch of each core that has queries left. False: none has.
  Result<bool> RunTurn();
  void FillBatch(Core& core);
  void RunBatch(int number);
  // Sink:
  void Write(pipeline::Batch& batch, uint32_t begin, uint32_t end,
             cache::Session& session) override;
  void RunOther(pipeline::Batch& batch, uint32_t i, cache::Session& session) override;
  void CheckReply(const cache::Reply& reply, const StoreWorkload::Query& query,
                  const std::string& value);

  // Constant after construction.
  const RecordingOptions options_;
  const StoreWorkload workload_;
  const uint64_t begun_ns_;

  std::unique_ptr<cache::Store> store_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::unique_ptr<AccessRecorder> recorder_;
  StoreShape shape_;
  TableImage initial_table_;
  Core* current_ = nullptr;  // whose batch is under way
  Answers answers_;
  Status status_;
};

Result<cache::Pages> RecordedStore::Engine::Kept::Reserve(size_t bytes_wanted, bool huge) {
  Result<cache::Pages> pages = cache::SystemPages()->Reserve(bytes_wanted, huge);
  if (!pages) return pages;
  WEFT_CHECK(data == nullptr);  // a batch has one range
  data = pages.value().data();
  bytes = pages.value().size();
  return pages;
}

Status RecordedStore::Engine::Open() {
  auto store = cache::Store::Open(StoreOptions(options_, workload_));
  if (!store) return store.error();
  store_ = std::move(store.value());
  if (Status status = Fill(); !status.ok()) return status;
  if (Status status = MakeCores(); !status.ok()) return status;
  Trace();
  return Status::Ok();
}

Status RecordedStore::Engine::Fill() {
  const std::unique_ptr<cache::Session> session = store_->NewSession();
  std::string key;
  std::string value;
  for (uint64_t id = 0; id < options_.workload.ids; ++id) {
    workload_.WriteKey(id, &key);
    workload_.WriteValue(id, &value);
    cache::Command command;
    command.verb = cache::Verb::kStore;
    command.key = key;
    command.value = value;
    command.hash = store_->HashOf(key);
    session->Begin();
    const cache::Reply reply = cache::ExecuteWithRoom(*session, command);
    session->End();
    if (reply.outcome != Outcome::kStored)
      return {Code::kNoMemory, fmt::format("record {} was not stored", id)};
    if (id % kWritesBetween == 0) store_->Maintain(*session, kWritesBetween);
  }
  // Ends: growth that has begun needs nobody but this thread.
  while (store_->index_growing()) store_->Maintain(*session, kWritesBetween);
  const uint64_t items = store_->Stats().items;
  // A full set gives up entries for new ones, whatever the memory.
  const bool drops = options_.policy == IndexPolicy::kSetAssociative;
  if (drops || items == options_.workload.ids) return Status::Ok();
  return {Code::kNoMemory, fmt::format("the store keeps only {} of {} records: give it more memory",
                                       items, options_.workload.ids)};
}

Status RecordedStore::Engine::MakeCores() {
  for (int number = 0; number < options_.cores; ++number) {
    auto core = std::make_unique<Core>(&workload_, number);
    core->ops_left = options_.ops / options_.cores + (number < options_.ops % options_.cores);
    core->session = store_->NewSession();
    if (core->session == nullptr) return {Code::kNoMemory, "the store has no more sessions"};
    auto batch = pipeline::Batch::Create(
        pipeline::Plan::OneStageCpu(),
        {.queries_max = options_.batch, .gather_bytes = 0, .pages = &core->batch_pages});
    if (!batch) return batch.error();
    core->batch = std::move(batch.value());
    core->stage = std::make_unique<pipeline::CpuStage>(store_.get(), &core->times);
    Result<cache::Pages> replies = cache::SystemPages()->Reserve(
        uint64_t{options_.batch} * (workload_.value_bytes_max() + 1), false);
    if (!replies) return replies.error();
    core->replies = std::move(replies.value());
    cores_.push_back(std::move(core));
  }
  return Status::Ok();
}

// Says where all that is traced lies, and what the index has now.
void RecordedStore::Engine::Trace() {
  const task::IndexRef& index = store_->index().current();
  const cache::ObjectLog& log = store_->log();
  const task::LogRef log_ref = log.Ref();
  ArenaMap arenas;
  shape_.table_base = arenas
                          .Add(index.older.buckets, index.older.bucket_count * sizeof(task::Bucket),
                               ArenaKind::kIndex)
                          .base;
  shape_.table_limit = arenas.limit();
  shape_.log_base =
      arenas
          .Add(log_ref.base, uint64_t{log.segment_count()} * log.geometry().segment_bytes,
               ArenaKind::kLog)
          .base;
  shape_.log_limit = arenas.limit();
  shape_.buckets = index.older.bucket_count;
  shape_.slots_per_bucket = kBucketSlots;
  shape_.object_overhead_bytes =
      static_cast<int>(sizeof(task::Object)) + static_cast<int>(options_.workload.key_bytes);
  arenas.Add(index.move_counts, kMoveStripes * sizeof(uint32_t), ArenaKind::kOther);
  arenas.Add(log_ref.version_bases, log.segment_count() * sizeof(uint64_t), ArenaKind::kOther);
  for (const std::unique_ptr<Core>& core : cores_) {
    arenas.Add(core->batch_pages.data, core->batch_pages.bytes, ArenaKind::kBuffer);
    arenas.Add(core->replies.data(), core->replies.size(), ArenaKind::kBuffer);
  }
  recorder_ = std::make_unique<AccessRecorder>(std::move(arenas), index, log_ref, options_.gaps,
                                               options_.cores);
  initial_table_ = recorder_->table();
}

TableImage RecordedStore::Engine::TableNow() const {
  return AccessRecorder(recorder_->arenas(), store_->index().current(), store_->log().Ref(),
                        options_.gaps, options_.cores)
      .table();
}

bool RecordedStore::Engine::is_repeatable() const {
  return base::NowNs() - begun_ns_ < uint64_t{kAccessNoteSeconds} * 1'000'000'000;
}

Result<bool> RecordedStore::Engine::Next(int number, Record* record) {
  Core& asked = *cores_[static_cast<size_t>(number)];
  while (asked.next == asked.records.size()) {
    const Result<bool> ran = RunTurn();
    if (!ran || !ran.value()) return ran;
  }
  *record = asked.records[asked.next++];
  if (asked.next == asked.records.size()) {
    asked.records.clear();
    asked.next = 0;
  }
  return true;
}

Result<bool> RecordedStore::Engine::RunTurn() {
  bool has_run = false;
  for (int number = 0; number < options_.cores; ++number) {
    Core& core = *cores_[static_cast<size_t>(number)];
    if (core.ops_left == 0) continue;
    has_run = true;
    RunBatch(number);
    if (!status_.ok()) return status_;
    if (store_->index_growing())
      return Status(Code::kRetryLater, "the index grew during the recording: lower the load");
    const std::vector<Record> records = recorder_->TakeRecords(number);
    core.records.insert(core.records.end(), records.begin(), records.end());
  }
  return has_run;
}

void RecordedStore::Engine::FillBatch(Core& core) {
  const auto count = static_cast<size_t>(std::min<int64_t>(options_.batch, core.ops_left));
  core.ops_left -= static_cast<int64_t>(count);
  core.asked.resize(count);
  core.values.resize(count);
  core.batch->Clear();
  const uint32_t source = core.batch->AddSource(kMuchRoom);
  std::string key;
  for (size_t i = 0; i < count; ++i) {
    const StoreWorkload::Query query = core.asked[i] = core.queries.Draw();
    workload_.WriteKey(query.id, &key);
    workload_.WriteValue(query.id, &core.values[i]);
    cache::Command command;
    command.verb = cache::Verb::kStore;
    command.key = key;
    command.value = core.values[i];
    command.hash = store_->HashOf(key);
    if (query.is_get) {
      core.batch->AddRead(source, 0, key, command.hash);
    } else {
      core.batch->AddCommand(source, 0, command);
    }
  }
}

void RecordedStore::Engine::RunBatch(int number) {
  Core& core = *cores_[static_cast<size_t>(number)];
  FillBatch(core);
  core.reply_bytes = 0;
  current_ = &core;
  if (options_.records) {
    recorder_->Begin(number);
    for (uint32_t i = 0; i < core.batch->size(); ++i) {
      recorder_->BeginOp({.type = core.asked[i].is_get ? OpType::kGet : OpType::kPut,
                          .key = core.batch->key(i),
                          .hash = core.batch->hash(i)});
    }
  }
  core.stage->Run(*core.batch, *core.session, *this);
  if (options_.records) recorder_->End();
}

void RecordedStore::Engine::Write(pipeline::Batch& batch, uint32_t begin, uint32_t end,
                                  cache::Session& session) {
  Core& core = *current_;
  for (uint32_t i = begin; i < end; ++i) {
    const cache::Reply reply = pipeline::ReplyOf(batch, i, session);
    if (reply.outcome == Outcome::kHit) {
      task::CopyBytes(core.replies.data() + core.reply_bytes,
                      reinterpret_cast<const uint8_t*>(reply.value.data()),
                      static_cast<uint32_t>(reply.value.size()));
      core.reply_bytes += reply.value.size();
    }
    if (options_.records) recorder_->EndOp(batch.word(i) != 0, batch.position(i));
    CheckReply(reply, core.asked[i], core.values[i]);
  }
}

void RecordedStore::Engine::CheckReply(const cache::Reply& reply, const StoreWorkload::Query& query,
                                       const std::string& value) {
  if (!query.is_get) {
    ++answers_.sets;
    answers_.stored += reply.outcome == Outcome::kStored;
    return;
  }
  ++answers_.gets;
  if (reply.outcome != Outcome::kHit) return;
  ++answers_.hits;
  if (query.id >= options_.workload.ids || reply.value != value)
    status_ = {Code::kCorruption, fmt::format("id {} was answered with another value", query.id)};
}

void RecordedStore::Engine::RunOther(pipeline::Batch&, uint32_t, cache::Session&) {
  WEFT_CHECK(false);  // no batch of these has any
}

RecordedStore::RecordedStore(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

RecordedStore::~RecordedStore() = default;

Result<std::unique_ptr<RecordedStore>> RecordedStore::Open(const RecordingOptions& options) {
  if (Status status = Check(options); !status.ok()) return status;
  const Result<StoreWorkload> workload = StoreWorkload::Make(options.workload);
  if (!workload) return workload.error();
  auto engine = std::make_unique<Engine>(options, workload.value());
  if (Status status = engine->Open(); !status.ok()) return status;
  // The constructor is private so that no source exists without its store.
  return std::unique_ptr<RecordedStore>(new RecordedStore(std::move(engine)));  // owned
}

int RecordedStore::cores() const { return engine_->options().cores; }
const StoreShape& RecordedStore::shape() const { return engine_->shape(); }
TableImage RecordedStore::InitialTable() const { return engine_->initial_table(); }
TableImage RecordedStore::TableNow() const { return engine_->TableNow(); }
const RecordedStore::Answers& RecordedStore::answers() const { return engine_->answers(); }
const AccessRecorder& RecordedStore::recorder() const { return engine_->recorder(); }
bool RecordedStore::is_repeatable() const { return engine_->is_repeatable(); }
Result<bool> RecordedStore::Next(int core, Record* record) { return engine_->Next(core, record); }

}  // namespace weft::sim
