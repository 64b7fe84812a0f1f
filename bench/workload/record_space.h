// bench/workload/record_space.h: which records a store has, as far as their writers know. All
// threads of a run share it. It lives as long as the store's contents, through several runs.
//
// Records are numbers from 0 on. An insert claims the next number and settles it when its outcome
// is known. All below acknowledged() are settled; only these are asked for, so never one that may
// still be on its way. A record whose insert was refused or that was deleted may be missing from
// then on, whatever is written later: whoever finds it missing reports no loss.
//
// Versions  Each write takes a version that no other write of this space has, up to 2^32 of them;
//           then they begin anew.
// Threads   any call from any thread.
// Cost      Claim: a contended addition, for as many as are claimed. Settle: one too, and a look at
//           acknowledged(). A bit or two of memory for each record added.
// Source    the counter is what YCSB calls an acknowledged one; ours has no window that can be
//           full.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft::bench {

// A set of record numbers that only grows: bits, in pieces that are made when needed.
class RecordSet {
 public:
  RecordSet();
  ~RecordSet();
  RecordSet(const RecordSet&) = delete;
  RecordSet& operator=(const RecordSet&) = delete;

  // REQUIRES (all): record < kRecordsMax
  void Add(uint64_t record);
  bool Has(uint64_t record) const {
    const std::atomic<uint64_t>* word = WordOf(record);
    return word != nullptr && (word->load() >> (record % 64) & 1) != 0;
  }
  // The first number from `record` on, up to kRecordsMax, that isn't in the set.
  uint64_t FirstNotIn(uint64_t record) const;

 private:
  static constexpr uint64_t kPieceRecords = 1u << 20;
  struct Piece {
    std::atomic<uint64_t> words[kPieceRecords / 64] = {};
  };

  const std::atomic<uint64_t>* WordOf(uint64_t record) const {
    const Piece* piece = pieces_[record / kPieceRecords].load();
    return piece == nullptr ? nullptr : &piece->words[record % kPieceRecords / 64];
  }

  std::vector<std::atomic<Piece*>> pieces_;  // each set once
};

class RecordSpace {
 public:
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;  // may be begin: none
  };

  // The records below `stored` are there.
  explicit RecordSpace(uint64_t stored = 0) : next_(stored), acknowledged_(stored) {}

  // The next numbers to insert, up to `count` of them, and below `end`. Each must be settled.
  // REQUIRES: end <= kRecordsMax
  Range Claim(uint64_t count, uint64_t end);
  // `stored`: the record is there.
  void Settle(uint64_t record, bool stored);
  uint64_t acknowledged() const { return acknowledged_.load(); }

  // Call it before a delete begins.
  void MarkDeleted(uint64_t record);
  bool MayBeMissing(uint64_t record) const { return any_missing_.load() && missing_.Has(record); }

  // The first of `count` versions; they may wrap to 0.
  uint32_t ClaimVersions(uint32_t count) { return versions_.fetch_add(count); }

 private:
  void Advance();

  RecordSet settled_;
  RecordSet missing_;
  std::atomic<bool> any_missing_{false};
  // Apart, because all threads write them.
  alignas(64) std::atomic<uint64_t> next_;
  alignas(64) std::atomic<uint64_t> acknowledged_;
  alignas(64) std::atomic<uint32_t> versions_{0};
};

}  // namespace weft::bench
