#include "bench/workload/operation_stream.h"

#include <algorithm>

#include "base/check.h"

namespace weft::bench {
namespace {

// Claims of versions are so rare that threads don't meet.
constexpr uint32_t kVersionClaim = 4096;
// Nobody waits for a fill's records to be acknowledged, so a thread takes many. In other mixes one
// that is claimed and not yet stored would keep those behind it from being read.
constexpr uint64_t kFillClaim = 256;

uint64_t StartOf(const OperationMix& mix, const RecordSpace& space) {
  return std::max(uint64_t{1}, std::min(mix.records, space.acknowledged()));
}

}  // namespace

OperationStream::OperationStream(const OperationMix& mix, RecordSpace* space, uint64_t seed,
                                 uint32_t thread, uint32_t threads)
    : space_(*space),
      scan_length_(mix.scan_length),
      insert_end_(mix.fills ? mix.records : kRecordsMax),
      insert_claim_(mix.ShareOf(OperationKind::kInsert) == 1 ? kFillClaim : 1),
      chooser_(mix.keys, StartOf(mix, *space), thread, threads),
      random_(base::Mix(seed) + thread) {
  WEFT_CHECK(!FaultOf(mix));
  WEFT_CHECK(mix.ShareOf(OperationKind::kInsert) == 1 || space->acknowledged() > 0);
  double before = 0;
  for (int i = 0; i < kOperationKinds; ++i) {
    const double share = mix.shares[static_cast<size_t>(i)];
    before += share;
    below_[static_cast<size_t>(i)] =
        static_cast<uint64_t>(std::min(before * 0x1p64, 0x1.fffffffffffffp63));
    if (share > 0) kinds_ = i + 1;
  }
}

OperationStream::~OperationStream() {
  for (; inserts_.begin < inserts_.end; ++inserts_.begin) space_.Settle(inserts_.begin, false);
}

OperationKind OperationStream::NextKind() {
  const uint64_t word = random_.Next();
  int kind = 0;
  while (kind + 1 < kinds_ && word >= below_[static_cast<size_t>(kind)]) ++kind;
  return static_cast<OperationKind>(kind);
}

bool OperationStream::NextInsert(uint64_t* record) {
  if (inserts_.begin == inserts_.end) inserts_ = space_.Claim(insert_claim_, insert_end_);
  if (inserts_.begin == inserts_.end) return false;
  *record = inserts_.begin++;
  return true;
}

uint32_t OperationStream::NextVersion() {
  if (versions_left_ == 0) {
    version_ = space_.ClaimVersions(kVersionClaim);
    versions_left_ = kVersionClaim;
  }
  --versions_left_;
  return version_++;
}

bool OperationStream::Next(Operation* operation) {
  *operation = {};
  operation->kind = NextKind();
  if (operation->kind == OperationKind::kInsert) {
    operation->version = NextVersion();
    return NextInsert(&operation->record);
  }
  operation->record = chooser_.Next(space_.acknowledged(), random_);
  switch (operation->kind) {
    case OperationKind::kUpdate:
    case OperationKind::kReadModifyWrite: operation->version = NextVersion(); break;
    case OperationKind::kScan: operation->scan_length = scan_length_.Of(random_.Next()); break;
    case OperationKind::kDelete: space_.MarkDeleted(operation->record); break;
    default: break;
  }
  return true;
}

}  // namespace weft::bench
