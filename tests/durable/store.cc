#include "durable/store.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "durable/kit.h"

namespace weft::durable {
namespace {

class LengthFirst final : public Comparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  const char* Name() const override { return "durable-test.LengthFirst"; }
  void FindShortestSeparator(std::string* start, std::string_view limit) const override {
    // The shortest key that is longer than *start and not longer than limit: zero bytes.
    if (limit.size() > start->size() + 1) start->assign(start->size() + 1, '\0');
  }
  void FindShortSuccessor(std::string*) const override {}
};

}  // namespace

const Comparator* LengthFirstComparator() {
  static const LengthFirst comparator;
  return &comparator;
}

std::string Shape::ToString() const {
  std::string text = "buffer " + std::to_string(write_buffer_bytes);
  text += ", files " + std::to_string(open_files_max) + " of " + std::to_string(file_bytes_max);
  text += ", cache " + std::to_string(cache_bytes) + ", block " + std::to_string(block_bytes);
  text += "/" + std::to_string(restart_interval);
  text += ", compression " + std::to_string(static_cast<int>(compression));
  text += ", bloom " + std::to_string(bloom_bits) + ", threads " + std::to_string(threads);
  text += ", level0 " + std::to_string(level0_trigger);
  text += ", level1 " + std::to_string(level1_bytes_max);
  if (paranoid) text += ", paranoid";
  if (reuse_logs) text += ", reuse logs";
  if (!seek_compaction) text += ", no seek compaction";
  if (!verify_compaction) text += ", no verification";
  if (compaction_device != "cpu") text += ", compacted by " + compaction_device;
  if (compaction_direct_io) text += ", by direct I/O";
  if (background_bytes_per_second > 0) {
    text += ", rate " + std::to_string(background_bytes_per_second);
  }
  return text;
}

Engine* EngineNamed(std::string_view name) {
  Engine* engine = name == "weft" ? WeftEngine() : name == "leveldb" ? LevelDbEngine() : nullptr;
  if (engine == nullptr) {
    std::printf("built without %s\n0 passed, 0 failed, 1 skipped\n", std::string(name).c_str());
    std::exit(0);
  }
  return engine;
}

std::unique_ptr<Store> MustOpen(Engine* engine, const Shape& shape, const std::string& dir) {
  Result<std::unique_ptr<Store>> store = engine->Open(shape, dir);
  if (!store) Fail(std::string(engine->Name()) + " cannot open: " + store.error().ToString());
  return std::move(*store);
}

void Apply(const Batch& batch, Model* model) {
  for (const Change& change : batch) {
    if (change.value) {
      (*model)[change.key] = *change.value;
    } else {
      model->erase(change.key);
    }
  }
}

void DrawShape(Random* random, bool for_leveldb_too, Shape* shape) {
  shape->paranoid = random->OneIn(2);
  shape->write_buffer_bytes =
      random->Of<size_t>({64u << 10, 64u << 10, 100'000, 256u << 10, 4u << 20});
  shape->open_files_max = random->Of<int>({75, 80, 1000});
  shape->cache_bytes = random->Of<size_t>({0, 20'000, 1u << 20, 8u << 20});
  shape->block_bytes = random->Of<size_t>({1024, 1024, 4096, 4096, 20'000, 256u << 10});
  shape->restart_interval = random->Of<int>({1, 2, 16, 16, 100});
  shape->file_bytes_max = random->Of<size_t>({1u << 20, 1u << 20, 2u << 20, 16u << 20});
  shape->compression = random->OneIn(2) ? Compression::kSnappy : Compression::kNone;
  if (!for_leveldb_too && random->OneIn(4)) shape->compression = Compression::kZstd;
  shape->reuse_logs = random->OneIn(2);
  shape->bloom_bits = random->Of<int>({0, 0, 1, 10, 10, 40});
  shape->threads = static_cast<int>(random->Below(5));
  shape->level0_trigger = random->Of<int>({1, 2, 4, 8});
  shape->level1_bytes_max = random->Of<uint64_t>({1u << 20, 1u << 20, 10u << 20});
  shape->background_bytes_per_second = random->OneIn(6) ? 32u << 20 : 0;
  shape->seek_compaction = random->OneIn(2);
  shape->verify_compaction = !random->OneIn(4);
  shape->compaction_device = random->OneIn(3) ? "plain" : "cpu";
  const char* const device = std::getenv("WEFT_COMPACTION_DEVICE");
  if (device != nullptr) shape->compaction_device = device;
  shape->compaction_direct_io = random->OneIn(3);
}

Status ReadAll(Store* store, const View& view, bool forwards,
               std::vector<std::pair<std::string, std::string>>* entries) {
  entries->clear();
  const std::unique_ptr<Iterator> it = store->NewIterator(view);
  if (forwards) {
    for (it->SeekToFirst(); it->Valid(); it->Next()) entries->emplace_back(it->key(), it->value());
  } else {
    for (it->SeekToLast(); it->Valid(); it->Prev()) entries->emplace_back(it->key(), it->value());
    std::reverse(entries->begin(), entries->end());
  }
  return it->status();
}

std::string Difference(const Model& expected,
                       const std::vector<std::pair<std::string, std::string>>& found) {
  auto want = expected.begin();
  for (const auto& [key, value] : found) {
    if (want == expected.end()) return "a key that should not be there: " + Shown(key);
    if (want->first != key) {
      const bool missing = expected.find(key) != expected.end();
      return missing ? "missing key " + Shown(want->first) + " (next is " + Shown(key) + ")"
                     : "a key that should not be there: " + Shown(key) + " = " + Shown(value);
    }
    if (want->second != value) {
      return "key " + Shown(key) + " has " + Shown(value) + ", not " + Shown(want->second);
    }
    ++want;
  }
  return want == expected.end() ? "" : "missing key " + Shown(want->first) + " at the end";
}

namespace {

void CheckGets(Store* store, const View& view, const Model& expected, Random* random,
               const std::string& when) {
  const uint64_t stride = 1 + expected.size() / 300;
  uint64_t at = random->Below(stride);
  std::string value;
  for (const auto& [key, wanted] : expected) {
    if (at++ % stride != 0) continue;
    const Status status = store->Get(view, key, &value);
    Require(status.ok(), when + ": get of " + Shown(key) + ": " + status.ToString());
    Require(value == wanted,
            when + ": get of " + Shown(key) + " gave " + Shown(value) + ", not " + Shown(wanted));
    std::string absent = key;  // close to keys that are there
    if (random->OneIn(2) || absent.empty()) {
      absent.push_back(static_cast<char>(random->Below(256)));
    } else {
      absent.back() = static_cast<char>(random->Below(256));
    }
    const Status there = store->Get(view, absent, &value);
    const bool should = expected.find(absent) != expected.end();
    Require(should ? there.ok() : there.code() == Code::kNotFound,
            when + ": get of " + (should ? "present " : "absent ") + Shown(absent) + ": " +
                there.ToString());
  }
}

}  // namespace

void CheckAll(Store* store, const View& view, const Model& expected, Random* random,
              const std::string& when) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const bool forwards : {true, false}) {
    const char* way = forwards ? ", forwards" : ", backwards";
    RequireOk(ReadAll(store, view, forwards, &found), when + way);
    const std::string difference = Difference(expected, found);
    Require(difference.empty(), when + way + ": " + difference);
  }
  CheckGets(store, view, expected, random, when);
  Count("entries checked", 2 * expected.size());
}

}  // namespace weft::durable
