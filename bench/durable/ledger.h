// bench/durable/ledger.h: what was written to a store, so that every byte of it can be checked.
//
// Keys are drawn from a seed. So a pass is remembered by a few numbers, and the check of the store
// replays it: the timed loops keep no books. Each of several writers has its own share of the keys:
// those of its number modulo the writers. So the last version of every key is known, whoever was
// faster.
//
// Threads   IdStream: one. Ledger: one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "bench/store/store.h"
#include "bench/workload/record.h"

namespace weft::bench {

inline constexpr uint32_t kDurableKeyBytes = 16;

// Of the durable benchmarks: neighbouring numbers are neighbouring keys.
inline RecordFormat DurableRecords(uint32_t value_bytes) {
  return RecordFormat::OfSizes(kDurableKeyBytes, value_bytes, true);
}

// One pass of writes. The i-th of writer w has version first_version + i * writers + w.
struct WritePass {
  bool ordered = false;  // 0, 1, 2, ...; otherwise uniformly drawn
  uint64_t keys = 0;     // drawn from [0, keys)
  uint64_t writes = 0;   // of each writer
  uint32_t writers = 1;
  uint64_t seed = 0;
  uint32_t first_version = 0;  // set by Ledger::Begin
  bool sync = false;
};

// The keys of one writer of a pass.
class IdStream {
 public:
  IdStream(const WritePass& pass, uint32_t writer)
      : ordered_(pass.ordered),
        share_(pass.keys / pass.writers),
        writers_(pass.writers),
        writer_(writer),
        random_(pass.seed * 1024 + writer) {}

  uint32_t Next() {
    const uint64_t drawn = ordered_ ? next_++ % share_ : random_.Below(share_);
    return static_cast<uint32_t>(drawn * writers_ + writer_);
  }

 private:
  const bool ordered_;
  const uint64_t share_;
  const uint64_t writers_;
  const uint64_t writer_;
  uint64_t next_ = 0;
  base::Random random_;
};

// Reads the whole store in order, and a sample by key. kCorruption: a byte is not that of the
// record's last version. `last`: of each record its version + 1, or 0: it is not there.
Status CheckRecords(Store* store, const RecordFormat& records, const std::vector<uint32_t>& last);

class Ledger {
 public:
  explicit Ledger(uint64_t keys) : keys_(keys) {}

  uint64_t keys() const { return keys_; }
  bool empty() const { return passes_.empty(); }
  // Gives the pass its versions. It counts once it has ended.
  void Begin(WritePass* pass) { pass->first_version = next_version_; }
  void End(const WritePass& pass);
  // Distinct keys in the store.
  uint64_t DistinctKeys() const;
  Status Check(Store* store, const RecordFormat& records) const {
    return CheckRecords(store, records, LastVersions());
  }

 private:
  // Version + 1 of every key; 0: not there.
  std::vector<uint32_t> LastVersions() const;

  const uint64_t keys_;
  std::vector<WritePass> passes_;
  uint32_t next_version_ = 0;
};

}  // namespace weft::bench
