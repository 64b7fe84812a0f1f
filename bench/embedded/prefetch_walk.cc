#include "bench/embedded/prefetch_walk.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "task/batch_tasks.h"

namespace weft::bench {
namespace {

constexpr uint32_t kRamcloudEntryBytes = 300;

const uint8_t* KeyOf(const PrefetchLookups& lookups, size_t i) {
  return reinterpret_cast<const uint8_t*>(&lookups.keys[i * kPrefetchKeyBytes]);
}

// WEFT_FN, as all of these: g++ drops the call of a function that does nothing but prefetch.
WEFT_FN void PrefetchLines(const uint8_t* at, uint32_t lines) {
  for (uint32_t line = 0; line < lines; ++line) task::Prefetch(at + 64 * line);
}

WEFT_FN void PrefetchSlot(const task::LogRef& log, uint64_t word) {
  PrefetchLines(log.base + task::SlotLocation(word) * 8, LinesOfSlot(word));
}

// As task::PrefetchObject, without its bound.
WEFT_FN void PrefetchWhole(const task::LogRef& log, uint64_t location, uint32_t bytes) {
  const uint8_t* const at = log.base + location * 8;
  for (uint32_t offset = 0; offset < bytes; offset += kCacheLineBytes) task::Prefetch(at + offset);
  task::Prefetch(at + bytes - 1);
}

constexpr uint32_t StaticBytes(PrefetchWay way) {
  switch (way) {
    case PrefetchWay::kStatic128: return 128;
    case PrefetchWay::kStatic256: return 256;
    case PrefetchWay::kStatic512: return 512;
    case PrefetchWay::kStatic1024: return 1024;
    default: return 0;
  }
}

constexpr uint32_t RightPercent(PrefetchWay way) {
  switch (way) {
    case PrefetchWay::kRight20: return 20;
    case PrefetchWay::kRight50: return 50;
    case PrefetchWay::kRight80: return 80;
    default: return 100;
  }
}

// What follows the match of tags.
template <PrefetchWay kWay>
WEFT_FN void AskForObject(const PrefetchTable& table, const task::Bucket& bucket, uint64_t word,
                          uint8_t other_slot, uint8_t percent) {
  const task::LogRef& log = table.log();
  if constexpr (kWay == PrefetchWay::kFirstLine) {
    task::Prefetch(task::ObjectAt(log, task::SlotLocation(word)));
  } else if constexpr (kWay == PrefetchWay::kMean) {
    task::PrefetchObject(log, task::SlotLocation(word), table.mean_bytes());
  } else if constexpr (kWay == PrefetchWay::kMeanWhole) {
    PrefetchWhole(log, task::SlotLocation(word), table.mean_bytes());
  } else if constexpr (StaticBytes(kWay) != 0) {
    PrefetchWhole(
        log, task::SlotLocation(word),
        static_cast<uint32_t>(sizeof(task::Object)) + kPrefetchKeyBytes + StaticBytes(kWay));
  } else if constexpr (kWay == PrefetchWay::kExhausted) {
    for (uint32_t slot = 0; slot < table.per_bucket(); ++slot)
      PrefetchSlot(log, bucket.slots[slot]);
  } else if constexpr (kWay == PrefetchWay::kExact) {
    PrefetchSlot(log, word);
  } else if constexpr (RightPercent(kWay) < 100) {
    PrefetchSlot(log, percent < RightPercent(kWay) ? word : bucket.slots[other_slot]);
  }
}

// The word of the key's entry, which a first candidate of the same tag may not be.
uint64_t Confirmed(const PrefetchTable& table, uint64_t word, uint64_t hash, const uint8_t* key) {
  if (task::HasKey(task::ObjectAt(table.log(), task::SlotLocation(word)), key, kPrefetchKeyBytes))
    return word;
  task::Bucket* const bucket =
      &table.table().buckets[task::FirstBucket(hash, table.table().bucket_count)];
  const task::Found found =
      task::FindInBucket(table.log(), bucket, {hash, key, kPrefetchKeyBytes}, false, nullptr);
  WEFT_CHECK(found.slot != nullptr);
  return found.word;
}

template <PrefetchWay kWay>
void RunBatches(const PrefetchTable& table, const PrefetchLookups& lookups, size_t begin,
                size_t count, uint32_t batch, WalkBuffer* buffer) {
  const task::TableRef index = table.table();
  const task::LogRef log = table.log();
  uint64_t words[kPrefetchBatchMax];
  size_t reply = 0;
  for (size_t at = begin; at < begin + count; at += batch) {
    const size_t end = std::min(at + batch, begin + count);
    if constexpr (kWay != PrefetchWay::kNone) {
      for (size_t i = at; i < end; ++i)
        task::Prefetch(&index.buckets[task::FirstBucket(lookups.hash[i], index.bucket_count)]);
    }
    for (size_t i = at; i < end; ++i) {
      task::Bucket& bucket = index.buckets[task::FirstBucket(lookups.hash[i], index.bucket_count)];
      const uint64_t word = task::CandidateInBucket(&bucket, task::TagOfHash(lookups.hash[i])).word;
      words[i - at] = word;
      AskForObject<kWay>(table, bucket, word, lookups.other_slot[i], lookups.percent[i]);
    }
    for (size_t i = at; i < end; ++i) {
      if constexpr (kWay == PrefetchWay::kRamcloud) {
        const task::Object* object = task::ObjectAt(log, task::SlotLocation(words[i - at]));
        const auto bytes = static_cast<uint32_t>(task::StoredBytes(object));
        if (bytes < kRamcloudEntryBytes)
          PrefetchWhole(log, task::SlotLocation(words[i - at]), bytes);
      }
      const uint64_t word = Confirmed(table, words[i - at], lookups.hash[i], KeyOf(lookups, i));
      const task::Object* object = task::ObjectAt(log, task::SlotLocation(word));
      const uint32_t bytes = task::ValueBytes(object);
      if (reply + bytes > WalkBuffer::kBytes) reply = 0;
      task::CopyBytes(&buffer->bytes[reply], task::ValueOf(object), bytes);
      reply += bytes;
    }
  }
}

using RunFunction = void (*)(const PrefetchTable&, const PrefetchLookups&, size_t, size_t, uint32_t,
                             WalkBuffer*);

template <size_t... kWays>
constexpr std::array<RunFunction, sizeof...(kWays)> AllWays(std::index_sequence<kWays...>) {
  return {&RunBatches<static_cast<PrefetchWay>(kWays)>...};
}

}  // namespace

void RunWalk(PrefetchWay way, const PrefetchTable& table, const PrefetchLookups& lookups,
             size_t begin, size_t count, uint32_t batch, WalkBuffer* buffer) {
  static constexpr auto kFunctions = AllWays(std::make_index_sequence<kPrefetchWays>());
  kFunctions[static_cast<size_t>(way)](table, lookups, begin, count, batch, buffer);
}

bool GivesRightValues(PrefetchWay way, const PrefetchTable& table, const PrefetchLookups& lookups,
                      size_t count, uint32_t batch) {
  WalkBuffer buffer;
  for (size_t i = 0; i < count; i += batch) {
    const size_t some = std::min<size_t>(batch, count - i);
    RunWalk(way, table, lookups, i, some, batch, &buffer);
    size_t reply = 0;
    for (size_t j = i; j < i + some; ++j) {
      const std::string value = table.ValueOf(lookups.id[j]);
      if (reply + value.size() > WalkBuffer::kBytes) reply = 0;
      if (!std::equal(value.begin(), value.end(), buffer.bytes.begin() + reply,
                      [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; }))
        return false;
      reply += value.size();
    }
  }
  return true;
}

}  // namespace weft::bench
