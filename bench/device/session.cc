#include "bench/device/session.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "task/lay_object.h"

namespace weft::bench {
namespace {

using processor::DeviceBuffer;
constexpr uint32_t kMixes = kFinds | kRunRead | kRunInsert | kRunDelete;
constexpr double kMemoryShare = 0.95;  // of what is free

void AddTo(const LoadCounts& more, LoadCounts* counts) {
  counts->hits += more.hits;
  counts->misses += more.misses;
  counts->stored += more.stored;
  counts->deleted += more.deleted;
  counts->refused += more.refused;
  counts->wrong += more.wrong;
}

}  // namespace

Result<std::unique_ptr<DeviceSession>> DeviceSession::Open(const DeviceShape& shape,
                                                           const DeviceOptions& options,
                                                           const processor::DeviceFacts& facts) {
  std::unique_ptr<DeviceSession> session(new DeviceSession(shape, options, facts));  // owned
  const Status status = session->Allot();
  if (!status.ok()) return status;
  return session;
}

// Of a batch's arrays, for each query.
uint64_t DeviceSession::BufferBytes() const {
  return 8 + 8 * shape_.key_words + 1 + 8 * shape_.value_words + 1 + 8 + 8 + 8 + 4 +
         8 * RecordUnits() + 4 + 1 + 4;
}

Status DeviceSession::Allot() {
  const uint32_t laid = task::LaidBytes(8 * shape_.key_words, 8 * shape_.value_words, false);
  object_bytes_ = (laid + shape_.align_bytes - 1) / shape_.align_bytes * shape_.align_bytes;
  // What mixes append: a warm-up and each repetition of both shares, and as much again.
  const uint64_t turns = static_cast<uint64_t>(options_.repetitions) + 1;
  const uint64_t appended = turns * MixedBatch() * 6 / 10 + MixedBatch();
  const double index_bytes = 8.0 / options_.load;
  const Result<uint64_t> free_bytes = processor::FreeBytes();
  if (!free_bytes) return free_bytes.error();
  const double room = static_cast<double>(free_bytes.value()) * kMemoryShare -
                      static_cast<double>(options_.batch) * static_cast<double>(BufferBytes()) -
                      static_cast<double>(appended) * object_bytes_;
  const double most = room / (object_bytes_ + index_bytes);
  if (most < options_.batch)
    return {Code::kNoMemory, "the device's memory does not hold one batch of objects"};
  objects_ = std::min(options_.objects, static_cast<uint64_t>(most));
  if (objects_ < options_.objects)
    fmt::print("  {}: {} objects instead of {}: the device has {:.1f} GB free\n", shape_.name,
               objects_, options_.objects, static_cast<double>(free_bytes.value()) * 1e-9);
  processor::DeviceTableOptions table;
  table.buckets = static_cast<uint64_t>(static_cast<double>(objects_) / options_.load / 8) + 1;
  table.log_bytes = ((objects_ + appended + 2) * object_bytes_ + 63) / 64 * 64;
  table.object_align_bytes = shape_.align_bytes;
  auto made = processor::DeviceTable::Create(table);
  if (!made) return made.error();
  table_ = std::move(*made);
  const uint64_t batch = options_.batch;
  const std::array<std::pair<DeviceBuffer*, uint64_t>, 17> all = {{
      {&hash_, 8 * batch},
      {&keys_, 8 * batch * shape_.key_words},
      {&wanted_, batch},
      {&store_, 8 * batch * shape_.value_words},
      {&result_, batch},
      {&word_, 8 * batch},
      {&position_, 8 * batch},
      {&placed_, 8 * batch},
      {&pending_, 4 * batch},
      {&pending_count_, 8},
      {&records_, 8 * batch * RecordUnits()},
      {&key_at_, 4 * batch},
      {&key_bytes_, batch},
      {&value_at_, 4 * batch},
      {&used_, 8},
      {&counts_, sizeof(LoadCounts)},
      {&sink_, 8},
  }};
  for (const auto& [buffer, bytes] : all) {
    auto created = DeviceBuffer::Create(bytes);
    if (!created) return created.error();
    *buffer = std::move(*created);
  }
  return Status::Ok();
}

Region DeviceSession::index() const {
  return {table_->NewJob().index.older.buckets, table_->options().buckets};
}

Region DeviceSession::log() const {
  return {table_->NewJob().log.base, table_->options().log_bytes / 64};
}

nlohmann::json DeviceSession::Details() const {
  return {
      {"gpu", facts_.name},
      {"gpu_memory_gib", static_cast<double>(facts_.memory_bytes) / (1 << 30)},
      {"multiprocessors", facts_.multiprocessors},
      {"cuda_driver", facts_.driver},
      {"objects", objects_},
      {"load", static_cast<double>(objects_) / static_cast<double>(table_->options().buckets * 8)},
      {"key_bytes", 8 * shape_.key_words},
      {"value_bytes", 8 * shape_.value_words},
      {"object_bytes", object_bytes_},
      {"index_bytes", table_->options().buckets * 64},
      {"log_bytes", table_->options().log_bytes},
      {"batch", options_.batch},
      {"miss_permille", options_.miss_permille}};
}

Result<double> DeviceSession::Time(const std::function<Status()>& launch) {
  Status status = timer_.Begin(kStream);
  if (status.ok()) status = launch();
  if (status.ok()) status = timer_.End(kStream);
  if (!status.ok()) return status;
  return timer_.Seconds();
}

LoadSpec DeviceSession::Spec(uint32_t count, Draw draw, uint64_t seed) const {
  LoadSpec spec;
  spec.seed = seed;
  spec.ids = objects_;
  spec.key_words = shape_.key_words;
  spec.value_words = shape_.value_words;
  spec.count = count;
  spec.draw = draw;
  spec.read_kind = kWantsRead;
  spec.version = version_;
  return spec;
}

LoadArrays DeviceSession::Arrays(bool wanted, bool values) const {
  LoadArrays arrays;
  arrays.hash = hash_.as<uint64_t>();
  arrays.keys = keys_.as<uint64_t>();
  if (wanted) arrays.wanted = wanted_.as<uint8_t>();
  if (values) arrays.values = store_.as<uint64_t>();
  return arrays;
}

processor::TableJob DeviceSession::Job(uint32_t count, uint32_t tasks) const {
  processor::TableJob job = table_->NewJob();
  job.count = count;
  job.tasks = tasks;
  job.hash = hash_.as<uint64_t>();
  job.keys = keys_.as<uint8_t>();
  job.key_bytes_all = 8 * shape_.key_words;
  job.store_values = store_.as<uint8_t>();
  job.store_bytes_all = 8 * shape_.value_words;
  job.result = result_.as<uint8_t>();
  job.placed = placed_.as<uint64_t>();
  job.values = records_.as<uint8_t>();
  job.value_stride = RecordUnits();
  const uint32_t laid = task::LaidBytes(8 * shape_.key_words, 8 * shape_.value_words, false);
  job.read_bytes = (laid + 15) / 16 * 16;
  job.pending = pending_.as<uint32_t>();
  job.pending_count = pending_count_.as<uint64_t>();
  return job;
}

LoadAnswers DeviceSession::Answers(uint32_t tasks) const {
  LoadAnswers answers;
  answers.result = result_.as<uint8_t>();
  if ((tasks & kRunRead) != 0) answers.values = records_.as<uint64_t>();
  answers.value_stride = RecordUnits();
  return answers;
}

Status DeviceSession::Check(const LoadSpec& spec, const LoadAnswers& answers, LoadCounts* counts) {
  Status status = counts_.Fill(0, kStream);
  if (status.ok()) status = CheckBatch(spec, answers, counts_.as<LoadCounts>(), kStream);
  LoadCounts read;
  if (status.ok()) status = counts_.CopyOut(&read, sizeof read);
  AddTo(read, counts);
  return status;
}

Result<double> DeviceSession::Run(const LoadSpec& spec, const LoadArrays& arrays,
                                  const std::function<Status()>& launch, const LoadAnswers& answers,
                                  LoadCounts* counts) {
  Status status = MakeBatch(spec, arrays, kStream);
  // Replies of the batch before must not pass for this one's.
  if (status.ok()) status = result_.Fill(0, kStream);
  if (status.ok()) status = records_.Fill(0xee, kStream);
  if (status.ok()) status = word_.Fill(0, kStream);
  if (status.ok()) status = pending_count_.Fill(0, kStream);
  if (status.ok()) status = used_.Fill(0, kStream);
  if (!status.ok()) return status;
  const Result<double> seconds = Time(launch);
  if (!seconds) return seconds.error();
  status = Check(spec, answers, counts);
  if (!status.ok()) return status;
  return static_cast<double>(spec.count) / seconds.value();
}

Result<double> DeviceSession::Fill(uint64_t turn, bool any, LoadCounts* counts) {
  const Status status = table_->Clear(kStream);
  if (!status.ok()) return status;
  double seconds = 0;
  version_ = 0;
  const uint64_t refused_before = counts->refused;
  for (uint64_t done = 0; done < objects_;) {
    const uint32_t count =
        static_cast<uint32_t>(std::min<uint64_t>(options_.batch, objects_ - done));
    LoadSpec spec = Spec(count, Draw::kPermuted, options_.seed + turn);
    spec.offset = done;
    spec.write_permille = 1000;
    spec.write_kind = kWantsStore;
    processor::TableJob job = Job(count, kFinds | kRunInsert);
    job.wanted_all = kWantsStore;
    job.repeats = any ? 1 : 0;
    const Result<double> rate = Run(
        spec, Arrays(false, true), [&] { return processor::RunTable(job, kStream); },
        Answers(job.tasks), counts);
    if (!rate) return rate.error();
    seconds += count / rate.value();
    done += count;
  }
  refused_ = counts->refused - refused_before;
  return static_cast<double>(objects_) / seconds;
}

Result<double> DeviceSession::Read(uint32_t tasks, uint64_t seed, LoadCounts* counts) {
  LoadSpec spec = Spec(options_.batch, Draw::kRandom, seed);
  spec.miss_permille = options_.miss_permille;
  processor::TableJob job = Job(options_.batch, tasks);
  job.wanted_all = kWantsRead;
  LoadAnswers answers = Answers(tasks);
  if (tasks == kRunSearch) {
    job.wanted_all = kWantsHint;
    job.word = word_.as<uint64_t>();
    job.result = nullptr;
    answers.result = nullptr;
    answers.word = job.word;
    answers.log = job.log.base;
  }
  return Run(
      spec, Arrays(false, false), [&] { return processor::RunTable(job, kStream); }, answers,
      counts);
}

Result<double> DeviceSession::ReadPlain(uint64_t seed, LoadCounts* counts) {
  LoadSpec spec = Spec(options_.batch, Draw::kRandom, seed);
  spec.miss_permille = options_.miss_permille;
  LoadArrays arrays = Arrays(true, false);
  arrays.key_at = key_at_.as<uint32_t>();
  arrays.key_bytes = key_bytes_.as<uint8_t>();
  const processor::TableJob table = table_->NewJob();
  task::QueryJob job{};
  job.index = table.index;
  job.log = table.log;
  job.columns = {arrays.hash,         arrays.key_at,        arrays.key_bytes,
                 keys_.as<uint8_t>(), word_.as<uint64_t>(), position_.as<uint64_t>()};
  job.wanted = arrays.wanted;
  job.result = result_.as<uint8_t>();
  job.value_at = value_at_.as<uint32_t>();
  job.values = records_.as<uint8_t>();
  job.values_used = used_.as<uint32_t>();
  job.values_capacity = static_cast<uint32_t>(records_.size() / 8);
  job.end = options_.batch;
  job.tasks = kFinds | kRunRead;
  LoadAnswers answers = Answers(job.tasks);
  answers.value_at = job.value_at;
  return Run(
      spec, arrays, [&] { return processor::RunPlain(job, kStream); }, answers, counts);
}

Result<double> DeviceSession::Mix(uint32_t write_permille, uint64_t seed, LoadCounts* counts) {
  version_++;
  LoadSpec spec = Spec(MixedBatch(), Draw::kPermuted, seed);
  spec.write_permille = write_permille;
  spec.write_kind = kWantsStore;
  processor::TableJob job = Job(spec.count, kMixes);
  job.wanted = wanted_.as<uint8_t>();
  const Result<double> rate = Run(
      spec, Arrays(true, true), [&] { return processor::RunTable(job, kStream); }, Answers(kMixes),
      counts);
  if (!rate) return rate;
  // What was stored reads back as of this version.
  spec.write_kind = kWantsRead;
  spec.read_kind = kWantsNothing;
  job.tasks = kFinds | kRunRead;
  LoadAnswers answers = Answers(job.tasks);
  answers.check_version = true;
  LoadCounts read_back;
  const Result<double> read = Run(
      spec, Arrays(true, false), [&] { return processor::RunTable(job, kStream); }, answers,
      &read_back);
  if (!read) return read;
  counts->wrong += read_back.wrong;
  return rate;
}

Result<double> DeviceSession::Delete(uint32_t turn, LoadCounts* counts) {
  LoadSpec spec = Spec(MixedBatch(), Draw::kPermuted, options_.seed);
  spec.offset = static_cast<uint64_t>(turn) * spec.count;
  spec.write_permille = 1000;
  spec.write_kind = kWantsDelete;
  processor::TableJob job = Job(spec.count, kFinds | kRunDelete);
  job.wanted_all = kWantsDelete;
  const Result<double> rate = Run(
      spec, Arrays(false, false), [&] { return processor::RunTable(job, kStream); },
      Answers(job.tasks), counts);
  if (!rate) return rate;
  spec.write_permille = 0;
  job.tasks = kFinds | kRunRead;
  job.wanted_all = kWantsRead;
  LoadAnswers answers = Answers(job.tasks);
  answers.all_gone = true;
  LoadCounts read_back;
  const Result<double> read = Run(
      spec, Arrays(false, false), [&] { return processor::RunTable(job, kStream); }, answers,
      &read_back);
  if (!read) return read;
  counts->wrong += read_back.wrong;
  return rate;
}

}  // namespace weft::bench
