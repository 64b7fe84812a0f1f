#include "lsm/record_kind.h"

#include <algorithm>

#include "lsm/batch_prefix.h"
#include "lsm/version_edit.h"
#include "lsm/write_batch_internal.h"

namespace weft::lsm {

namespace {

RecordExtent ExtentOfBatch(std::string_view bytes, const std::function<bool(size_t at)>& is_end) {
  BatchPrefix batch(0);
  size_t at = 0;
  while (at < bytes.size() && !batch.IsWhole()) {
    const size_t piece =
        std::min<uint64_t>(std::max<uint64_t>(batch.AnyBytesNext(), 1), bytes.size() - at);
    if (!batch.Feed(bytes.substr(at, piece))) return {at, false};
    at += piece;
  }
  return {at, batch.IsWhole() && is_end(at)};
}

RecordExtent ExtentOfEdit(std::string_view bytes, const std::function<bool(size_t at)>& is_end) {
  std::string_view rest = bytes;
  while (VersionEdit::PassField(&rest)) {
    const size_t at = bytes.size() - rest.size();
    if (is_end(at)) return {at, true};
  }
  return {bytes.size() - rest.size(), false};
}

}  // namespace

std::optional<RecordNumbers> NumbersOf(RecordKind kind, std::string_view record) {
  if (kind == RecordKind::kBatch) {
    if (record.size() < WriteBatchInternal::kHeaderBytes) return std::nullopt;
    if (!WriteBatchInternal::Check(record).ok()) return std::nullopt;
    return NumbersOfHead(kind, record);
  }
  // Whoever writes an edit writes these, but in the first of a manifest.
  VersionEdit edit;
  if (!edit.DecodeFrom(record).ok() || !edit.next_file_number || !edit.last_sequence ||
      !edit.log_number || *edit.next_file_number == 0) {
    return std::nullopt;
  }
  // One that makes no file has the same number as the one before.
  return RecordNumbers{*edit.next_file_number, *edit.next_file_number - 1};
}

std::optional<RecordNumbers> NumbersOfHead(RecordKind kind, std::string_view bytes) {
  if (kind != RecordKind::kBatch || bytes.size() < WriteBatchInternal::kHeaderBytes) {
    return std::nullopt;
  }
  const table::SequenceNumber first = WriteBatchInternal::SequenceOf(bytes);
  const uint32_t count = WriteBatchInternal::CountOf(bytes);
  if (first == 0 || first > table::kSequenceMax - count) return std::nullopt;
  return RecordNumbers{first, first + count - 1};
}

bool MayBegin(RecordKind kind, std::string_view bytes) {
  return kind != RecordKind::kBatch || BatchPrefix(0).Feed(bytes);
}

RecordExtent ExtentOf(RecordKind kind, std::string_view bytes,
                      const std::function<bool(size_t at)>& is_end) {
  if (kind == RecordKind::kBatch) return ExtentOfBatch(bytes, is_end);
  if (kind == RecordKind::kEdit) return ExtentOfEdit(bytes, is_end);
  return {};
}

}  // namespace weft::lsm
