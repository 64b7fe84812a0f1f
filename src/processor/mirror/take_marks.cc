#include "processor/mirror/take_marks.h"

#include <atomic>

namespace weft::processor {
namespace {

// What stood there. Most words are clear, and a look costs less than an exchange.
uint32_t Take(uint32_t* word) {
  const std::atomic_ref<uint32_t> shared(*word);
  if (shared.load(std::memory_order_seq_cst) == 0) return 0;
  return shared.exchange(0, std::memory_order_seq_cst);
}

}  // namespace

bool TakeMarks(const task::IndexRef& index, size_t enough, std::vector<uint64_t>* numbers) {
  static_assert(kTakenAtOnce == 32 * kMarkLineBuckets);
  uint32_t* const summary = task::MarkSummary(index);
  const uint64_t lines = task::MarkLines(index.older.bucket_count);
  const size_t before = numbers->size();
  // Some lines first, each asked for, and then what is in them.
  constexpr size_t kLines = 64, kAhead = 16;
  std::vector<uint64_t> marked;
  for (uint64_t s = 0; s * 32 < lines;) {
    const size_t taken = numbers->size() - before;
    if (taken >= enough) return false;
    // A word of the summary at least, which may have so many marks: no more than kTakenAtOnce.
    marked.clear();
    for (; s * 32 < lines && marked.size() < kLines &&
           marked.size() * kMarkLineBuckets < enough - taken;
         s++) {
      for (uint32_t bits = Take(&summary[s]); bits != 0; bits &= bits - 1)
        marked.push_back((s * 32 + task::LowestBit64(bits)) * kMarkLineWords);
    }
    for (size_t n = 0; n < marked.size(); n++) {
      if (n + kAhead < marked.size()) task::Prefetch(&index.marks[marked[n + kAhead]]);
      for (uint64_t i = marked[n]; i < marked[n] + kMarkLineWords; i++) {
        for (uint32_t marks = Take(&index.marks[i]); marks != 0; marks &= marks - 1)
          numbers->push_back(i * 32 + task::LowestBit64(marks));
      }
    }
  }
  return true;
}

}  // namespace weft::processor
