// What a scene's answers must be, and the scenes that are worth playing.
#include <cstring>
#include <unordered_set>

#include "base/check.h"
#include "processor/cuda/table_scene_test_kit.h"

namespace weft::processor {
namespace {

std::string Wrong(uint32_t i, const std::string& what) {
  return "query " + std::to_string(i) + ": " + what;
}

}  // namespace

std::string Scene::CheckRead(uint32_t i, bool plain) const {
  const auto it = model_.find(KeyOfQuery(i));
  const bool there = visible_ && it != model_.end();
  if (!there) {
    if (result_[i] != kResultMissed && (tasks_ & kRunCompare) != 0)
      return Wrong(i, "a key that is not there: result " + std::to_string(result_[i]));
    return "";
  }
  if ((tasks_ & kRunCompare) == 0) return "";  // a hint
  const bool ended = it->second.expiry != 0 && it->second.expiry <= now_s_;
  const bool read = (tasks_ & kRunRead) != 0 && !ended;
  if (result_[i] != (read ? kResultRead : kResultFound))
    return Wrong(i, "a key that is there: result " + std::to_string(result_[i]));
  const uint64_t slot = buckets_[position_[i] / 8].slots[position_[i] % 8];
  // Stores of the batch may have displaced the entry since.
  if (!task::SameEntry(slot, word_[i]) && (tasks_ & kRunInsert) == 0)
    return Wrong(i, "word and position do not agree");
  if (!read) return "";
  const uint64_t at = plain || shape_.packed ? value_at_[i] : i * (values_.size() / count_);
  if (at + 1 > values_.size()) return Wrong(i, "its record lies outside");
  const uint64_t header = values_[at];
  const std::string& value = it->second.value;
  if (header != value.size() << 32) return Wrong(i, "its record's header is wrong");
  if (std::memcmp(&values_[at + 1], value.data(), value.size()) != 0)
    return Wrong(i, "its value is wrong");
  return "";
}

std::string Scene::Check(bool plain) {
  std::map<std::string, std::vector<uint32_t>> stores;
  for (uint32_t i = 0; i < count_; i++) {
    const std::string key = KeyOfQuery(i);
    const auto it = model_.find(key);
    switch (wanted_[i]) {
      case kWantsNothing:
        if (result_[i] != kResultNone) return Wrong(i, "nothing was wanted");
        break;
      case kWantsRead: {
        const std::string wrong = CheckRead(i, plain);
        if (!wrong.empty()) return wrong;
        if (it != model_.end()) hits_++;
        break;
      }
      case kWantsStore:
        if (result_[i] == kResultStored) {
          stores[key].push_back(i);
        } else if (result_[i] == kResultNone) {
          refused_++;
        } else {
          return Wrong(i, "a store: result " + std::to_string(result_[i]));
        }
        break;
      case kWantsDelete: {
        const bool gone = it == model_.end();
        const bool ended = !gone && it->second.expiry != 0 && it->second.expiry <= now_s_;
        if (result_[i] != (gone || ended ? kResultNone : kResultDeleted))
          return Wrong(i, "a delete: result " + std::to_string(result_[i]));
        if (!gone && !ended) model_.erase(it);
        break;
      }
      default: return Wrong(i, "what was wanted was changed");
    }
  }
  finished_ += static_cast<uint32_t>(pending_count_[0]);
  std::unordered_set<uint64_t> named;  // locations
  for (const task::Bucket& bucket : buckets_)
    for (const uint64_t word : bucket.slots)
      if (word != kSlotEmpty) named.insert(task::SlotLocation(word));
  for (const auto& [key, queries] : stores) {
    // Of several the one whose object the index names; CheckTable sees that it is one of them.
    uint32_t last = queries[0];
    for (const uint32_t i : queries)
      if (named.count(placed_[i]) != 0) last = i;
    const auto it = model_.find(key);
    if (queries.size() == 1 && (word_[last] != 0) != (it != model_.end()))
      return Wrong(last, "a store does not say what it replaced");
    model_[key] = item_of_[last];
  }
  return "";
}

std::string Scene::CheckTable() const {
  std::map<std::string, Item> found;
  for (const task::Bucket& bucket : buckets_) {
    for (const uint64_t word : bucket.slots) {
      if (word == kSlotEmpty) continue;
      if (task::SlotState(word) != kSlotLive) return "an entry is not live";
      const auto* object = reinterpret_cast<const task::Object*>(&log_[task::SlotLocation(word)]);
      const std::string key(reinterpret_cast<const char*>(task::KeyOf(object)),
                            task::KeyBytes(object->shape));
      if (task::TagOfHash(HashOf(key)) != task::SlotTag(word)) return "an entry has a wrong tag";
      Item item;
      item.value.assign(reinterpret_cast<const char*>(task::ValueOf(object)),
                        task::ValueBytes(object));
      item.expiry = task::ExpiryOf(object);
      if (!found.emplace(key, item).second) return "a key is there twice";
    }
  }
  if (found.size() != model_.size())
    return "the table has " + std::to_string(found.size()) + " keys, not " +
           std::to_string(model_.size());
  return found == model_ ? "" : "the table holds other values";
}

void Scene::SetStates(uint64_t state) {
  for (task::Bucket& bucket : buckets_)
    for (uint64_t& word : bucket.slots)
      if (word != kSlotEmpty) word = task::WithState(word, state);
  visible_ = state != kSlotTentative;
}

std::string PlayScene(const SceneShape& shape, uint32_t batches, std::mt19937_64& random,
                      const SceneRunner& run) {
  constexpr uint32_t kFinds = kRunSearch | kRunCompare;
  constexpr uint32_t kKinds[] = {kFinds | kRunRead | kRunInsert | kRunDelete, kFinds | kRunInsert,
                                 kFinds | kRunRead, kFinds | kRunDelete, kFinds};
  Scene scene(shape, random);
  for (uint32_t batch = 0; batch < batches; batch++) {
    const uint32_t tasks = batch == 0 ? kFinds | kRunInsert : kKinds[random() % 5];
    // Repeated stores are not for RunQuery alone: its caller keeps them out of a batch.
    const bool plain = batch % 4 == 3 && !shape.repeats;
    const uint32_t least = batch == 0 ? shape.keys : 1;  // later batches find something
    scene.Draw(static_cast<uint32_t>(random() % (shape.keys * 2)) + least, tasks, batch);
    run(scene, plain);
    std::string wrong = scene.Check(plain);
    if (wrong.empty()) wrong = scene.CheckTable();
    if (!wrong.empty())
      return "batch " + std::to_string(batch) + (plain ? " (plain)" : "") + ", tasks " +
             std::to_string(tasks) + ": " + wrong;
  }
  for (const uint64_t state : {kSlotTentative, kSlotMoving, kSlotLive}) {
    scene.SetStates(state);
    scene.Draw(shape.keys, kFinds | kRunRead, 0);
    run(scene, false);
    const std::string wrong = scene.Check(false);
    if (!wrong.empty()) return "state " + std::to_string(state >> kStateShift) + ": " + wrong;
  }
  if (scene.hits() == 0) return "the scene tried nothing";
  return "";
}

std::vector<SceneShape> SceneShapes(uint32_t scale) {
  std::vector<SceneShape> shapes;
  for (const uint32_t key_bytes : {8u, 16u, 32u, 0u, 24u, 13u}) {
    SceneShape shape;
    shape.keys = 300 * scale;
    shape.buckets = 64ul * scale;
    shape.log_bytes = (2ul << 20) * (scale + 1);
    shape.key_bytes = key_bytes;
    shape.log_align = 2;
    shapes.push_back(shape);  // values of various lengths, objects at multiples of 16
    shape.value_bytes = key_bytes == 8 ? 8 : 64;
    shape.log_align = 4;
    shapes.push_back(shape);  // fixed sizes
    shape.packed = true;
    shape.notes = true;
    shape.log_align = 1;
    shapes.push_back(shape);  // objects at multiples of 8, records packed
    shape.value_bytes = 0;
    shape.expiries = true;
    shape.hash_bits = 3;
    shape.keys = 60;  // few hashes: at most 16 keys of each
    shape.strangers = key_bytes != 0 ? 12 : 0;
    shapes.push_back(shape);
    shape.hash_bits = 64;
    shape.strangers = 0;
    shape.expiries = false;
    shape.repeats = true;
    shape.value_bytes_max = 40;
    shape.log_align = 8;
    shape.keys = 600 * scale;  // more than there is room for
    shapes.push_back(shape);
    shape.repeats = false;
    shape.policy = kPolicySetAssociative;
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace weft::processor
