#include "bench/embedded/prefetch_table.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"

namespace weft::bench {
namespace {

constexpr uint64_t kUnit = kLocationUnitBytes;
constexpr uint32_t kFirstLocation = 8;  // 0 names no object

uint64_t ObjectBytes(uint32_t value_bytes) {
  return (sizeof(task::Object) + kPrefetchKeyBytes + value_bytes + kUnit - 1) / kUnit * kUnit;
}

uint64_t ObjectCount(const std::vector<uint32_t>& values, uint64_t bytes) {
  uint64_t sum = 0;
  for (const uint32_t value : values) sum += ObjectBytes(value);
  // A multiple of all numbers that a bucket may have.
  return bytes * values.size() / sum / 840 * 840;
}

uint64_t LinesOf(uint64_t location, uint64_t bytes) {
  const uint64_t begin = location * kUnit;
  return (begin + bytes - 1) / 64 - begin / 64 + 1;
}

}  // namespace

PrefetchTable::PrefetchTable(const std::vector<uint32_t>& values, uint64_t bytes, uint64_t seed)
    : values_(values),
      log_words_((bytes + bytes / 50) / 8 + 4096, true),
      locations_(ObjectCount(values, bytes)),
      places_(locations_.size()),
      bucket_words_(locations_.size() * kBucketSlots, true) {
  uint64_t location = kFirstLocation;
  char key[kPrefetchKeyBytes];
  uint8_t* const base = reinterpret_cast<uint8_t*>(log_words_.words().data());
  for (uint64_t id = 0; id < objects(); ++id) {
    locations_[id] = static_cast<uint32_t>(location);
    const uint32_t value_bytes = ValueBytesOf(id);
    auto* const object = reinterpret_cast<task::Object*>(base + location * kUnit);
    object->shape = (kPrefetchKeyBytes << kShapeKeyShift) | value_bytes;
    WriteKeyOf(id, key);
    std::memcpy(base + location * kUnit + sizeof(task::Object), key, sizeof key);
    const std::string value = ValueOf(id);
    std::memcpy(base + location * kUnit + sizeof(task::Object) + sizeof key, value.data(),
                value.size());
    location += ObjectBytes(value_bytes) / kUnit;
    object_bytes_ += ObjectBytes(value_bytes);
  }
  WEFT_CHECK(location <= log_words_.words().size() && location <= UINT32_MAX);
  log_.base = base;
  log_.segment_shift = 40;
  base::Random random(seed);
  for (uint32_t place = 0; place < places_.size(); ++place) places_[place] = place;
  for (size_t i = places_.size(); i > 1; --i) std::swap(places_[i - 1], places_[random.Below(i)]);
}

void PrefetchTable::Index(uint32_t per_bucket, uint64_t seed) {
  per_bucket_ = per_bucket;
  bucket_count_ = objects() / per_bucket;
  table_ = {reinterpret_cast<task::Bucket*>(bucket_words_.words().data()), bucket_count_};
  std::memset(table_.buckets, 0, index_bytes());
  base::Random random(seed);
  for (uint64_t id = 0; id < objects(); ++id) {
    const uint64_t hash = HashOf(id);
    const uint64_t bucket = places_[id] / per_bucket_;
    WEFT_CHECK(task::FirstBucket(hash, bucket_count_) == bucket);
    const uint64_t lines =
        std::min<uint64_t>(LinesOf(locations_[id], ObjectBytes(ValueBytesOf(id))), kSlotLinesMax);
    table_.buckets[bucket].slots[SlotOf(id)] =
        task::MakeSlot(task::TagOfHash(hash), kSlotLive, 0, locations_[id]) |
        lines << kSlotLinesShift;
  }
}

uint32_t PrefetchTable::ValueBytesOf(uint64_t id) const {
  return values_[values_.size() == 1 ? 0 : base::Mix(id) % values_.size()];
}

void PrefetchTable::WriteKeyOf(uint64_t id, char* key) const {
  std::memset(key, 'k', kPrefetchKeyBytes);
  std::memcpy(key, &id, sizeof id);
}

std::string PrefetchTable::ValueOf(uint64_t id) const {
  std::string value(ValueBytesOf(id), static_cast<char>('a' + id % 26));
  std::memcpy(value.data(), &id, sizeof id);
  return value;
}

uint64_t PrefetchTable::HashOf(uint64_t id) const {
  char key[kPrefetchKeyBytes];
  WriteKeyOf(id, key);
  const uint64_t tag = base::HashBytes(key, sizeof key) >> 48;
  const uint64_t bucket = places_[id] / per_bucket_;
  const auto middle = static_cast<unsigned __int128>(2 * bucket + 1) << 47;
  return tag << 48 | static_cast<uint64_t>(middle / bucket_count_);
}

PrefetchLookups::PrefetchLookups(const PrefetchTable& table, size_t count, uint64_t seed)
    : hash(count), keys(count * kPrefetchKeyBytes), id(count), other_slot(count), percent(count) {
  base::Random random(seed);
  const uint32_t per_bucket = table.per_bucket();
  for (size_t i = 0; i < count; ++i) {
    id[i] = static_cast<uint32_t>(random.Below(table.objects()));
    hash[i] = table.HashOf(id[i]);
    table.WriteKeyOf(id[i], &keys[i * kPrefetchKeyBytes]);
    const uint64_t step = per_bucket > 1 ? 1 + random.Below(per_bucket - 1) : 0;
    other_slot[i] = static_cast<uint8_t>((table.SlotOf(id[i]) + step) % per_bucket);
    percent[i] = static_cast<uint8_t>(random.Below(100));
  }
}

}  // namespace weft::bench
