#include "bench/target/durable_session.h"

#include <algorithm>

namespace weft::bench {

DurableSession::DurableSession(Store* store, const RecordFormat& format, bool sync,
                               std::function<void(DurableSession*)> ends)
    : store_(store),
      format_(format),
      sync_(sync),
      ends_(std::move(ends)),
      reader_(store->NewReader()),
      key_room_(Reader::kMultiGetMax * kRecordKeyBytesMax),
      value_room_(format.value_bytes_max()),
      keys_(Reader::kMultiGetMax),
      answers_(Reader::kMultiGetMax) {}

void DurableSession::Use(Store* store) {
  store_ = store;
  reader_ = store->NewReader();
}

Status DurableSession::Submit(std::span<const Operation> operations) {
  Status status;
  for (size_t at = 0; at < operations.size() && status.ok();) {
    const Operation& operation = operations[at];
    switch (operation.kind) {
      case OperationKind::kRead:
        at += Read(operations.subspan(at));
        status = reader_->status();
        continue;
      case OperationKind::kUpdate:
      case OperationKind::kInsert:
        status = Write(operation);
        outcomes_.push_back({operation.tag, operation.kind, OutcomeKind::kDone, 0, 0});
        break;
      case OperationKind::kReadModifyWrite: status = ReadModifyWrite(operation); break;
      case OperationKind::kDelete:
        status = store_->Delete(format_.WriteKey(operation.record, key_room_.data()), sync_);
        outcomes_.push_back({operation.tag, operation.kind, OutcomeKind::kDone, 0, 0});
        break;
      case OperationKind::kScan: status = Scan(operation); break;
    }
    ++at;
  }
  return status;
}

Status DurableSession::Take(std::vector<Outcome>* outcomes) {
  outcomes->insert(outcomes->end(), outcomes_.begin(), outcomes_.end());
  outcomes_.clear();
  return Status::Ok();
}

// As many of the reads at the front as are one MultiGet.
size_t DurableSession::Read(std::span<const Operation> operations) {
  const size_t most = std::min(operations.size(), Reader::kMultiGetMax);
  size_t count = 0;
  for (; count < most && operations[count].kind == operations[0].kind; ++count)
    keys_[count] =
        format_.WriteKey(operations[count].record, key_room_.data() + count * kRecordKeyBytesMax);
  if (count == 1) {
    answers_[0] = reader_->Get(keys_[0]);
  } else {
    reader_->MultiGet({keys_.data(), count}, {answers_.data(), count});
  }
  if (!reader_->status().ok()) return count;
  for (size_t i = 0; i < count; ++i) outcomes_.push_back(OutcomeOf(operations[i], answers_[i]));
  return count;
}

std::optional<uint32_t> DurableSession::Check(uint64_t record, std::string_view value) {
  const auto version = format_.Verify(record, value);
  if (!version) faults_.Note("a value that was not written for its key", value);
  return version;
}

Outcome DurableSession::OutcomeOf(const Operation& operation, const Answer& answer) {
  if (!answer.found) return {operation.tag, operation.kind, OutcomeKind::kMissing, 0, 0};
  const auto version = Check(operation.record, answer.value);
  if (!version) return {operation.tag, operation.kind, OutcomeKind::kWrong, 0, 0};
  return {operation.tag, operation.kind, OutcomeKind::kDone, 1, *version};
}

Status DurableSession::ReadModifyWrite(const Operation& operation) {
  Read({&operation, 1});
  if (!reader_->status().ok()) return reader_->status();
  if (outcomes_.back().outcome != OutcomeKind::kDone) return Status::Ok();
  return Write(operation);
}

Status DurableSession::Write(const Operation& operation) {
  const std::string_view key = format_.WriteKey(operation.record, key_room_.data());
  const uint32_t bytes = format_.ValueBytes(operation.record, operation.version);
  format_.WriteValue(operation.record, operation.version, value_room_.data());
  // Relaxed: see user_bytes_written; only this thread writes it.
  user_bytes_written_.store(user_bytes_written() + key.size() + bytes, std::memory_order_relaxed);
  return store_->Put(key, {value_room_.data(), bytes}, sync_);
}

Status DurableSession::Scan(const Operation& operation) {
  const std::unique_ptr<Cursor> cursor = store_->NewCursor();
  cursor->Seek(format_.WriteKey(operation.record, key_room_.data()));
  const Outcome outcome = ScanFrom(cursor.get(), operation);
  const Status status = cursor->status();
  if (status.ok()) outcomes_.push_back(outcome);
  return status;
}

Outcome DurableSession::ScanFrom(Cursor* cursor, const Operation& operation) {
  Outcome outcome{operation.tag, operation.kind, OutcomeKind::kDone, 0, 0};
  last_key_ = format_.WriteKey(operation.record, key_room_.data());
  for (; outcome.records < operation.scan_length && cursor->Valid(); cursor->Next()) {
    const std::string_view key = cursor->Key();
    const bool ascends = outcome.records == 0 ? key >= last_key_ : key > last_key_;
    const auto record = format_.RecordOf(key);
    if (!ascends) faults_.Note("keys out of order", key);
    if (!record) faults_.Note("a key that belongs to no record", key);
    if (!ascends || !record || !Check(*record, cursor->Value())) {
      outcome.outcome = OutcomeKind::kWrong;
      break;
    }
    last_key_ = key;
    ++outcome.records;
  }
  return outcome;
}

}  // namespace weft::bench
