#include "sim/generator/ramcloud_store.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "base/random.h"
#include "sim/generator/refuse.h"

namespace weft::sim {
namespace {

constexpr size_t kClassesMax = 16;
constexpr uint64_t kObjectsOfFullLine = kSlotsPerBucket - 1;  // and a pointer

uint64_t RoundUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

// How many lines `objects` of a bucket take.
uint32_t LinesOf(uint32_t objects) {
  if (objects <= kSlotsPerBucket) return 1;
  return static_cast<uint32_t>(1 + (objects - kSlotsPerBucket + kObjectsOfFullLine - 1) /
                                       kObjectsOfFullLine);
}

template <typename Value>
void Shuffle(std::vector<Value>& values, base::Random& random) {
  for (uint64_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.Below(i)]);
}

Status ValidateStore(const StoreOptions& options) {
  if (options.cores < 1 || options.cores > kCoresMax) {
    return Refuse(fmt::format("{} cores: 1 to {} are possible", options.cores, kCoresMax));
  }
  if (options.buckets < 1 || options.buckets > kBucketsMax) {
    return Refuse(fmt::format("{} buckets: 1 to {} are possible", options.buckets, kBucketsMax));
  }
  if (options.key_bytes < 1 || options.key_bytes > kKeyBytesMax) {
    return Refuse(
        fmt::format("keys of {} bytes: 1 to {} are possible", options.key_bytes, kKeyBytesMax));
  }
  if (options.memory_bytes > uint64_t{1} << 40) {
    return Refuse(
        fmt::format("{} bytes of memory: at most 2^40 are possible", options.memory_bytes));
  }
  for (const Mix::Size& size : options.mix.sizes()) {
    if (size.value_bytes > kGeneratedValueBytesMax) {
      return Refuse(fmt::format("values of {} bytes: up to {} are possible", size.value_bytes,
                                kGeneratedValueBytesMax));
    }
  }
  WEFT_CHECK(options.mix.sizes().size() <= kClassesMax);
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<RamcloudStore>> RamcloudStore::Build(const StoreOptions& options) {
  Status status = ValidateStore(options);
  if (!status.ok()) return status;
  std::unique_ptr<RamcloudStore> store(new RamcloudStore(options));  // its constructor is private
  status = store->CountKeys();
  if (!status.ok()) return status;
  store->DealClasses();
  store->DealBuckets();
  store->PlaceInBuckets();
  status = store->PlaceInLog();
  if (!status.ok()) return status;
  return store;
}

Status RamcloudStore::CountKeys() {
  double keys = 0;
  const Utilization& utilization = options_.utilization;
  if (utilization.kind == Utilization::Kind::kNatural) {
    double entry_bytes = 0;
    for (size_t cls = 0; cls < options_.mix.sizes().size(); ++cls) {
      entry_bytes += options_.mix.sizes()[cls].share() * EntryBytesOf(cls);
    }
    keys = std::floor(static_cast<double>(options_.log_bytes) / entry_bytes);
  } else {
    keys = std::round(utilization.objects * static_cast<double>(options_.buckets));
  }
  const double limit = kObjectsPerBucketMax * static_cast<double>(options_.buckets);
  if (keys > limit || keys >= 4294967295.0) {
    return Refuse(
        fmt::format("{:.0f} objects in {} buckets: at most {} a bucket and 2^32 - 1 are "
                    "possible",
                    keys, options_.buckets, kObjectsPerBucketMax));
  }
  // Each class gets its share, the last what is left.
  class_begin_.assign(1, 0);
  double share = 0;
  for (const Mix::Size& size : options_.mix.sizes()) {
    share += size.share();
    class_begin_.push_back(static_cast<uint64_t>(std::round(std::min(share, 1.0) * keys)));
  }
  class_begin_.back() = static_cast<uint64_t>(keys);
  for (size_t cls = 0; cls < options_.mix.sizes().size(); ++cls) {
    if (options_.mix.sizes()[cls].share() > 0 && KeysOf(cls) == 0) {
      return Refuse(fmt::format("{:.0f} objects: too few for one with a value of {} bytes", keys,
                                options_.mix.sizes()[cls].value_bytes));
    }
  }
  return Status::Ok();
}

void RamcloudStore::DealClasses() {
  const uint64_t keys = class_begin_.back();
  by_rank_.resize(keys);
  for (uint64_t key = 0; key < keys; ++key) by_rank_[key] = static_cast<uint32_t>(key);
  base::Random random(base::Mix(options_.seed) + 1);
  Shuffle(by_rank_, random);
  objects_.resize(keys);
  for (size_t cls = 0; cls < options_.mix.sizes().size(); ++cls) {
    const auto begin = by_rank_.begin() + static_cast<int64_t>(class_begin_[cls]);
    const auto end = by_rank_.begin() + static_cast<int64_t>(class_begin_[cls + 1]);
    for (auto key = begin; key != end; ++key) objects_[*key] = uint64_t{cls} << kClassShift;
    if (options_.popularity.law == KeyPopularity::Law::kLatest) {
      std::sort(begin, end, std::greater<>());
    }
  }
}

uint64_t RamcloudStore::HashOf(uint32_t key) const {
  return base::Mix(base::Mix(options_.seed + 0x5bd1e995u) + key * 0x9e3779b97f4a7c15u);
}

void RamcloudStore::DealBuckets() {
  lines_.resize(keys());
  if (options_.utilization.kind == Utilization::Kind::kExact) {
    const auto objects = static_cast<uint64_t>(options_.utilization.objects);
    for (uint64_t key = 0; key < keys(); ++key) lines_[key] = static_cast<uint32_t>(key / objects);
    base::Random random(base::Mix(options_.seed) + 2);
    Shuffle(lines_, random);
    return;
  }
  constexpr uint64_t kBucketBits = (uint64_t{1} << 48) - 1;  // the others are the tag
  for (uint64_t key = 0; key < keys(); ++key) {
    const uint64_t hash = HashOf(static_cast<uint32_t>(key)) & kBucketBits;
    lines_[key] = static_cast<uint32_t>(hash % options_.buckets);
  }
}

void RamcloudStore::PlaceInBuckets() {
  std::vector<uint32_t> objects(options_.buckets);  // of each bucket, in the end
  for (uint32_t line : lines_) ++objects[line];
  std::vector<uint32_t> inserted(options_.buckets);
  std::vector<uint32_t> last_line(options_.buckets);  // of its chain, so far
  next_.assign(options_.buckets, 0);
  for (uint64_t key = 0; key < keys(); ++key) {
    const uint32_t bucket = lines_[key];
    const uint32_t number = inserted[bucket]++;
    const uint32_t depth =
        std::min<uint32_t>(number / kObjectsOfFullLine, LinesOf(objects[bucket]) - 1);
    const uint64_t slot = number - depth * kObjectsOfFullLine;
    objects_[key] |= slot << kSlotShift;
    if (number == 0) last_line[bucket] = bucket;
    if (depth > 0 && slot == 0) {
      const auto overflow = static_cast<uint32_t>(next_.size());
      next_[last_line[bucket]] = overflow;
      before_.push_back(last_line[bucket]);
      next_.push_back(0);
      last_line[bucket] = overflow;
    }
    lines_[key] = last_line[bucket];
  }
}

uint64_t RamcloudStore::AppendedBytesMax() const {
  uint64_t entry_bytes = 0;  // of the largest that is written
  for (size_t cls = 0; cls < options_.mix.sizes().size(); ++cls) {
    if (options_.mix.sizes()[cls].puts > 0) {
      entry_bytes = std::max<uint64_t>(entry_bytes, EntryBytesOf(cls));
    }
  }
  if (entry_bytes == 0 || options_.puts_max == 0) return 0;
  const uint64_t entries_a_seglet = kSegletBytes / entry_bytes;
  const auto puts = static_cast<uint64_t>(options_.puts_max);
  const uint64_t seglets = (puts + entries_a_seglet - 1) / entries_a_seglet;
  return seglets * kSegletBytes * static_cast<uint64_t>(options_.cores);
}

Status RamcloudStore::PlaceInLog() {
  shape_.buckets = options_.buckets;
  shape_.slots_per_bucket = kSlotsPerBucket;
  shape_.table_limit = kBucketBytes * options_.buckets;
  shape_.log_base = RoundUp(kBucketBytes * next_.size(), kSegmentBytes);
  shape_.object_overhead_bytes = static_cast<int>(kFixedOverheadBytes) + options_.key_bytes;
  shape_.long_object_bytes = kLongEntryBytes;
  const uint64_t own = kOwnDataBytes * static_cast<uint64_t>(options_.cores);
  const uint64_t limit = options_.memory_bytes < own ? 0 : options_.memory_bytes - own;
  const auto too_large = [&] {
    return Refuse(fmt::format("{} buckets and {} objects don't fit {} bytes of memory",
                              options_.buckets, keys(), options_.memory_bytes));
  };
  if (shape_.log_base > limit) return too_large();
  LogSpace loading(shape_.log_base, limit);
  LogHead head;
  for (uint64_t key = 0; key < keys(); ++key) {
    const std::optional<uint64_t> at =
        loading.Append(head, EntryBytesOf(ClassOf(static_cast<uint32_t>(key))));
    if (!at) return too_large();
    objects_[key] |= *at - shape_.log_base;
  }
  const uint64_t room = (limit - loading.next()) / kSegletBytes * kSegletBytes;
  shape_.log_limit = loading.next() + std::min(AppendedBytesMax(), room);
  space_.emplace(loading.next(), shape_.log_limit);
  heads_.resize(static_cast<size_t>(options_.cores));
  return Status::Ok();
}

RamcloudStore::Place RamcloudStore::Find(uint32_t key) const {
  const PackedObject object = objects_[key];
  return {.line = lines_[key],
          .slot = static_cast<uint8_t>(object >> kSlotShift),
          .cls = static_cast<uint8_t>(ClassOf(key)),
          .tag = static_cast<uint16_t>(HashOf(key) >> 48),
          .addr = shape_.log_base + (object & ((uint64_t{1} << kClassShift) - 1))};
}

std::optional<uint64_t> RamcloudStore::Put(int core, uint32_t key) {
  const std::optional<uint64_t> at =
      space_->Append(heads_[static_cast<size_t>(core)], EntryBytesOf(ClassOf(key)));
  if (!at) return at;
  PackedObject& object = objects_[key];
  object = object >> kClassShift << kClassShift | (*at - shape_.log_base);
  return at;
}

void RamcloudStore::PathTo(uint32_t line, std::vector<uint32_t>* path) const {
  path->assign(1, line);
  while (IsOverflow(path->back())) path->push_back(before_[path->back() - shape_.buckets]);
  std::reverse(path->begin(), path->end());
}

TableImage RamcloudStore::InitialTable() const {
  TableImage table(shape_.buckets, kSlotsPerBucket);
  LogSpace loading(shape_.log_base, shape_.log_limit);
  LogHead head;
  for (uint64_t i = 0; i < keys(); ++i) {
    const auto key = static_cast<uint32_t>(i);
    const Place place = Find(key);
    const uint32_t bytes = EntryBytesOf(place.cls);
    const std::optional<uint64_t> addr = loading.Append(head, bytes);
    WEFT_CHECK(addr.has_value());
    if (IsOverflow(place.line)) continue;
    table.At(place.line, place.slot) = {.addr = *addr, .bytes = bytes, .tag = place.tag};
  }
  for (uint64_t bucket = 0; bucket < shape_.buckets; ++bucket) {
    if (next_[bucket] == 0) continue;
    table.At(bucket, kSlotsPerBucket - 1) = {.addr = AddressOf(next_[bucket]), .is_chain = true};
  }
  return table;
}

}  // namespace weft::sim
