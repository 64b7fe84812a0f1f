#include "bench/target/memcached_session.h"

#include <algorithm>
#include <charconv>

#include "bench/target/take_answers.h"

namespace weft::bench {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kEnd = "END\r\n";
constexpr std::string_view kValue = "VALUE ";
constexpr std::string_view kFlags = " 0 ";  // as our sets have them
constexpr size_t kWordBytes = sizeof(uint64_t);
constexpr size_t kLineBytesMax = 2048;
constexpr size_t kNumbersBytesMax = 32;              // " 0 2592000 1048576\r\n"
constexpr uint32_t kTtlSecondsMax = 30 * 24 * 3600;  // more would be a date to memcached

// The decimal number at the front of `*text`, which loses it; false where there is none.
bool EatNumber(std::string_view* text, uint64_t* number) {
  const char* end = text->data() + text->size();
  const auto [at, failure] = std::from_chars(text->data(), end, *number);
  if (failure != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(at - text->data()));
  return true;
}

}  // namespace

MemcachedSession::Due& MemcachedSession::AddDue(Step step, const Operation& operation) {
  Due& due = due_.Push();
  due.tag = operation.tag;
  due.record = operation.record;
  due.version = operation.version;
  due.version_read = 0;
  due.step = step;
  due.kind = operation.kind;
  due.ends = true;
  due.valued = false;
  return due;
}

Status MemcachedSession::Submit(std::span<const Operation> operations) {
  if (!faults_.broken().ok()) return faults_.broken();
  for (const Operation& operation : operations)
    if (operation.kind == OperationKind::kScan)
      return Status(Code::kUnsupported, "memcached's protocol has no scans");
  for (size_t at = 0; at < operations.size();) {
    if (operations[at].kind == OperationKind::kRead) {
      at += AppendGets(operations.subspan(at));
    } else {
      Append(operations[at++]);
    }
  }
  const Status status = stream_->Flush();
  if (!status.ok()) faults_.Break(status);
  return status;
}

// As many of the reads at the front as are one request.
size_t MemcachedSession::AppendGets(std::span<const Operation> operations) {
  const size_t most = multi_get_ ? std::min(operations.size(), kMultiGetMax) : 1;
  char* const start = stream_->Text(3 + most * (1 + kRecordKeyBytesMax) + kLineEnd.size());
  char* at = Put(start, "get");
  size_t count = 0;
  for (; count < most && operations[count].kind == operations[0].kind; ++count) {
    Due& due = AddDue(Step::kGet, operations[count]);
    *at = ' ';
    const std::string_view key = format_.WriteKey(due.record, at + 1);
    due.ends = false;
    at += 1 + key.size();
  }
  due_.back().ends = true;
  stream_->Wrote(static_cast<size_t>(Put(at, kLineEnd) - start));
  return count;
}

void MemcachedSession::Append(const Operation& operation) {
  if (operation.kind == OperationKind::kReadModifyWrite) {
    AppendGets({&operation, 1});
  } else if (operation.kind == OperationKind::kDelete) {
    AddDue(Step::kDelete, operation);
    char* const start = stream_->Text(7 + kRecordKeyBytesMax + kLineEnd.size());
    char* at = Put(start, "delete ");
    at += format_.WriteKey(operation.record, at).size();
    stream_->Wrote(static_cast<size_t>(Put(at, kLineEnd) - start));
  } else {
    AddDue(Step::kSet, operation);
    AppendSet(operation.record, operation.version, operation.ttl_s);
  }
}

void MemcachedSession::AppendSet(uint64_t record, uint32_t version, uint32_t ttl_s) {
  const std::string_view body = format_.Body(record, version);
  char* const start =
      stream_->Text(4 + kRecordKeyBytesMax + kNumbersBytesMax + kRecordValueBytesMin);
  char* at = Put(start, "set ");
  at += format_.WriteKey(record, at).size();
  at = Put(at, " 0 ");
  at = std::to_chars(at, at + kNumbersBytesMax, std::min(ttl_s, kTtlSecondsMax)).ptr;
  *at++ = ' ';
  at = std::to_chars(at, at + kNumbersBytesMax, body.size() + kRecordValueBytesMin).ptr;
  at = Put(at, kLineEnd);
  RecordFormat::WriteHead(record, version, at);
  stream_->Wrote(static_cast<size_t>(at + kRecordValueBytesMin - start));
  stream_->Body(body);
  Put(stream_->Text(kLineEnd.size()), kLineEnd);
  stream_->Wrote(kLineEnd.size());
}

Status MemcachedSession::Take(std::vector<Outcome>* outcomes) {
  outcomes_ = outcomes;
  return TakeAnswers(stream_.get(), &faults_, whole_,
                     [this](std::string_view bytes) { return TakeAnswer(bytes); });
}

size_t MemcachedSession::TakeAnswer(std::string_view bytes) {
  whole_ = 0;
  if (bytes.empty() || !faults_.broken().ok()) return 0;
  if (due_.empty()) return Break("unexpected bytes", bytes);
  if (const size_t taken = TakeDueValues(bytes)) return taken;
  const void* newline = std::memchr(bytes.data(), '\n', std::min(bytes.size(), kLineBytesMax));
  if (newline == nullptr)
    return bytes.size() < kLineBytesMax ? 0 : Break("a line that does not end", bytes);
  const auto line_bytes = static_cast<size_t>(static_cast<const char*>(newline) - bytes.data()) + 1;
  const std::string_view line = bytes.substr(0, line_bytes);
  if (!line.ends_with(kLineEnd)) return Break("a line that does not end properly", bytes);
  return due_.front().step == Step::kGet ? TakeGet(bytes, line) : TakeSimple(line);
}

// The values that are due next, as far as they are all there and just as they should be. 0: the
// next answer must be looked at more closely. Most values end here, and most are as long as the one
// before: then the processor goes on with the next value while it still checks this one.
size_t MemcachedSession::TakeDueValues(std::string_view bytes) {
  size_t taken = 0;
  while (!due_.empty() && due_.front().step == Step::kGet) {
    Due& due = due_.front();
    const std::string_view rest = bytes.substr(taken);
    const size_t key_bytes = format_.KeyBytes(due.record);
    const size_t numbers = kValue.size() + key_bytes + kFlags.size();
    if (due.valued || rest.size() < numbers + kWordBytes || !rest.starts_with(kValue) ||
        std::memcmp(rest.data() + kValue.size() + key_bytes, kFlags.data(), kFlags.size()) != 0)
      break;
    uint64_t word;
    std::memcpy(&word, rest.data() + numbers, kWordBytes);
    if ((word & length_.mask) != length_.word && !ReadLength(rest.substr(numbers))) break;
    const std::string_view value{rest.data() + numbers + length_.text_bytes, length_.value_bytes};
    const size_t all = numbers + length_.text_bytes + value.size() + kLineEnd.size();
    if (rest.size() < all ||
        std::memcmp(value.data() + value.size(), kLineEnd.data(), kLineEnd.size()) != 0 ||
        !format_.IsKey(due.record, rest.data() + kValue.size()) ||
        !format_.Verify(due.record, value, &due.version_read))
      break;
    due.valued = true;
    due.outcome = OutcomeKind::kDone;
    taken += EndValue(rest, all);
  }
  return taken;
}

// Reads a value's length and the end of its line. False: they are something else, or too long for
// a word.
bool MemcachedSession::ReadLength(std::string_view text) {
  uint32_t value_bytes = 0;
  const auto [at, failure] =
      std::from_chars(text.data(), text.data() + kWordBytes - kLineEnd.size(), value_bytes);
  if (failure != std::errc() || std::memcmp(at, kLineEnd.data(), kLineEnd.size()) != 0)
    return false;
  length_.value_bytes = value_bytes;
  length_.text_bytes = static_cast<size_t>(at - text.data()) + kLineEnd.size();
  length_.mask = ~uint64_t{0} >> 8 * (kWordBytes - length_.text_bytes);
  std::memcpy(&length_.word, text.data(), kWordBytes);
  length_.word &= length_.mask;
  return true;
}

size_t MemcachedSession::TakeGet(std::string_view bytes, std::string_view line) {
  if (line[0] == 'V' && line.starts_with(kValue)) return TakeValue(bytes, line);
  const OutcomeKind outcome = line == kEnd ? OutcomeKind::kMissing : ErrorOf(line);
  FinishRequest(outcome);
  return line.size();
}

// "VALUE <key> <flags> <bytes>[ <version>]\r\n", the value, "\r\n".
size_t MemcachedSession::TakeValue(std::string_view bytes, std::string_view line) {
  const std::string_view words = line.substr(kValue.size());
  const std::string_view key = words.substr(0, words.find(' '));
  std::string_view numbers = words.substr(std::min(key.size() + 1, words.size()));
  uint64_t flags = 0, value_bytes = 0;
  const bool read = EatNumber(&numbers, &flags) && numbers.starts_with(' ') &&
                    (numbers.remove_prefix(1), EatNumber(&numbers, &value_bytes));
  if (!read || value_bytes > kRecordValueBytesMax) return Break("not the line of a value", bytes);
  const size_t all = line.size() + value_bytes + kLineEnd.size();
  if (bytes.size() < all) {
    whole_ = all;
    return 0;
  }
  if (bytes.substr(line.size() + value_bytes, kLineEnd.size()) != kLineEnd)
    return Break("a value that is longer than it says", bytes);
  // Keys that are passed over have no record.
  while (!due_.front().ends && !HasKey(due_.front().record, key)) Finish(OutcomeKind::kMissing);
  if (due_.front().valued) return Break("one value too many", bytes);
  CheckValue(key, flags, bytes.substr(line.size(), value_bytes), line);
  return EndValue(bytes, all);
}

// The value that is due next has come, and is `all` bytes of these.
size_t MemcachedSession::EndValue(std::string_view bytes, size_t all) {
  if (due_.front().ends) {
    if (bytes.size() < all + kEnd.size() ||
        std::memcmp(bytes.data() + all, kEnd.data(), kEnd.size()) != 0)
      return all;
    FinishRequest(OutcomeKind::kMissing);
    return all + kEnd.size();
  }
  Finish(due_.front().outcome);
  return all;
}

void MemcachedSession::CheckValue(std::string_view key, uint64_t flags, std::string_view value,
                                  std::string_view line) {
  Due& due = due_.front();
  due.valued = true;
  due.outcome = OutcomeKind::kWrong;
  if (!HasKey(due.record, key)) return faults_.Note("the value of another key", line);
  if (flags != 0) return faults_.Note("flags that were never set", line);
  const auto version = format_.Verify(due.record, value);
  if (!version) return faults_.Note("a value that was not written for its key", line);
  due.version_read = *version;
  due.outcome = OutcomeKind::kDone;
}

size_t MemcachedSession::TakeSimple(std::string_view line) {
  OutcomeKind outcome = OutcomeKind::kDone;
  if (due_.front().step == Step::kSet) {
    if (line == "NOT_STORED\r\n"sv) {
      outcome = OutcomeKind::kRefused;
    } else if (line != "STORED\r\n"sv) {
      outcome = ErrorOf(line);
    }
  } else if (line == "NOT_FOUND\r\n"sv) {
    outcome = OutcomeKind::kMissing;
  } else if (line != "DELETED\r\n"sv) {
    outcome = ErrorOf(line);
  }
  Finish(outcome);
  return line.size();
}

// What an error line means; any other line belongs to another request, and so will all that follow.
OutcomeKind MemcachedSession::ErrorOf(std::string_view line) {
  if (line.starts_with("SERVER_ERROR"sv)) return OutcomeKind::kRefused;
  if (line == "ERROR\r\n"sv || line.starts_with("CLIENT_ERROR"sv)) {
    faults_.Note("the server did not understand the request", line);
  } else {
    faults_.Break("not an answer to the request", line);
  }
  return OutcomeKind::kWrong;
}

size_t MemcachedSession::Break(std::string_view why, std::string_view bytes) {
  if (!due_.empty()) Finish(OutcomeKind::kWrong);
  faults_.Break(why, bytes);
  return 0;
}

// The answer to a get is over: the keys of it that had no value have `outcome`.
void MemcachedSession::FinishRequest(OutcomeKind outcome) {
  for (bool last = false; !last;) {
    const Due& due = due_.front();
    last = due.ends;
    Finish(due.valued ? due.outcome : outcome);
  }
}

void MemcachedSession::Finish(OutcomeKind outcome) {
  Due& due = due_.front();
  if (due.kind == OperationKind::kReadModifyWrite && due.step == Step::kGet &&
      outcome == OutcomeKind::kDone) {
    const Operation write{due.kind, 0, due.version, due.record, due.tag};
    const uint32_t version_read = due.version_read;
    due_.Pop();  // before the queue moves
    AddDue(Step::kSet, write).version_read = version_read;
    return AppendSet(write.record, write.version, 0);
  }
  const bool reads =
      due.kind == OperationKind::kRead || due.kind == OperationKind::kReadModifyWrite;
  const bool was_read = reads && outcome == OutcomeKind::kDone;
  // Written where it stays: a copy would load by wider words than were stored.
  Outcome& ended = outcomes_->emplace_back();
  ended.tag = due.tag;
  ended.kind = due.kind;
  ended.outcome = outcome;
  ended.records = was_read ? 1u : 0u;
  ended.version = due.version_read;
  due_.Pop();
}

}  // namespace weft::bench
