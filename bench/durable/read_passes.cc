// Passes that only read (bench/durable/passes.h).
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/durable/passes.h"

namespace weft::bench {
namespace {

// Counts operations and time from construction to Done.
class Stopwatch {
 public:
  Stopwatch() : start_(base::NowNs()) {}
  PassResult Done(uint64_t operations, uint64_t found) const {
    PassResult result;
    result.seconds = static_cast<double>(base::NowNs() - start_) * 1e-9;
    result.operations = operations;
    result.found = found;
    result.figure = static_cast<double>(operations) / result.seconds;
    return result;
  }

 private:
  const uint64_t start_;
};

Result<PassResult> UnlessWrong(PassResult result, const Status& status, bool right) {
  if (!status.ok()) return status;
  if (!right) return Status(Code::kCorruption, "a lookup returned another key's value");
  return result;
}

Result<PassResult> Scan(const PassInput& input, bool forward) {
  const uint64_t expected = input.ledger->DistinctKeys();
  const Stopwatch watch;
  const auto cursor = input.store->NewCursor();
  uint64_t entries = 0, bytes = 0;
  if (forward) {
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++entries)
      bytes += cursor->Key().size() + cursor->Value().size();
  } else {
    for (cursor->SeekToLast(); cursor->Valid(); cursor->Prev(), ++entries)
      bytes += cursor->Key().size() + cursor->Value().size();
  }
  PassResult result = watch.Done(entries, entries);
  if (const Status status = cursor->status(); !status.ok()) return status;
  if (entries != expected ||
      bytes != entries * (kDurableKeyBytes + input.records->value_bytes_max()))
    return Status(Code::kCorruption,
                  fmt::format("a scan returned {} of {} entries", entries, expected));
  result.more = {{"mib_per_s", static_cast<double>(bytes) / (1 << 20) / result.seconds}};
  return result;
}

}  // namespace

Result<PassResult> GetRandom(const PassInput& input) {
  const auto reader = input.store->NewReader();
  base::Random random(input.seed + 3);
  uint64_t found = 0;
  bool right = true;
  const Stopwatch watch;
  for (uint64_t i = 0; i < input.reads; ++i) {
    const auto id = static_cast<uint32_t>(random.Below(input.ledger->keys()));
    const Answer answer = reader->Get(RecordKey(*input.records, id));
    found += answer.found;
    right &= !answer.found || input.records->VersionOf(id, answer.value).has_value();
  }
  return UnlessWrong(watch.Done(input.reads, found), reader->status(), right);
}

Result<PassResult> GetMissing(const PassInput& input) {
  const auto reader = input.store->NewReader();
  base::Random random(input.seed + 4);
  uint64_t found = 0;
  char key[kDurableKeyBytes + 1];
  key[kDurableKeyBytes] = '.';
  const Stopwatch watch;
  for (uint64_t i = 0; i < input.reads; ++i) {
    input.records->WriteKey(random.Below(input.ledger->keys()), key);
    found += reader->Get(std::string_view(key, sizeof key)).found;
  }
  return UnlessWrong(watch.Done(input.reads, found), reader->status(), found == 0);
}

Result<PassResult> MultiGetRandom(const PassInput& input) {
  const auto reader = input.store->NewReader();
  base::Random random(input.seed + 5);
  std::array<uint32_t, kDurableBatch> ids;
  std::array<char[kDurableKeyBytes], kDurableBatch> bytes;
  std::array<std::string_view, kDurableBatch> keys;
  std::array<Answer, kDurableBatch> answers;
  for (size_t i = 0; i < kDurableBatch; ++i) keys[i] = {bytes[i], kDurableKeyBytes};
  uint64_t found = 0;
  bool right = true;
  const uint64_t batches = input.reads / kDurableBatch;
  const Stopwatch watch;
  for (uint64_t batch = 0; batch < batches; ++batch) {
    for (size_t i = 0; i < kDurableBatch; ++i) {
      ids[i] = static_cast<uint32_t>(random.Below(input.ledger->keys()));
      input.records->WriteKey(ids[i], bytes[i]);
    }
    reader->MultiGet(keys, answers);
    for (size_t i = 0; i < kDurableBatch; ++i) {
      found += answers[i].found;
      right &= !answers[i].found || input.records->VersionOf(ids[i], answers[i].value).has_value();
    }
  }
  return UnlessWrong(watch.Done(batches * kDurableBatch, found), reader->status(), right);
}

Result<PassResult> SeekRandom(const PassInput& input) {
  base::Random random(input.seed + 6);
  uint64_t found = 0;
  const uint64_t seeks = input.reads / 4;
  Status status;
  const Stopwatch watch;
  for (uint64_t i = 0; i < seeks && status.ok(); ++i) {
    const RecordKey key(*input.records, random.Below(input.ledger->keys()));
    const auto cursor = input.store->NewCursor();
    cursor->Seek(key);
    if (cursor->Valid()) {
      found += cursor->Key() == std::string_view(key);
    } else {
      status = cursor->status();
    }
  }
  return UnlessWrong(watch.Done(seeks, found), status, true);
}

Result<PassResult> ScanForward(const PassInput& input) { return Scan(input, true); }

Result<PassResult> ScanBackward(const PassInput& input) { return Scan(input, false); }

}  // namespace weft::bench
