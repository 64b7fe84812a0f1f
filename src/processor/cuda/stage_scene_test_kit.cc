#include "processor/cuda/stage_scene_test_kit.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "task/lay_object.h"

namespace weft::processor {
namespace {

constexpr uint32_t kKeys = 400;
constexpr uint32_t kBuckets = 80;
constexpr uint32_t kSegmentShift = 9;
constexpr uint64_t kSegmentUnits = 1ul << kSegmentShift;
constexpr uint32_t kSegments = 224;
constexpr uint32_t kValueBytesMax = 2000;
constexpr uint32_t kSlackUnits = 64;  // readable behind the log (TableJob)
constexpr uint32_t kNowS = 5000;

std::string RandomText(std::mt19937_64& random, size_t bytes) {
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

const uint8_t* BytesOf(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

std::string Wrong(uint32_t i, const std::string& what, uint64_t is, uint64_t ought) {
  return "query " + std::to_string(i) + ": " + what + " " + std::to_string(is) + ", not " +
         std::to_string(ought);
}

template <typename T, typename P>
void AddArray(std::vector<SceneArray>& arrays, Lines<T>& from, P* field) {
  if (*field == nullptr) return;
  arrays.push_back(
      {from.data(), from.size() * sizeof(T), [field](void* at) { *field = static_cast<P>(at); }});
}

}  // namespace

StageScene::StageScene(const StageShape& shape, std::mt19937_64& random)
    : shape_(shape),
      random_(random),
      seen_(kResultRead + 1, 0),
      record_units_((kGatherHeaderBytes + kValueBytesMax) / 16 * 2 + 2),
      buckets_(kBuckets),
      moves_(kMoveStripes, 0),
      resident_(kSegments, 0),
      uses_(kSegments, 0),
      log_(kSegments * kSegmentUnits + kSlackUnits, 0),
      bases_(kSegments, 1) {
  uint64_t hash = 0;
  starts_.push_back(1);
  for (uint32_t k = 0; k < kKeys; k++) {
    const size_t bytes = shape.key_bytes != 0 && k % 8 != 7 ? shape.key_bytes : random() % 250 + 1;
    std::string key = RandomText(random, bytes);
    // Some share a hash, so that the first candidate is another's.
    if (k % 4 != 1) hash = base::HashBytes(key.data(), key.size());
    if (k % 5 != 4) AddObject(key, hash);
    if (shape.key_bytes == 0 || key.size() == shape.key_bytes) keys_known_.push_back(key);
    if (shape.key_bytes == 0 || key.size() == shape.key_bytes) hashes_.push_back(hash);
  }
  if (shape.mirrored) MarkResident();
}

void StageScene::AddObject(const std::string& key, uint64_t hash) {
  const std::string value = RandomText(
      random_, shape_.value_bytes != 0 ? shape_.value_bytes : random_() % (kValueBytesMax + 1));
  const uint32_t expiry =
      random_() % 6 == 0 ? kNowS - 5 + static_cast<uint32_t>(random_() % 10) : 0;
  const uint32_t units = task::LaidBytes(static_cast<uint32_t>(key.size()),
                                         static_cast<uint32_t>(value.size()), expiry != 0) /
                         8;
  uint64_t location = starts_.back();
  if (location / kSegmentUnits != (location + units - 1) / kSegmentUnits)
    location = (location / kSegmentUnits + 1) * kSegmentUnits;
  WEFT_CHECK(location + units <= kSegments * kSegmentUnits);
  starts_.back() = location;
  starts_.push_back(location + units);
  auto* object = reinterpret_cast<task::Object*>(&log_[location]);
  task::LayObject(object, BytesOf(key), static_cast<uint32_t>(key.size()), BytesOf(value),
                  static_cast<uint32_t>(value.size()), expiry);
  if (random_() % 2 == 0) task::NoteRead(object, kNowS);
  const task::IndexRef index = {
      {buckets_.data(), kBuckets}, {nullptr, 0}, moves_.data(), kPolicyCuckoo, 0, nullptr, nullptr};
  const task::LogRef log = {reinterpret_cast<uint8_t*>(log_.data()),
                            bases_.data(),
                            0,
                            kSegmentShift,
                            0,
                            nullptr,
                            nullptr};
  const task::Inserted inserted = task::Insert(
      index, log, {hash, BytesOf(key), static_cast<uint32_t>(key.size())}, location, false);
  WEFT_CHECK(inserted.status == kInsertDone);
}

// A third of the segments is not here, a third up to some object. What is not here lies in the log
// all the same, so that who looks at it gives another answer.
void StageScene::MarkResident() {
  for (uint32_t segment = 0; segment < kSegments; segment++) {
    const uint64_t first = segment * kSegmentUnits;
    uint64_t here = segment % 3 == 0 ? 0 : kSegmentUnits;
    if (segment % 3 == 1) {
      const auto at =
          std::lower_bound(starts_.begin(), starts_.end(), first + random_() % kSegmentUnits);
      if (at != starts_.end() && *at < first + kSegmentUnits) here = *at - first;
    }
    resident_[segment] = static_cast<uint32_t>(here);
  }
}

// What a stage before may have left of the query: an entry, one that has changed since, or none.
void StageScene::DrawEntry(Batch& batch, uint32_t i) {
  const task::TableRef table = {buckets_.data(), kBuckets};
  const uint64_t tag = task::TagOfHash(batch.hash[i]);
  uint64_t bucket = task::FirstBucket(batch.hash[i], kBuckets);
  task::Found found = task::CandidateInBucket(&table.buckets[bucket], tag);
  if (found.slot == nullptr) {
    bucket = task::OtherBucket(kPolicyCuckoo, bucket, tag, kBuckets);
    found = task::CandidateInBucket(&table.buckets[bucket], tag);
  }
  const bool given = batch.result[i] == kResultFound;
  if (found.slot == nullptr || (!given && random_() % 8 == 0)) {
    if (given) batch.result[i] = kResultNone;
    return;
  }
  batch.word[i] = found.word;
  batch.position[i] = task::PositionInTable(table, found.slot);
  if (given) return;
  if (random_() % 8 == 0) batch.word[i] = task::WithLocation(found.word, random_() % 1000 + 1);
  if (random_() % 8 == 0) batch.position[i] = random_() % (kBuckets * kBucketSlots);
  if (random_() % 8 == 0) batch.word[i] = task::WithRecency(found.word, 2);
}

// What a stage before may have said of such a query.
uint8_t StageScene::ResultOf(uint32_t wanted) {
  if (wanted == kWantsRead) return random_() % 3 == 0 ? kResultMissed : kResultFound;
  if (wanted == kWantsStore) return kResultStored;
  return wanted == kWantsDelete ? kResultDeleted : kResultNone;
}

void StageScene::DrawQuery(Batch& batch, uint32_t i) {
  constexpr uint8_t kWanted[] = {kWantsNothing, kWantsHint, kWantsStore, kWantsDelete};
  const size_t key = random_() % keys_known_.size();
  const std::string& text = keys_known_[key];
  batch.hash[i] = hashes_[key];
  batch.key_at[i] = static_cast<uint32_t>(batch.keys.size());
  batch.key_bytes[i] = static_cast<uint8_t>(text.size());
  batch.keys.insert(batch.keys.end(), text.begin(), text.end());
  while (shape_.key_bytes != 0 && batch.keys.size() % 8 != 0) batch.keys.push_back(0);
  batch.wanted[i] = kWantsRead;
  if (random_() % 4 == 0) batch.wanted[i] = kWanted[random_() % 4];
  const bool first = (tasks_ & kRunSearch) != 0;
  if (random_() % (first ? 8 : 2) == 0) batch.result[i] = ResultOf(batch.wanted[i]);
  if (tasks_ == kRunRead && random_() % 8 != 0) batch.result[i] = kResultFound;
  if (!first || batch.result[i] != kResultNone) DrawEntry(batch, i);
}

void StageScene::Draw(uint32_t tasks) {
  tasks_ = tasks;
  batches_.assign(shape_.batches, {});
  for (Batch& batch : batches_) {
    const uint32_t count = static_cast<uint32_t>(random_() % (shape_.queries_max + 1));
    batch.again = random_() % 2;
    batch.dice = static_cast<uint32_t>(random_());
    batch.hash.assign(count, 0);
    batch.word.assign(count, 0);
    batch.position.assign(count, 0);
    batch.key_at.assign(count, 0);
    batch.key_bytes.assign(count, 0);
    batch.wanted.assign(count, 0);
    batch.result.assign(count, kResultNone);
    batch.value_at.assign(count, 0);
    // The single-source tasks pack more tightly, so that only they find room for all of some.
    const uint64_t units = shape_.stride || random_() % 4 != 0 ? record_units_ : record_units_ / 8;
    batch.values.assign(count * units, 0xaaaaaaaaaaaaaaaaul);
    batch.used.assign(1, 0);
    for (uint32_t i = 0; i < count; i++) DrawQuery(batch, i);
    while (batch.keys.size() % 8 != 0) batch.keys.push_back(0);
  }
  before_ = batches_;
  buckets_before_ = buckets_;
  log_before_ = log_;
}

TableJob StageScene::JobOf(Batch& batch) {
  TableJob job;
  job.index = {
      {buckets_.data(), kBuckets}, {nullptr, 0}, moves_.data(), kPolicyCuckoo, 0, nullptr, nullptr};
  job.log = {reinterpret_cast<uint8_t*>(log_.data()),
             bases_.data(),
             0,
             kSegmentShift,
             1,
             shape_.mirrored ? resident_.data() : nullptr,
             shape_.mirrored ? uses_.data() : nullptr};
  job.count = static_cast<uint32_t>(batch.hash.size());
  job.tasks = tasks_;
  job.now_s = kNowS;
  job.dice = batch.dice;
  job.again = batch.again;
  job.mirrored = shape_.mirrored ? 1 : 0;
  job.note_row = batch.dice % kNoteRows;
  batch.sparse = shape_.mirrored && !shape_.stride && batch.dice / 8 % 2 != 0;
  job.sparse_entries = batch.sparse ? 1 : 0;
  job.hash = batch.hash.data();
  job.keys = batch.keys.data();
  const bool fixed = shape_.key_bytes % 8 == 0 && shape_.key_bytes != 0;
  job.key_bytes_all = fixed ? shape_.key_bytes : 0;
  job.key_at = fixed ? nullptr : batch.key_at.data();
  job.key_bytes = fixed ? nullptr : batch.key_bytes.data();
  job.wanted = batch.wanted.data();
  job.result = batch.result.data();
  job.word = batch.word.data();
  job.position = batch.position.data();
  job.values = reinterpret_cast<uint8_t*>(batch.values.data());
  job.values_capacity = batch.values.size();
  if (shape_.stride) {
    job.value_stride = record_units_;
  } else {
    job.value_at = batch.value_at.data();
    job.values_used = batch.used.data();
  }
  job.read_bytes = batch.dice % (shape_.key_bytes == 8 ? 4 : 24) * 16;  // there only up to 32 count
  job.shares_records = batch.dice / 64 % 3 == 0 ? 1 : 0;
  return job;
}

std::vector<TableJob> StageScene::Jobs() {
  std::vector<TableJob> jobs;
  for (Batch& batch : batches_) jobs.push_back(JobOf(batch));
  return jobs;
}

std::vector<SceneArray> StageScene::MirrorArrays(std::vector<TableJob>& jobs) {
  std::vector<SceneArray> arrays;
  const auto add = [&](auto& from, auto field) {
    arrays.push_back({from.data(), from.size() * sizeof(from[0]), [&jobs, field](void* at) {
                        for (TableJob& job : jobs) field(job, at);
                      }});
  };
  add(buckets_,
      [](TableJob& job, void* at) { job.index.older.buckets = static_cast<task::Bucket*>(at); });
  add(moves_, [](TableJob& job, void* at) { job.index.move_counts = static_cast<uint32_t*>(at); });
  add(log_, [](TableJob& job, void* at) { job.log.base = static_cast<uint8_t*>(at); });
  add(bases_, [](TableJob& job, void* at) { job.log.version_bases = static_cast<uint64_t*>(at); });
  if (shape_.mirrored) {
    add(resident_, [](TableJob& job, void* at) { job.log.resident = static_cast<uint32_t*>(at); });
    add(uses_, [](TableJob& job, void* at) { job.log.uses = static_cast<uint32_t*>(at); });
  }
  for (size_t n = 0; n < jobs.size(); n++) {
    AddArray(arrays, batches_[n].used, &jobs[n].values_used);
  }
  return arrays;
}

std::vector<SceneArray> StageScene::ColumnArrays(std::vector<TableJob>& jobs) {
  std::vector<SceneArray> arrays;
  for (size_t n = 0; n < jobs.size(); n++) {
    Batch& batch = batches_[n];
    TableJob& job = jobs[n];
    if (job.count == 0) continue;
    AddArray(arrays, batch.hash, &job.hash);
    AddArray(arrays, batch.keys, &job.keys);
    AddArray(arrays, batch.key_at, &job.key_at);
    AddArray(arrays, batch.key_bytes, &job.key_bytes);
    AddArray(arrays, batch.wanted, &job.wanted);
    AddArray(arrays, batch.result, &job.result);
    AddArray(arrays, batch.word, &job.word);
    AddArray(arrays, batch.position, &job.position);
    AddArray(arrays, batch.value_at, &job.value_at);
    AddArray(arrays, batch.values, &job.values);
  }
  return arrays;
}

// The batch as it was, for the single-source tasks, against copies of the table and log.
task::QueryJob StageScene::PlainJobOf(Batch& batch, Lines<task::Bucket>& buckets,
                                      Lines<uint64_t>& log) {
  const TableJob job = JobOf(batch);
  task::QueryJob plain{};
  plain.index = job.index;
  plain.index.older.buckets = buckets.data();
  plain.log = job.log;
  plain.log.base = reinterpret_cast<uint8_t*>(log.data());
  plain.columns = {batch.hash.data(), batch.key_at.data(), batch.key_bytes.data(),
                   batch.keys.data(), batch.word.data(),   batch.position.data()};
  plain.wanted = batch.wanted.data();
  plain.result = batch.result.data();
  plain.value_at = batch.value_at.data();
  plain.values = job.values;
  plain.values_capacity = static_cast<uint32_t>(batch.values.size());
  plain.end = job.count;
  plain.tasks = tasks_;
  plain.now_s = job.now_s;
  plain.dice = job.dice;
  plain.again = job.again;
  plain.mirrored = job.mirrored;
  return plain;
}

uint64_t StageScene::ValueStart(const Batch& batch, uint32_t i, bool tuned) const {
  return tuned && shape_.stride ? uint64_t{i} * record_units_ : batch.value_at[i] & ~kValueNoteBit;
}

// Whether the job need not say where the entry is: a read that was gathered and is not noted.
bool StageScene::IsLeftOut(const Batch& batch, uint32_t i) {
  return batch.sparse && batch.result[i] == kResultRead &&
         (batch.value_at[i] & kValueNoteBit) == 0 && !task::IsInNoteRow(batch.dice % kNoteRows, i);
}

std::string StageScene::CheckBatch(const Batch& tuned, const Batch& plain) const {
  const bool roomy = tuned.values.size() >= tuned.hash.size() * record_units_;
  for (uint32_t i = 0; i < tuned.hash.size(); i++) {
    const uint32_t result = tuned.result[i], ought = plain.result[i];
    const bool no_room = !roomy && ought == kResultRead && result == kResultFound;
    if (result != ought && !no_room) return Wrong(i, "result", result, ought);
    if (!IsLeftOut(tuned, i)) {
      if (tuned.word[i] != plain.word[i]) return Wrong(i, "word", tuned.word[i], plain.word[i]);
      if (tuned.word[i] != 0 && tuned.position[i] != plain.position[i])
        return Wrong(i, "position", tuned.position[i], plain.position[i]);
    }
    if (result != kResultRead) continue;
    const uint64_t* is = &tuned.values[ValueStart(tuned, i, true)];
    const uint64_t* expected = &plain.values[ValueStart(plain, i, false)];
    if (is[0] != expected[0]) return Wrong(i, "header", is[0], expected[0]);
    if (std::memcmp(is + 1, expected + 1, expected[0] >> 32) != 0)
      return "query " + std::to_string(i) + ": its value is wrong";
  }
  return "";
}

std::string StageScene::Check() {
  std::set<uint64_t> noted, plain_noted;
  bool roomy = true;
  for (size_t n = 0; n < batches_.size(); n++) {
    const Batch& tuned = batches_[n];
    Batch& plain = before_[n];
    const size_t count = tuned.hash.size();
    roomy = roomy && tuned.values.size() >= count * record_units_;
    plain.values.resize(count * record_units_);
    task::QueryJob job = PlainJobOf(plain, buckets_before_, log_before_);
    uint32_t used = 0;
    job.values_used = &used;
    for (uint32_t i = 0; i < job.end; i++) task::RunQuery(job, i);
    const std::string wrong = CheckBatch(tuned, plain);
    if (!wrong.empty()) return "batch " + std::to_string(n) + ", " + wrong;
    for (uint32_t i = 0; i < count; i++) {
      seen_[std::min<uint32_t>(tuned.result[i], kResultRead)]++;
      if (tuned.result[i] != kResultRead) continue;
      const uint64_t location = task::SlotLocation(plain.word[i]);
      if ((tuned.value_at[i] & kValueNoteBit) != 0) noted.insert(location);
      if ((plain.value_at[i] & kValueNoteBit) != 0) plain_noted.insert(location);
    }
  }
  if (roomy && !shape_.stride && noted != plain_noted) return "other reads are to be noted";
  if (roomy && log_ != log_before_) return "objects bear other notes";
  noted_ += static_cast<uint32_t>(noted.size());
  return "";
}

std::string PlayStages(std::mt19937_64& random, uint32_t queries_max, const StageRunner& run) {
  constexpr uint32_t kFinds = kRunSearch | kRunCompare;
  constexpr uint32_t kStages[] = {kRunSearch,        kFinds,   kRunCompare,
                                  kFinds | kRunRead, kRunRead, kRunCompare | kRunRead};
  std::vector<uint32_t> seen(kResultRead + 1, 0);
  uint32_t noted = 0;
  for (const uint32_t key_bytes : {0u, 8u, 16u, 32u, 24u}) {
    for (uint32_t kind = 0; kind < 4; kind++) {
      StageShape shape;
      shape.key_bytes = key_bytes;
      shape.value_bytes = kind != 1 ? 0 : key_bytes == 8 ? 8 : 64;
      shape.mirrored = kind != 2;
      shape.stride = kind == 3;
      shape.batches = kind == 0 ? 16 : 3;
      shape.queries_max = kind == 0 ? queries_max / 8 : queries_max;
      StageScene scene(shape, random);
      for (const uint32_t tasks : kStages) {
        scene.Draw(tasks);
        run(scene);
        const std::string wrong = scene.Check();
        if (!wrong.empty())
          return "keys of " + std::to_string(key_bytes) + ", kind " + std::to_string(kind) +
                 ", tasks " + std::to_string(tasks) + ": " + wrong;
      }
      for (size_t result = 0; result < seen.size(); result++) seen[result] += scene.seen()[result];
      noted += scene.noted();
    }
  }
  for (size_t result = 0; result < seen.size(); result++)
    if (seen[result] < 100) return "hardly any result " + std::to_string(result);
  return noted < 20 ? "hardly a read was to be noted" : "";
}

}  // namespace weft::processor
