#include "bench/embedded/cache_load.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "bench/harness/defaults.h"
#include "bench/harness/report.h"
#include "bench/walk/crew.h"

namespace weft::bench {
namespace {

constexpr uint64_t kOverheadBytes = 64;  // generous: header, index, room for growth
constexpr uint64_t kFillPart = 2'000'000;

uint64_t MemoryFor(const Workload& workload, uint64_t objects, uint64_t memory_mb) {
  if (memory_mb > 0) return memory_mb << 20;
  const uint64_t item_bytes = workload.key_bytes + workload.value_bytes + kOverheadBytes;
  return std::max<uint64_t>(2 * objects * item_bytes, 64ull << 20);
}

}  // namespace

void CacheAnswers::Merge(const CacheAnswers& other) {
  gets += other.gets;
  hits += other.hits;
  sets += other.sets;
  stored += other.stored;
  wrong += other.wrong;
}

CacheWorker::CacheWorker(Cache* cache, const Workload& workload, uint32_t batch,
                         std::span<const uint32_t> stream)
    : cache_(cache),
      records_(RecordFormat::OfSizes(workload.key_bytes, workload.value_bytes)),
      key_bytes_(workload.key_bytes),
      value_bytes_(workload.value_bytes),
      batch_(batch),
      stream_(stream),
      keys_(stream.size() * workload.key_bytes),
      values_(size_t{batch} * workload.value_bytes),
      lookups_(batch),
      views_(batch),
      pairs_(batch) {
  for (size_t i = 0; i < stream.size(); ++i)
    records_.WriteKey(stream[i] & ~IdStreams::kSetBit, keys_.data() + i * key_bytes_);
}

void CacheWorker::Run(std::span<const uint32_t> ids) {
  for (size_t at = 0; at < ids.size(); at += batch_)
    RunBatch(ids.subspan(at, std::min<size_t>(batch_, ids.size() - at)));
}

void CacheWorker::RunBatch(std::span<const uint32_t> ids) {
  const char* key = keys_.data() + static_cast<size_t>(ids.data() - stream_.data()) * key_bytes_;
  char* value = values_.data();
  size_t gets = 0, sets = 0;
  for (const uint32_t id : ids) {
    if (id & IdStreams::kSetBit) {
      records_.WriteValue(id & ~IdStreams::kSetBit, 0, value);
      pairs_[sets++] = {{key, key_bytes_}, {value, value_bytes_}};
    } else {
      lookups_[gets++] = {{key, key_bytes_}, value, value_bytes_};
    }
    key += key_bytes_;
    value += value_bytes_;
  }
  if (sets > 0) cache_->MultiSet({pairs_.data(), sets});
  for (size_t i = 0; i < sets; ++i) answers_.stored += pairs_[i].outcome == Outcome::kStored;
  answers_.sets += sets;
  if (gets == 0) return;
  cache_->MultiGet({lookups_.data(), gets});
  CheckBatch(gets, ids);
}

void CacheWorker::CheckBatch(size_t gets, std::span<const uint32_t> ids) {
  uint64_t hits = 0, wrong = 0;
  for (size_t i = 0; i < gets; ++i) {
    const bool hit = lookups_[i].outcome == Outcome::kHit;
    hits += hit;
    wrong += hit && lookups_[i].value_bytes != value_bytes_;
  }
  sampled_ = sampled_ + 1 < gets ? sampled_ + 1 : 0;
  const Cache::Lookup& whole = lookups_[sampled_];
  const size_t lane = static_cast<size_t>(whole.value - values_.data()) / value_bytes_;
  if (whole.outcome == Outcome::kHit)
    wrong += !records_.Verify(ids[lane], {whole.value, value_bytes_});
  answers_.gets += gets;
  answers_.hits += hits;
  answers_.wrong += wrong;
}

void CacheWorker::View(std::span<const uint32_t> ids) {
  for (size_t at = 0; at < ids.size(); at += batch_)
    ViewBatch(ids.subspan(at, std::min<size_t>(batch_, ids.size() - at)));
}

void CacheWorker::ViewBatch(std::span<const uint32_t> ids) {
  const char* key = keys_.data() + static_cast<size_t>(ids.data() - stream_.data()) * key_bytes_;
  for (size_t i = 0; i < ids.size(); ++i, key += key_bytes_) views_[i].key = {key, key_bytes_};
  sampled_ = sampled_ + 1 < ids.size() ? sampled_ + 1 : 0;
  uint64_t hits = 0, wrong = 0;
  cache_->MultiView({views_.data(), ids.size()}, [&](std::span<const Cache::View> seen) {
    for (const Cache::View& view : seen) {
      if (view.outcome != Outcome::kHit) continue;
      hits++;
      uint64_t first = 0;
      std::memcpy(&first, view.value.data(), std::min(view.value.size(), sizeof first));
      asm volatile("" : : "r"(first));  // it counts as used
      const size_t lane = static_cast<size_t>(&view - views_.data());
      wrong += view.value.size() != value_bytes_ ||
               (lane == sampled_ && !records_.Verify(ids[lane], view.value));
    }
  });
  answers_.gets += ids.size();
  answers_.hits += hits;
  answers_.wrong += wrong;
}

Result<std::unique_ptr<Cache>> FillCache(const Workload& workload, uint64_t objects,
                                         uint64_t memory_mb, CacheOptions options) {
  options.memory_bytes = MemoryFor(workload, objects, memory_mb);
  options.expected_items = objects;
  auto cache = Cache::Open(options);
  if (!cache) return cache;
  uint64_t stored = 0;
  std::vector<uint32_t> ids;
  for (uint64_t first = 0; first < objects; first += kFillPart) {
    ids.clear();
    for (uint64_t id = first; id < std::min(objects, first + kFillPart); ++id)
      ids.push_back(static_cast<uint32_t>(id) | IdStreams::kSetBit);
    CacheWorker worker(cache->get(), workload, defaults::kBatch, ids);
    worker.Run(ids);
    stored += worker.answers().stored;
    Progress(fmt::format("embedded: stored {} of {} objects", first + ids.size(), objects));
  }
  if (stored == objects) return cache;
  return Status(Code::kNoMemory, fmt::format("only {} of {} objects were stored in {} MiB", stored,
                                             objects, options.memory_bytes >> 20));
}

CacheAnswers VerifySample(Cache* cache, const Workload& workload, uint64_t objects, uint64_t count,
                          uint64_t seed) {
  base::Random random(seed);
  CacheAnswers answers;
  const RecordFormat records = RecordFormat::OfSizes(workload.key_bytes, workload.value_bytes);
  std::vector<char> value(workload.value_bytes);
  for (uint64_t i = 0; i < count; ++i) {
    const auto id = static_cast<uint32_t>(random.Below(objects));
    const RecordKey key(records, id);
    Cache::Lookup lookup{key, value.data(), workload.value_bytes};
    cache->MultiGet({&lookup, 1});
    ++answers.gets;
    if (lookup.outcome != Outcome::kHit) continue;
    ++answers.hits;
    answers.wrong += !records.Verify(id, {value.data(), lookup.value_bytes});
  }
  return answers;
}

}  // namespace weft::bench
