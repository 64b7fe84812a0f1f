// bench/workload/operation_stream.h: the operations of a mix, one after another, for one thread of
// several that share a RecordSpace.
//
// A stream draws kinds by their shares, and records by the mix's keys, of those whose inserts are
// acknowledged; inserts are of new records. Each write has a version that no other has
// (record_space.h). Whoever carries an operation out reports its outcome to the stream, so that an
// insert is known to be there, or not:
//
//     while (stream.Next(&operation)) {
//       ... carry it out ...
//       stream.Settle(operation, outcome);
//     }
//
// Same mix, seed, thread and acknowledged records: same kinds, records and lengths.
//
// Threads   one each; the space is shared.
// Errors    a mix with a fault (mix.h) is a bug of the caller.
// Cost      some 30 ns for scrambled-zipf (cost/operation_stream_bench.cc measures it).
#pragma once

#include <array>
#include <cstdint>

#include "base/random.h"
#include "bench/workload/key_chooser.h"
#include "bench/workload/mix.h"
#include "bench/workload/operation.h"
#include "bench/workload/record_space.h"

namespace weft::bench {

class OperationStream {
 public:
  // `space` must outlive the stream. Unless the mix only inserts, it has records.
  OperationStream(const OperationMix& mix, RecordSpace* space, uint64_t seed, uint32_t thread = 0,
                  uint32_t threads = 1);
  // Inserts that were claimed and not handed out never come: their records may be missing.
  ~OperationStream();
  OperationStream(const OperationStream&) = delete;
  OperationStream& operator=(const OperationStream&) = delete;

  // False: there is no more, because all records of a fill are claimed. Its tag is 0.
  bool Next(Operation* operation);
  // Call it once for each operation, whatever became of it, from the stream's thread. An operation
  // that was never answered is kRefused.
  void Settle(OperationKind kind, uint64_t record, OutcomeKind outcome) {
    if (kind == OperationKind::kInsert) space_.Settle(record, outcome == OutcomeKind::kDone);
  }
  void Settle(const Operation& operation, OutcomeKind outcome) {
    Settle(operation.kind, operation.record, outcome);
  }
  // Was the store right to find none? Yes if the record was deleted, or its insert refused.
  bool MissingByRight(uint64_t record) const { return space_.MayBeMissing(record); }

 private:
  OperationKind NextKind();
  bool NextInsert(uint64_t* record);
  uint32_t NextVersion();

  RecordSpace& space_;
  const SizeDistribution scan_length_;
  std::array<uint64_t, kOperationKinds> below_{};  // words below it are of that kind or one before
  int kinds_ = 0;                                  // up to the last that has a share
  const uint64_t insert_end_;
  const uint64_t insert_claim_;  // how many at once
  KeyChooser chooser_;
  base::Random random_;
  RecordSpace::Range inserts_;
  uint32_t version_ = 0;
  uint32_t versions_left_ = 0;
};

}  // namespace weft::bench
