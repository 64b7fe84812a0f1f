// processor/mirror/mirror_test_kit.h: a mirror's memory that holds its caller to the rules, and
// jobs of reads that run there, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cache/cache_test_kit.h"
#include "processor/mirror/copy_buckets.h"
#include "processor/mirror/copy_log.h"
#include "processor/mirror/mirror.h"

namespace weft::processor {

// Memory for `segments_max` segments, and for fewer where a test says so.
class StrictMemory final : public MirrorMemory {
 public:
  explicit StrictMemory(uint32_t segments_max) : segments_max_(segments_max) {}

  uint32_t room = UINT32_MAX;  // segments for which Hold finds memory
  uint64_t held = 0;
  uint64_t refused = 0;         // calls of Hold
  uint32_t copies_to_fail = 0;  // of the index, from now on

  Status NewIndex(uint64_t bucket_count) override {
    buckets_.assign(bucket_count, task::Bucket());
    bucket_count_ = bucket_count;
    return {};
  }
  Status NewLog(uint32_t segments, uint64_t segment_bytes) override {
    segment_bytes_ = segment_bytes;
    log_.resize(segments * segment_bytes / 8);
    std::memset(log_.data(), kGone, segments * segment_bytes);
    held_.assign(segments, false);
    resident_.assign(segments, 0);
    bases_.assign(segments, 0);
    uses_.assign(segments, 0);
    return {};
  }
  uint64_t resident_units() const {
    return std::accumulate(resident_.begin(), resident_.end(), uint64_t{0});
  }

  uint32_t SegmentsMax() const override { return segments_max_; }
  Status Hold(uint32_t segment) override {
    EXPECT_FALSE(held_[segment]) << "held twice";
    if (held >= room) {
      refused++;
      return {Code::kNoMemory, "the test has none"};
    }
    held_[segment] = true;
    held++;
    EXPECT_LE(held, segments_max_);
    return {};
  }
  Status Drop(uint32_t segment) override {
    EXPECT_TRUE(held_[segment]) << "dropped, but not held";
    EXPECT_EQ(resident_[segment], 0u) << "dropped what is resident";
    held_[segment] = false;
    held--;
    std::memset(log_.data() + segment * (segment_bytes_ / 8), kGone, segment_bytes_);
    return {};
  }
  Status CopyIndex(const task::Bucket* table, std::span<const uint64_t> numbers) override {
    if (copies_to_fail > 0) {
      copies_to_fail--;
      return {Code::kIoError, "the test says so"};
    }
    for (const uint64_t number : numbers) EXPECT_LT(number, bucket_count_);
    CopyBuckets(table, numbers, [&](size_t i) { return &buckets_[numbers[i]]; });
    return {};
  }
  Status WriteLog(uint64_t offset, const uint8_t* bytes, uint64_t count) override {
    for (uint64_t at = offset / segment_bytes_; at * segment_bytes_ < offset + count; at++)
      EXPECT_TRUE(held_[at]) << "written, but not held";
    CopyLog(reinterpret_cast<uint8_t*>(log_.data()) + offset, bytes, count);
    return {};
  }
  Status SetResident(uint32_t segment, uint32_t units, uint64_t base) override {
    for (uint64_t at = 0; at * segment_bytes_ < uint64_t{units} * 8; at++)
      EXPECT_TRUE(held_[segment + at]) << "resident, but not held";
    resident_[segment] = units;
    bases_[segment] = base;
    return {};
  }
  Status ReadUses(std::span<uint32_t> uses) override {
    std::copy(uses_.begin(), uses_.end(), uses.begin());
    return {};
  }
  task::IndexRef index() const override {
    task::IndexRef index{};
    index.older = {const_cast<task::Bucket*>(buckets_.data()), bucket_count_};
    index.move_counts = const_cast<uint32_t*>(moves_.data());
    return index;
  }
  task::LogRef log() const override {
    task::LogRef log{};
    log.base = reinterpret_cast<uint8_t*>(const_cast<uint64_t*>(log_.data()));
    log.version_bases = bases_.data();
    log.resident = resident_.data();
    log.uses = const_cast<uint32_t*>(uses_.data());
    return log;
  }

 private:
  static constexpr int kGone = 0xdb;  // each byte of what is not held

  const uint32_t segments_max_;
  std::vector<task::Bucket> buckets_;
  uint64_t bucket_count_ = 0;
  std::vector<uint64_t> log_;
  uint64_t segment_bytes_ = 0;
  std::vector<bool> held_;
  std::vector<uint32_t> resident_, uses_;
  std::vector<uint64_t> bases_;
  std::vector<uint32_t> moves_ = std::vector<uint32_t>(kMoveStripes, 0);
};

// As after so many changes that rings had no room for them: every bucket of the store is marked.
inline void MarkAll(cache::Session& session) {
  session.Begin();
  const task::IndexRef index = session.index();
  for (uint64_t b = 0; b < index.older.bucket_count; b++) task::MarkBucket(index, index.older, b);
  session.End();
}

// A store's mirror that is advanced when a test says so.
class StepMirror {
 public:
  explicit StepMirror(cache::Store* store)
      : session_(store->NewSession()), mirror_(store, &memory_) {
    EXPECT_TRUE(mirror_.Open().ok());
  }

  StrictMemory& memory() { return memory_; }
  // Whether it may be used.
  Result<bool> Advance() {
    session_->BeginReading();
    Result<bool> ready = mirror_.Advance(session_->index(), session_->log());
    session_->End();
    return ready;
  }
  bool is_behind() const { return mirror_.is_behind(); }
  uint64_t index_lines() const { return mirror_.counters().index_lines; }
  // Lines of the index that an Advance copies; UINT64_MAX where it fails or may not be used.
  uint64_t LinesOfAdvance() {
    const uint64_t before = mirror_.counters().index_lines;
    Result<bool> ready = Advance();
    if (!ready || !*ready) return UINT64_MAX;
    return mirror_.counters().index_lines - before;
  }
  void CatchUp() {
    for (uint32_t idle = 0, all = 0; idle < 3; all++) {
      ASSERT_LT(all, 1000u) << "it does not come to an end";
      idle = LinesOfAdvance() == 0 ? idle + 1 : 0;
    }
  }
  // Buckets whose entries are not the store's. REQUIRES: Advance has just said true; nobody
  // changes the store
  uint64_t StaleLines() {
    session_->Begin();
    const task::TableRef store = session_->index().older, mirror = memory_.index().older;
    uint64_t stale = 0;
    for (uint64_t b = 0; b < store.bucket_count; b++) {
      bool differs = false;
      for (uint32_t s = 0; s < kBucketSlots; s++)
        differs |= task::WithRecency(store.buckets[b].slots[s], 0) !=
                   task::WithRecency(mirror.buckets[b].slots[s], 0);
      stale += differs;
    }
    session_->End();
    return stale;
  }

 private:
  const std::unique_ptr<cache::Session> session_;
  StrictMemory memory_{UINT32_MAX};
  Mirror mirror_;
};

// A clock that stands still: what goes on for a while goes on, whatever the machine does meanwhile.
inline uint64_t StandingNow() { return 0; }

// Rounds do not rest, so that the queries alone say when one ends.
inline constexpr RoundClocks kNoRest = {StandingNow, StandingNow};

// A store's mirror, and one who reads there.
class MirrorReader {
 public:
  static constexpr const char* kNone = "(not answered)";

  MirrorReader(cache::Store* store, uint32_t segments_max, RoundClocks clocks = kNoRest)
      : store_(store),
        session_(store->NewSession()),
        memory_(segments_max),
        mirror_(store, &memory_, clocks) {
    EXPECT_TRUE(mirror_.Open().ok());
  }

  StrictMemory& memory() { return memory_; }
  Mirror::Counters counters() const { return mirror_.counters(); }

  // Whether the last Read was to note which segments it used.
  bool notes_uses() const { return notes_uses_; }

  // What the mirror answers, or kNone, of each key; after following the store.
  std::vector<std::string> Read(const std::vector<std::string>& keys) {
    const uint32_t count = static_cast<uint32_t>(keys.size());
    std::vector<uint64_t> hash, word(count), position(count), placed(count);
    std::vector<uint32_t> key_at, value_at(count);
    std::vector<uint8_t> key_bytes, wanted(count, kWantsRead), result(count, kResultNone);
    std::string bytes;
    for (const std::string& key : keys) {
      hash.push_back(store_->HashOf(key));
      key_at.push_back(static_cast<uint32_t>(bytes.size()));
      key_bytes.push_back(static_cast<uint8_t>(key.size()));
      bytes += key;
    }
    std::vector<uint64_t> values(count * uint64_t{256});  // 2 KiB each
    uint32_t values_used = 0;
    task::QueryJob job{};
    job.columns = {hash.data(),      key_at.data(),
                   key_bytes.data(), reinterpret_cast<const uint8_t*>(bytes.data()),
                   word.data(),      position.data()};
    job.wanted = wanted.data();
    job.placed = placed.data();
    job.result = result.data();
    job.value_at = value_at.data();
    job.values = reinterpret_cast<uint8_t*>(values.data());
    job.values_used = &values_used;
    job.values_capacity = static_cast<uint32_t>(values.size());
    job.end = count;
    job.tasks = kRunSearch | kRunCompare | kRunRead;
    session_->Begin();
    job.index = session_->index();
    job.log = session_->log();
    job.now_s = session_->now_s();
    Result<bool> ready = mirror_.Advance(job.index, job.log);
    EXPECT_TRUE(ready.has_value());
    if (ready.has_value() && *ready) {
      mirror_.Replace(&job);
      notes_uses_ = job.log.uses != nullptr;
      task::RunQueries(job, 0, count, 0);
    }
    session_->End();
    std::vector<std::string> told(count, kNone);
    for (uint32_t i = 0; i < count; i++) {
      if (result[i] != kResultRead) continue;
      const uint8_t* const at = job.values + uint64_t{value_at[i] & ~kValueNoteBit} * 8;
      uint32_t value_bytes = 0;
      std::memcpy(&value_bytes, at + 4, 4);
      told[i].assign(reinterpret_cast<const char*>(at) + kGatherHeaderBytes, value_bytes);
    }
    return told;
  }

 private:
  cache::Store* const store_;
  const std::unique_ptr<cache::Session> session_;
  StrictMemory memory_;
  Mirror mirror_;
  bool notes_uses_ = false;
};

}  // namespace weft::processor
