#include "bench/workload/record_space.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "bench/workload/record.h"

namespace weft::bench {

RecordSet::RecordSet() : pieces_(kRecordsMax / kPieceRecords) {}

RecordSet::~RecordSet() {
  for (std::atomic<Piece*>& piece : pieces_) std::unique_ptr<Piece>(piece.load());
}

void RecordSet::Add(uint64_t record) {
  WEFT_CHECK(record < kRecordsMax);
  std::atomic<Piece*>& piece = pieces_[record / kPieceRecords];
  Piece* is = piece.load();
  if (is == nullptr) {
    auto made = std::make_unique<Piece>();
    // Of several threads that come first, one's is taken.
    if (piece.compare_exchange_strong(is, made.get())) is = made.release();
  }
  is->words[record % kPieceRecords / 64].fetch_or(uint64_t{1} << record % 64);
}

uint64_t RecordSet::FirstNotIn(uint64_t record) const {
  while (record < kRecordsMax) {
    const std::atomic<uint64_t>* word = WordOf(record);
    if (word == nullptr) return record;
    const uint64_t from_here = word->load() >> record % 64;
    const int in = std::countr_one(from_here);
    if (static_cast<uint64_t>(in) < 64 - record % 64) return record + static_cast<uint64_t>(in);
    record += 64 - record % 64;
  }
  return kRecordsMax;
}

RecordSpace::Range RecordSpace::Claim(uint64_t count, uint64_t end) {
  WEFT_CHECK(end <= kRecordsMax);
  uint64_t begin = next_.load();
  uint64_t claimed;
  do {
    claimed = begin < end ? std::min(count, end - begin) : 0;
    if (claimed == 0) return {};
  } while (!next_.compare_exchange_weak(begin, begin + claimed));
  return {begin, begin + claimed};
}

void RecordSpace::Settle(uint64_t record, bool stored) {
  if (!stored) MarkDeleted(record);
  settled_.Add(record);
  Advance();
}

void RecordSpace::Advance() {
  // Of two that settle neighbours at once, the later one sees the other's mark: both write theirs
  // before they look, in one order that all agree on.
  uint64_t was = acknowledged_.load();
  for (;;) {
    const uint64_t now = settled_.FirstNotIn(was);
    if (now == was) return;
    if (acknowledged_.compare_exchange_weak(was, now)) was = now;
  }
}

void RecordSpace::MarkDeleted(uint64_t record) {
  missing_.Add(record);
  any_missing_.store(true);
}

}  // namespace weft::bench
