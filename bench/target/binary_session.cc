#include "bench/target/binary_session.h"

#include <endian.h>

#include <algorithm>
#include <cstring>

#include "bench/target/take_answers.h"

namespace weft::bench {
namespace {

// The header of requests and answers; numbers as they travel.
struct Header {
  uint8_t magic;
  uint8_t opcode;
  uint16_t key_bytes;
  uint8_t extra_bytes;
  uint8_t data_type;
  uint16_t status;  // of a request: the bucket
  uint32_t body_bytes;
  uint32_t number;  // comes back as it was sent
  uint64_t version;
};
constexpr size_t kHeaderBytes = sizeof(Header);
static_assert(kHeaderBytes == 24);

constexpr uint8_t kRequest = 0x80;
constexpr uint8_t kAnswer = 0x81;
constexpr size_t kFlagsBytes = 4;
constexpr size_t kSetExtraBytes = 8;                 // flags, time to live
constexpr uint32_t kTtlSecondsMax = 30 * 24 * 3600;  // more would be a date to memcached
constexpr uint32_t kBodyBytesMax = kRecordValueBytesMax + 1024;

// Statuses
constexpr uint16_t kOk = 0x00;
constexpr uint16_t kNotFound = 0x01;
constexpr uint16_t kRefusals[] = {0x03, 0x05, 0x82, 0x85, 0x86};

char* PutHeader(char* at, uint8_t opcode, size_t key_bytes, size_t extra_bytes, size_t value_bytes,
                uint32_t number) {
  Header header{};
  header.magic = kRequest;
  header.opcode = opcode;
  header.key_bytes = htobe16(static_cast<uint16_t>(key_bytes));
  header.extra_bytes = static_cast<uint8_t>(extra_bytes);
  header.body_bytes = htobe32(static_cast<uint32_t>(extra_bytes + key_bytes + value_bytes));
  header.number = number;
  std::memcpy(at, &header, kHeaderBytes);
  return at + kHeaderBytes;
}

// REQUIRES: bytes.size() >= kHeaderBytes
Header HeaderOf(std::string_view bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), kHeaderBytes);
  return header;
}

}  // namespace

BinarySession::Due& BinarySession::AddDue(Opcode opcode, const Operation& operation) {
  Due& due = due_.Push();
  due.tag = operation.tag;
  due.record = operation.record;
  due.version = operation.version;
  due.version_read = 0;
  due.number = requests_++;
  due.opcode = opcode;
  due.kind = operation.kind;
  return due;
}

Status BinarySession::Submit(std::span<const Operation> operations) {
  if (!faults_.broken().ok()) return faults_.broken();
  for (const Operation& operation : operations)
    if (operation.kind == OperationKind::kScan)
      return Status(Code::kUnsupported, "memcached's protocol has no scans");
  for (const Operation& operation : operations) Append(operation);
  const Status status = stream_->Flush();
  if (!status.ok()) faults_.Break(status);
  return status;
}

void BinarySession::Append(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kRead:
    case OperationKind::kReadModifyWrite: return AppendKey(Opcode::kGet, operation);
    case OperationKind::kDelete: return AppendKey(Opcode::kDelete, operation);
    default: return AppendSet(operation, 0);
  }
}

void BinarySession::AppendKey(Opcode opcode, const Operation& operation) {
  const Due& due = AddDue(opcode, operation);
  const size_t key_bytes = format_.KeyBytes(due.record);
  char* const start = stream_->Text(kHeaderBytes + kRecordKeyBytesMax);
  char* const key = PutHeader(start, static_cast<uint8_t>(opcode), key_bytes, 0, 0, due.number);
  format_.WriteKey(due.record, key);
  stream_->Wrote(kHeaderBytes + key_bytes);
}

void BinarySession::AppendSet(const Operation& operation, uint32_t version_read) {
  Due& due = AddDue(Opcode::kSet, operation);
  due.version_read = version_read;
  const std::string_view body = format_.Body(due.record, due.version);
  const size_t key_bytes = format_.KeyBytes(due.record);
  char* const start =
      stream_->Text(kHeaderBytes + kSetExtraBytes + kRecordKeyBytesMax + kRecordValueBytesMin);
  char* at = PutHeader(start, static_cast<uint8_t>(Opcode::kSet), key_bytes, kSetExtraBytes,
                       kRecordValueBytesMin + body.size(), due.number);
  const uint32_t extras[] = {0, htobe32(std::min(operation.ttl_s, kTtlSecondsMax))};
  static_assert(sizeof extras == kSetExtraBytes);
  std::memcpy(at, extras, kSetExtraBytes);
  at += kSetExtraBytes;
  at += format_.WriteKey(due.record, at).size();
  RecordFormat::WriteHead(due.record, due.version, at);
  stream_->Wrote(static_cast<size_t>(at + kRecordValueBytesMin - start));
  stream_->Body(body);
}

Status BinarySession::Take(std::vector<Outcome>* outcomes) {
  outcomes_ = outcomes;
  return TakeAnswers(stream_.get(), &faults_, whole_,
                     [this](std::string_view bytes) { return TakeAnswer(bytes); });
}

size_t BinarySession::TakeAnswer(std::string_view bytes) {
  whole_ = 0;
  if (bytes.empty() || !faults_.broken().ok()) return 0;
  if (due_.empty()) return Break("unexpected bytes", bytes);
  if (static_cast<uint8_t>(bytes[0]) != kAnswer) return Break("no binary answer", bytes);
  if (bytes.size() < kHeaderBytes) return 0;
  const Header header = HeaderOf(bytes);
  const Due& due = due_.front();
  if (header.opcode != static_cast<uint8_t>(due.opcode) || header.number != due.number)
    return Break("an answer to another request", bytes);
  const size_t body_bytes = be32toh(header.body_bytes);
  if (body_bytes > kBodyBytesMax || header.extra_bytes + be16toh(header.key_bytes) > body_bytes)
    return Break("an answer whose lengths cannot be", bytes);
  const size_t all = kHeaderBytes + body_bytes;
  if (bytes.size() < all) {
    whole_ = all;
    return 0;
  }
  Finish(OutcomeOf(bytes.substr(0, all)));
  return all;
}

OutcomeKind BinarySession::OutcomeOf(std::string_view answer) {
  const Header header = HeaderOf(answer);
  const uint16_t status = be16toh(header.status);
  const Opcode opcode = due_.front().opcode;
  if (status == kOk && opcode == Opcode::kGet) return CheckValue(answer);
  if (status == kOk && answer.size() == kHeaderBytes && header.data_type == 0)
    return OutcomeKind::kDone;
  if (status == kNotFound && opcode != Opcode::kSet) return OutcomeKind::kMissing;
  if (std::find(std::begin(kRefusals), std::end(kRefusals), status) != std::end(kRefusals))
    return OutcomeKind::kRefused;
  faults_.Note("an answer that cannot be", answer);
  return OutcomeKind::kWrong;
}

OutcomeKind BinarySession::CheckValue(std::string_view answer) {
  const Header header = HeaderOf(answer);
  Due& due = due_.front();
  if (header.key_bytes != 0 || header.extra_bytes != kFlagsBytes || header.data_type != 0) {
    faults_.Note("not the answer to a get", answer);
    return OutcomeKind::kWrong;
  }
  uint32_t flags;
  std::memcpy(&flags, answer.data() + kHeaderBytes, kFlagsBytes);
  if (flags != 0) {
    faults_.Note("flags that were never set", answer);
    return OutcomeKind::kWrong;
  }
  const std::string_view value = answer.substr(kHeaderBytes + kFlagsBytes);
  uint32_t version;
  if (!format_.Verify(due.record, value, &version)) {
    faults_.Note("a value that was not written for its key", answer);
    return OutcomeKind::kWrong;
  }
  due.version_read = version;
  return OutcomeKind::kDone;
}

size_t BinarySession::Break(std::string_view why, std::string_view bytes) {
  if (!due_.empty()) Finish(OutcomeKind::kWrong);
  faults_.Break(why, bytes);
  return 0;
}

void BinarySession::Finish(OutcomeKind outcome) {
  const Due due = due_.front();
  due_.Pop();
  if (due.kind == OperationKind::kReadModifyWrite && due.opcode == Opcode::kGet &&
      outcome == OutcomeKind::kDone)
    return AppendSet({due.kind, 0, due.version, due.record, due.tag}, due.version_read);
  const bool reads =
      due.kind == OperationKind::kRead || due.kind == OperationKind::kReadModifyWrite;
  Outcome& ended = outcomes_->emplace_back();
  ended.tag = due.tag;
  ended.kind = due.kind;
  ended.outcome = outcome;
  ended.records = reads && outcome == OutcomeKind::kDone ? 1u : 0u;
  ended.version = due.version_read;
}

}  // namespace weft::bench
