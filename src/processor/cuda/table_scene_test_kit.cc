#include "processor/cuda/table_scene_test_kit.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "task/lay_object.h"

namespace weft::processor {
namespace {

constexpr uint32_t kNowS = 1000;  // expiries are drawn around the batches' clocks
constexpr uint32_t kStrideSlack = 2;
constexpr uint32_t kLogSlack = 64;  // units behind the log that may be read

uint32_t RoundUp(uint32_t bytes, uint32_t unit) { return (bytes + unit - 1) / unit * unit; }

std::string RandomBytes(std::mt19937_64& random, size_t bytes) {
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

template <typename T>
void Append(Lines<T>& to, const std::string& text) {
  to.insert(to.end(), text.begin(), text.end());
}

void PadTo(Lines<uint8_t>& bytes, size_t unit) {
  while (bytes.size() % unit != 0) bytes.push_back(0);
}

}  // namespace

Scene::Scene(const SceneShape& shape, std::mt19937_64& random)
    : shape_(shape),
      random_(random),
      buckets_(shape.buckets),
      moves_(kMoveStripes, 0),
      log_(shape.log_bytes / 8 + kLogSlack, 0),
      bases_(1, 1),
      log_next_(1, shape.log_align) {
  std::set<std::string> known;
  while (known.size() < shape.keys) {
    const size_t bytes = shape.key_bytes != 0 ? shape.key_bytes : random() % 250 + 1;
    std::string key = RandomBytes(random, bytes);
    // Keys that differ late, or only in length, try the comparison.
    if (!known.empty() && random() % 4 == 0) {
      key = *known.begin();
      key.resize(bytes, 'x');
      key.back() = static_cast<char>(random());
    }
    known.insert(key);
  }
  keys_known_.assign(known.begin(), known.end());
  std::shuffle(keys_known_.begin(), keys_known_.end(), random);
  for (uint32_t i = 0; i < shape.strangers; i++) AddStranger(i);
}

void Scene::AddStranger(uint32_t number) {
  const std::string& like = keys_known_[number % keys_known_.size()];
  const std::string key = like + std::string(number / keys_known_.size() + 1, 'y');
  const uint64_t location = log_next_[0];
  const uint32_t bytes = task::LaidBytes(static_cast<uint32_t>(key.size()), 0, false);
  log_next_[0] += RoundUp(bytes, 8 * shape_.log_align) / 8;
  const auto* at = reinterpret_cast<const uint8_t*>(key.data());
  task::LayObject(reinterpret_cast<task::Object*>(&log_[location]), at,
                  static_cast<uint32_t>(key.size()), at, 0, 0);
  const TableJob job = Job();
  const task::Inserted inserted = task::Insert(
      job.index, job.log, {HashOf(key), at, static_cast<uint32_t>(key.size())}, location, false);
  WEFT_CHECK(inserted.status == kInsertDone);
  model_[key] = {};
}

uint64_t Scene::HashOf(const std::string& key) const {
  const size_t bytes = shape_.strangers != 0 ? shape_.key_bytes : key.size();
  const uint64_t hash = base::HashBytes(key.data(), bytes);
  if (shape_.hash_bits == 64) return hash;
  return (hash & ((uint64_t{1} << shape_.hash_bits) - 1)) * 0x9e3779b97f4a7c15u;
}

void Scene::AddQuery(uint32_t i, uint32_t wanted, uint32_t key) {
  wanted_[i] = static_cast<uint8_t>(wanted);
  key_of_[i] = key;
  const std::string& text = keys_known_[key];
  hash_[i] = HashOf(text);
  if (shape_.key_bytes % 8 == 0 || random_() % 2 == 0) PadTo(keys_, 8);  // odd starts as well
  key_at_[i] = static_cast<uint32_t>(keys_.size());
  key_bytes_[i] = static_cast<uint8_t>(text.size());
  Append(keys_, text);
  if (wanted != kWantsStore && shape_.value_bytes == 0) return;
  Item& item = item_of_[i];
  item.value =
      RandomBytes(random_, shape_.value_bytes != 0 ? shape_.value_bytes
                                                   : random_() % (shape_.value_bytes_max + 1));
  if (shape_.expiries && random_() % 2 == 0)
    item.expiry = kNowS - 20 + static_cast<uint32_t>(random_() % 60);
  PadTo(store_values_, 8);
  store_at_[i] = static_cast<uint32_t>(store_values_.size() / 8);
  store_bytes_[i] = static_cast<uint32_t>(item.value.size());
  store_expiry_[i] = item.expiry;
  Append(store_values_, item.value);
}

void Scene::Draw(uint32_t count, uint32_t tasks, uint32_t now_s) {
  count_ = count;
  tasks_ = tasks;
  now_s_ = kNowS + now_s;
  dice_ = static_cast<uint32_t>(random_());
  read_bytes_ = static_cast<uint32_t>(random_() % (shape_.key_bytes == 8 ? 4 : 24)) * 16;
  keys_.clear();
  store_values_.clear();
  hash_.assign(count, 0);
  key_of_.assign(count, 0);
  item_of_.assign(count, {});
  key_at_.assign(count, 0);
  key_bytes_.assign(count, 0);
  wanted_.assign(count, 0);
  store_at_.assign(count, 0);
  store_bytes_.assign(count, 0);
  store_expiry_.assign(count, 0);
  std::vector<uint8_t> written(keys_known_.size(), 0), read(keys_known_.size(), 0);
  std::vector<uint32_t> kinds = {kWantsNothing};
  if ((tasks & kRunInsert) != 0) kinds.insert(kinds.end(), 8, kWantsStore);
  if ((tasks & kRunDelete) != 0) kinds.insert(kinds.end(), 4, kWantsDelete);
  if ((tasks & (kRunInsert | kRunDelete)) == 0 || (tasks & kRunRead) != 0)
    kinds.insert(kinds.end(), 8, kWantsRead);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t wanted = kinds[random_() % kinds.size()];
    const uint32_t key = static_cast<uint32_t>(random_() % keys_known_.size());
    const bool writes = wanted == kWantsStore || wanted == kWantsDelete;
    const bool again = shape_.repeats && wanted == kWantsStore && written[key] == kWantsStore;
    if (writes && !again && (written[key] != 0 || read[key] != 0)) wanted = kWantsNothing;
    if (wanted == kWantsRead && written[key] != 0) wanted = kWantsNothing;
    if (wanted == kWantsRead) read[key] = 1;
    if (wanted == kWantsStore || wanted == kWantsDelete)
      written[key] = static_cast<uint8_t>(wanted);
    AddQuery(i, wanted, key);
  }
  PadTo(keys_, 8);
  PadTo(store_values_, 8);
  if (keys_.empty()) keys_.resize(8);
  if (store_values_.empty()) store_values_.resize(8);
  result_.assign(count, 0);
  word_.assign(count, 0);
  position_.assign(count, 0);
  placed_.assign(count, 0);
  value_at_.assign(count, 0);
  pending_.assign(count, 0);
  pending_count_.assign(1, 0);
  values_used_.assign(1, 0);
  used_.assign(2, 0);
  const uint32_t value_max = std::max(shape_.value_bytes, shape_.value_bytes_max);
  const uint32_t units = RoundUp((kGatherHeaderBytes + value_max + 7) / 8, 2) + kStrideSlack;
  values_.assign(static_cast<size_t>(count) * units, 0xaaaaaaaaaaaaaaaaul);
}

TableJob Scene::Job() {
  TableJob job;
  job.index = {{buckets_.data(), buckets_.size()},
               {nullptr, 0},
               moves_.data(),
               shape_.policy,
               0,
               nullptr,
               nullptr};
  job.log = {reinterpret_cast<uint8_t*>(log_.data()), bases_.data(), 0, 63, 0, nullptr, nullptr};
  job.count = count_;
  job.tasks = tasks_;
  job.now_s = now_s_;
  job.notes = shape_.notes ? 1 : 0;
  job.dice = dice_;
  job.repeats = shape_.repeats ? 1 : 0;
  job.hash = hash_.data();
  job.keys = keys_.data();
  // Keys of whole words of one length lie end to end, so that the kernel of that length runs.
  const bool fixed = shape_.key_bytes != 0 && shape_.key_bytes % 8 == 0;
  job.key_bytes_all = fixed ? shape_.key_bytes : 0;
  job.key_at = fixed ? nullptr : key_at_.data();
  job.key_bytes = fixed ? nullptr : key_bytes_.data();
  job.wanted = wanted_.data();
  job.store_values = store_values_.data();
  const bool one_size = shape_.value_bytes != 0;
  job.store_bytes_all = shape_.value_bytes;
  job.store_at = one_size ? nullptr : store_at_.data();
  job.store_bytes = one_size ? nullptr : store_bytes_.data();
  job.store_expiry = shape_.expiries ? store_expiry_.data() : nullptr;
  job.log_align = shape_.log_align;
  job.log_next = log_next_.data();
  job.log_end = log_.size() - kLogSlack;
  job.result = result_.data();
  job.word = word_.data();
  job.position = position_.data();
  job.placed = placed_.data();
  job.values = reinterpret_cast<uint8_t*>(values_.data());
  job.values_capacity = values_.size();
  if (shape_.packed) {
    job.value_at = value_at_.data();
    job.values_used = values_used_.data();
  } else {
    job.value_stride = count_ == 0 ? 0 : static_cast<uint32_t>(values_.size() / count_);
  }
  job.read_bytes = read_bytes_;
  job.pending = pending_.data();
  job.pending_count = pending_count_.data();
  return job;
}

namespace {

template <typename T, typename P>
void AddArray(std::vector<SceneArray>& arrays, Lines<T>& from, P& field) {
  if (field == nullptr) return;
  arrays.push_back(
      {from.data(), from.size() * sizeof(T), [&field](void* at) { field = static_cast<P>(at); }});
}

}  // namespace

std::vector<SceneArray> Scene::Arrays(TableJob& job) {
  std::vector<SceneArray> arrays;
  AddArray(arrays, buckets_, job.index.older.buckets);
  AddArray(arrays, moves_, job.index.move_counts);
  AddArray(arrays, log_, job.log.base);
  AddArray(arrays, bases_, job.log.version_bases);
  AddArray(arrays, hash_, job.hash);
  AddArray(arrays, keys_, job.keys);
  AddArray(arrays, key_at_, job.key_at);
  AddArray(arrays, key_bytes_, job.key_bytes);
  AddArray(arrays, wanted_, job.wanted);
  AddArray(arrays, store_values_, job.store_values);
  AddArray(arrays, store_at_, job.store_at);
  AddArray(arrays, store_bytes_, job.store_bytes);
  AddArray(arrays, store_expiry_, job.store_expiry);
  AddArray(arrays, log_next_, job.log_next);
  AddArray(arrays, result_, job.result);
  AddArray(arrays, word_, job.word);
  AddArray(arrays, position_, job.position);
  AddArray(arrays, placed_, job.placed);
  AddArray(arrays, value_at_, job.value_at);
  AddArray(arrays, values_, job.values);
  AddArray(arrays, values_used_, job.values_used);
  AddArray(arrays, pending_, job.pending);
  AddArray(arrays, pending_count_, job.pending_count);
  return arrays;
}

task::QueryJob Scene::PlainJob() {
  for (uint32_t i = 0; i < count_; i++) {
    if (wanted_[i] != kWantsStore) continue;
    const uint32_t bytes = task::LaidBytes(key_bytes_[i], store_bytes_[i], store_expiry_[i] != 0);
    const uint64_t units = RoundUp(bytes, 8 * shape_.log_align) / 8;
    WEFT_CHECK(log_next_[0] + units <= log_.size());
    placed_[i] = log_next_[0];
    log_next_[0] += units;
    task::LayObject(reinterpret_cast<task::Object*>(&log_[placed_[i]]), keys_.data() + key_at_[i],
                    key_bytes_[i], store_values_.data() + 8ul * store_at_[i], store_bytes_[i],
                    store_expiry_[i]);
  }
  const TableJob job = Job();
  task::QueryJob plain{};
  plain.index = job.index;
  plain.log = job.log;
  plain.columns = {hash_.data(), key_at_.data(), key_bytes_.data(),
                   keys_.data(), word_.data(),   position_.data()};
  plain.wanted = wanted_.data();
  plain.placed = placed_.data();
  plain.result = result_.data();
  plain.value_at = value_at_.data();
  plain.values = job.values;
  plain.values_used = used_.data();
  plain.values_capacity = static_cast<uint32_t>(values_.size());
  plain.end = count_;
  plain.tasks = tasks_;
  plain.now_s = now_s_;
  plain.dice = dice_;
  plain.notes = job.notes;
  return plain;
}

std::vector<SceneArray> Scene::PlainArrays(task::QueryJob& job) {
  std::vector<SceneArray> arrays;
  AddArray(arrays, buckets_, job.index.older.buckets);
  AddArray(arrays, moves_, job.index.move_counts);
  AddArray(arrays, log_, job.log.base);
  AddArray(arrays, bases_, job.log.version_bases);
  AddArray(arrays, hash_, job.columns.hash);
  AddArray(arrays, key_at_, job.columns.key_at);
  AddArray(arrays, key_bytes_, job.columns.key_bytes);
  AddArray(arrays, keys_, job.columns.keys);
  AddArray(arrays, word_, job.columns.word);
  AddArray(arrays, position_, job.columns.position);
  AddArray(arrays, wanted_, job.wanted);
  AddArray(arrays, placed_, job.placed);
  AddArray(arrays, result_, job.result);
  AddArray(arrays, value_at_, job.value_at);
  AddArray(arrays, values_, job.values);
  AddArray(arrays, used_, job.values_used);
  return arrays;
}

}  // namespace weft::processor
