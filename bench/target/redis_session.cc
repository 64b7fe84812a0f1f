#include "bench/target/redis_session.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace weft::bench {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kBulkHeadMax = 16;  // "$1048576\r\n"
constexpr size_t kFeedBytes = 4096;  // hiredis moves what it has left over after every KiB

// "*3\r\n" and "$24\r\n"
char* PutCount(char* at, char kind, size_t count) {
  *at = kind;
  return Put(std::to_chars(at + 1, at + kBulkHeadMax, count).ptr, kLineEnd);
}
char* PutBulk(char* at, std::string_view text) {
  return Put(Put(PutCount(at, '$', text.size()), text), kLineEnd);
}
char* PutKey(char* at, const RecordFormat& format, uint64_t record) {
  at = PutCount(at, '$', format.KeyBytes(record));
  at += format.WriteKey(record, at).size();
  return Put(at, kLineEnd);
}
constexpr size_t kKeyBulkMax = kBulkHeadMax + kRecordKeyBytesMax + 2;

// Errors that say: not now, and nothing was changed.
bool IsRefusal(std::string_view error) {
  for (const std::string_view word : {"OOM"sv, "LOADING"sv, "BUSY"sv, "MISCONF"sv, "READONLY"sv,
                                      "TRYAGAIN"sv, "CLUSTERDOWN"sv, "MASTERDOWN"sv})
    if (error.starts_with(word)) return true;
  return false;
}

}  // namespace

// What hiredis calls while it parses. What they return only says that there was memory.
struct RedisReplies {
  static RedisSession& SessionOf(const redisReadTask* task) {
    return *static_cast<RedisSession*>(task->privdata);
  }
  static void* String(const redisReadTask* task, char* text, size_t bytes) {
    SessionOf(task).OnString(*task, {text, bytes});
    return task->privdata;
  }
  static void* Array(const redisReadTask* task, int elements) {
    SessionOf(task).OnArray(*task, elements);
    return task->privdata;
  }
  static void* Integer(const redisReadTask* task, long long number) {
    SessionOf(task).OnInteger(*task, number);
    return task->privdata;
  }
  static void* Nil(const redisReadTask* task) {
    SessionOf(task).OnNil(*task);
    return task->privdata;
  }
  static void Free(void*) {}

  static redisReplyObjectFunctions* Functions() {
    static redisReplyObjectFunctions functions{String, Array, Integer, Nil, Free};
    return &functions;
  }
};

RedisSession::RedisSession(std::unique_ptr<Stream> stream, const RecordFormat& format,
                           const RedisSessionOptions& options)
    : stream_(std::move(stream)),
      format_(format),
      options_(options),
      reader_(redisReaderCreateWithFunctions(RedisReplies::Functions())) {
  reader_->privdata = this;
  reader_->maxbuf = 0;  // keeps its buffer
}

RedisSession::~RedisSession() { redisReaderFree(reader_); }

RedisSession::Due& RedisSession::AddDue(Step step, const Operation& operation) {
  Due& due = due_.Push();
  due = {step, operation.kind, false, operation.version, 0, 1, operation.record, operation.tag};
  return due;
}

Status RedisSession::Submit(std::span<const Operation> operations) {
  if (!faults_.broken().ok()) return faults_.broken();
  for (size_t at = 0; at < operations.size();) {
    if (operations[at].kind == OperationKind::kRead) {
      at += AppendReads(operations.subspan(at));
    } else {
      Append(operations[at++]);
    }
  }
  const Status status = stream_->Flush();
  if (!status.ok()) faults_.Break(status);
  return status;
}

// As many of the reads at the front as are one command.
size_t RedisSession::AppendReads(std::span<const Operation> operations) {
  size_t count = 1;
  const size_t most = options_.multi_get ? std::min(operations.size(), kMultiGetMax) : 1;
  while (count < most && operations[count].kind == operations[0].kind) ++count;
  if (count == 1) {
    AddDue(Step::kGet, operations[0]);
    char* const start = stream_->Text(16 + kKeyBulkMax);
    char* at = Put(start, "*2\r\n$3\r\nGET\r\n");
    at = PutKey(at, format_, operations[0].record);
    stream_->Wrote(static_cast<size_t>(at - start));
    return 1;
  }
  AddDue(Step::kGetMany, operations[0]).count = static_cast<uint32_t>(count);
  range_.clear();
  for (const Operation& operation : operations.first(count)) {
    named_.Push() = {operation.record, operation.tag};
    range_.push_back(operation.record);
  }
  AppendMget(range_);
  return count;
}

void RedisSession::AppendMget(std::span<const uint64_t> records) {
  char* const start = stream_->Text(2 * kBulkHeadMax + records.size() * kKeyBulkMax);
  char* at = PutBulk(PutCount(start, '*', records.size() + 1), "MGET");
  for (const uint64_t record : records) at = PutKey(at, format_, record);
  stream_->Wrote(static_cast<size_t>(at - start));
}

void RedisSession::Append(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kRead:
    case OperationKind::kReadModifyWrite: AppendReads({&operation, 1}); return;
    case OperationKind::kUpdate: AddDue(Step::kSet, operation); return AppendSet(operation);
    case OperationKind::kInsert:
      AddDue(Step::kSet, operation).goes_on = options_.scans;
      AppendSet(operation);
      if (!options_.scans) return;
      AddDue(Step::kIndexAdd, operation);
      return AppendIndexed("*4\r\n$4\r\nZADD\r\n$10\r\nweft:index\r\n$1\r\n0\r\n",
                           operation.record);
    case OperationKind::kDelete:
      AddDue(Step::kDelete, operation).goes_on = options_.scans;
      AppendIndexed("*2\r\n$3\r\nDEL\r\n", operation.record);
      if (!options_.scans) return;
      AddDue(Step::kIndexRemove, operation);
      return AppendIndexed("*3\r\n$4\r\nZREM\r\n$10\r\nweft:index\r\n", operation.record);
    case OperationKind::kScan:
      AddDue(Step::kRange, operation).count = operation.scan_length;
      return AppendRange(operation);
  }
}

void RedisSession::AppendSet(const Operation& operation) {
  const std::string_view body = format_.Body(operation.record, operation.version);
  char* const start = stream_->Text(16 + kKeyBulkMax + kBulkHeadMax + kRecordValueBytesMin);
  char* at = Put(start, operation.ttl_s == 0 ? "*3\r\n$3\r\nSET\r\n" : "*5\r\n$3\r\nSET\r\n");
  at = PutKey(at, format_, operation.record);
  at = PutCount(at, '$', body.size() + kRecordValueBytesMin);
  RecordFormat::WriteHead(operation.record, operation.version, at);
  stream_->Wrote(static_cast<size_t>(at + kRecordValueBytesMin - start));
  stream_->Body(body);
  char* const rest = stream_->Text(kLineEnd.size() + 8 + 2 * kBulkHeadMax);
  at = Put(rest, kLineEnd);
  if (operation.ttl_s != 0) {
    char seconds[kBulkHeadMax];
    const char* end = std::to_chars(seconds, seconds + sizeof seconds, operation.ttl_s).ptr;
    at = PutBulk(Put(at, "$2\r\nEX\r\n"), {seconds, static_cast<size_t>(end - seconds)});
  }
  stream_->Wrote(static_cast<size_t>(at - rest));
}

// A command whose last word is the record's key.
void RedisSession::AppendIndexed(std::string_view command, uint64_t record) {
  char* const start = stream_->Text(command.size() + kKeyBulkMax);
  stream_->Wrote(static_cast<size_t>(PutKey(Put(start, command), format_, record) - start));
}

void RedisSession::AppendRange(const Operation& operation) {
  char length[kBulkHeadMax];
  const char* end = std::to_chars(length, length + sizeof length, operation.scan_length).ptr;
  char* const start = stream_->Text(128 + kKeyBulkMax);
  char* at = PutBulk(Put(start, "*7\r\n$11\r\nZRANGEBYLEX\r\n"), kRedisIndexKey);
  at = PutCount(at, '$', format_.KeyBytes(operation.record) + 1);
  *at++ = '[';  // from this key on, itself too
  at += format_.WriteKey(operation.record, at).size();
  at = Put(at, "\r\n$1\r\n+\r\n$5\r\nLIMIT\r\n$1\r\n0\r\n");
  at = PutBulk(at, {length, static_cast<size_t>(end - length)});
  stream_->Wrote(static_cast<size_t>(at - start));
}

Status RedisSession::Take(std::vector<Outcome>* outcomes) {
  outcomes_ = outcomes;
  while (faults_.broken().ok()) {
    const Result<bool> more = stream_->Receive();
    if (more && !more.value()) break;
    const Status status = more ? ReadReplies(stream_->bytes()) : more.error();
    if (!status.ok()) faults_.Break(status);
    stream_->Consume(stream_->bytes().size());
  }
  if (faults_.broken().ok() && stream_->wants_to_write()) {
    const Status status = stream_->Flush();
    if (!status.ok()) faults_.Break(status);
  }
  return faults_.broken();
}

Status RedisSession::ReadReplies(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kFeedBytes);
    bytes.remove_prefix(piece.size());
    redisReaderFeed(reader_, piece.data(), piece.size());
    for (void* reply = this; reply != nullptr;) {
      if (redisReaderGetReply(reader_, &reply) != REDIS_OK) {
        if (!due_.empty()) Wrong("not redis' protocol", piece);
        if (!due_.empty()) FinishReply();
        return Status(Code::kCorruption, fmt::format("redis' protocol: {}", reader_->errstr));
      }
      if (reply == nullptr) break;
      if (due_.empty()) return Status(Code::kCorruption, "an unexpected reply");
      FinishReply();
    }
  }
  return Status::Ok();
}

void RedisSession::Wrong(std::string_view why, std::string_view text) {
  reply_.outcome = OutcomeKind::kWrong;
  faults_.Note(why, text);
}

void RedisSession::OnError(std::string_view text) {
  if (IsRefusal(text)) {
    reply_.outcome = std::max(reply_.outcome, OutcomeKind::kRefused);
  } else {
    Wrong("an error", text);
  }
}

void RedisSession::CheckValue(uint64_t record, std::string_view value) {
  const auto version = format_.Verify(record, value);
  if (!version) return Wrong("a value that was not written for its key", value);
  reply_.version = *version;
  ++reply_.records;
}

void RedisSession::OnString(const redisReadTask& task, std::string_view text) {
  if (due_.empty()) return;
  const Due& due = due_.front();
  if (task.type == REDIS_REPLY_ERROR) return OnError(text);
  if (task.parent != nullptr && task.type == REDIS_REPLY_STRING) return OnElement(task.idx, text);
  if (task.parent == nullptr && task.type == REDIS_REPLY_STRING && due.step == Step::kGet)
    return CheckValue(due.record, text);
  if (task.parent == nullptr && task.type == REDIS_REPLY_STATUS && due.step == Step::kSet &&
      text == "OK")
    return;
  Wrong("not a reply to the request", text);
}

void RedisSession::OnArray(const redisReadTask& task, int elements) {
  if (due_.empty()) return;
  const Due& due = due_.front();
  const auto count = static_cast<int64_t>(due.count);
  const bool is_many = due.step == Step::kGetMany || due.step == Step::kValues;
  const bool fits = is_many ? elements == count : due.step == Step::kRange && elements <= count;
  if (task.parent != nullptr || !fits) return Wrong("an unexpected array", "");
  reply_.elements = elements;
  if (due.step == Step::kRange) {
    range_.clear();
    last_key_.clear();
  }
}

void RedisSession::OnInteger(const redisReadTask& task, long long number) {
  if (due_.empty()) return;
  const Step step = due_.front().step;
  const bool fits = step == Step::kDelete || step == Step::kIndexAdd || step == Step::kIndexRemove;
  if (task.parent != nullptr || !fits || number < 0 || number > 1)
    return Wrong("not a reply to the request", std::to_string(number));
  if (step == Step::kDelete && number == 0) reply_.outcome = OutcomeKind::kMissing;
}

void RedisSession::OnNil(const redisReadTask& task) {
  if (due_.empty()) return;
  if (task.parent != nullptr) return OnElement(task.idx, std::nullopt);
  if (due_.front().step != Step::kGet) return Wrong("nothing instead of a reply", "");
  reply_.outcome = OutcomeKind::kMissing;
}

// One of an array's. REQUIRES: !due_.empty()
void RedisSession::OnElement(int index, std::optional<std::string_view> text) {
  const Due& due = due_.front();
  if (reply_.elements < 0 || index != reply_.at) return Wrong("an element outside an array", "");
  ++reply_.at;
  if (due.step == Step::kRange) {
    if (text) return OnRangeKey(*text);
    return Wrong("nothing instead of a key", "");
  }
  const Named named = named_.front();
  named_.Pop();
  if (due.step == Step::kValues) {  // what is not there was deleted meanwhile
    if (text) CheckValue(named.record, *text);
    return;
  }
  // Reads side by side, each with an outcome of its own.
  Outcome outcome{named.tag, due.kind, OutcomeKind::kMissing, 0, 0};
  if (text) {
    const auto version = format_.Verify(named.record, *text);
    if (!version) faults_.Note("a value that was not written for its key", *text);
    outcome.outcome = version ? OutcomeKind::kDone : OutcomeKind::kWrong;
    outcome.records = version ? 1 : 0;
    outcome.version = version.value_or(0);
  }
  outcomes_->push_back(outcome);
}

void RedisSession::OnRangeKey(std::string_view key) {
  const auto record = format_.RecordOf(key);
  if (!record) return Wrong("a key that belongs to no record", key);
  if (last_key_.empty()) {
    char room[kRecordKeyBytesMax];
    if (key < format_.WriteKey(due_.front().record, room))
      return Wrong("a key before the range", key);
  } else if (key <= last_key_) {
    return Wrong("keys out of order", key);
  }
  last_key_ = key;
  range_.push_back(*record);
}

void RedisSession::FinishReply() {
  const Due due = due_.front();
  const Reply reply = reply_;
  due_.Pop();
  reply_ = {};
  const OutcomeKind outcome = std::max(carried_, reply.outcome);
  carried_ = OutcomeKind::kDone;
  const bool is_many = due.step == Step::kGetMany || due.step == Step::kValues;
  for (uint32_t at = static_cast<uint32_t>(reply.at); is_many && at < due.count; ++at) {
    // Elements that did not come: an error, or not an array.
    if (due.step == Step::kGetMany)
      outcomes_->push_back({named_.front().tag, due.kind, outcome, 0, 0});
    named_.Pop();
  }
  if (due.step == Step::kGetMany) return;
  if (due.goes_on) {
    carried_ = outcome;
    return;
  }
  if (outcome == OutcomeKind::kDone && due.step == Step::kRange) return FinishRange(due);
  if (outcome == OutcomeKind::kDone && due.step == Step::kGet &&
      due.kind == OperationKind::kReadModifyWrite) {
    const Operation write{due.kind, 0, due.version, due.record, due.tag};
    AddDue(Step::kSet, write).version_read = reply.version;
    return AppendSet(write);
  }
  const bool is_set_after_read =
      due.step == Step::kSet && due.kind == OperationKind::kReadModifyWrite;
  outcomes_->push_back({due.tag, due.kind, outcome,
                        outcome != OutcomeKind::kDone ? 0
                        : is_set_after_read           ? 1
                                                      : reply.records,
                        is_set_after_read ? due.version_read : reply.version});
}

// The keys are known; now their values.
void RedisSession::FinishRange(const Due& due) {
  if (range_.empty()) {
    outcomes_->push_back({due.tag, due.kind, OutcomeKind::kDone, 0, 0});
    return;
  }
  AddDue(Step::kValues, {due.kind, 0, 0, due.record, due.tag}).count =
      static_cast<uint32_t>(range_.size());
  for (const uint64_t record : range_) named_.Push() = {record, due.tag};
  AppendMget(range_);
}

}  // namespace weft::bench
