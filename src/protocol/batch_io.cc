#include "protocol/batch_io.h"

#include <utility>

namespace weft::protocol {
namespace {

// True for a read that leaves no mark but recency and shows no version: the common get, which
// travels as its key alone.
bool IsPlainRead(const Request& request) {
  return request.kind == RequestKind::kRead && !request.command.want_cas &&
         !request.command.update_expiry;
}

bool IsAboutKeys(RequestKind kind) { return kind < RequestKind::kText; }

// What is looked at after Enter, but for the key, which the batch copies.
void KeepViews(KeptBytes* kept, Request* request) {
  request->command.value = kept->Keep(request->command.value);
  request->meta_tokens = kept->Keep(request->meta_tokens);
  request->arguments = kept->Keep(request->arguments);
}

void EnterKey(const cache::Store& store, const Request& request, std::string_view key,
              uint32_t source, uint32_t tag, pipeline::Batch* batch) {
  cache::Command& command = batch->AddCommand(source, tag, key, store.HashOf(key), request.command);
  command.want_value = request.kind == RequestKind::kRead || request.return_value;
}

size_t OffsetIn(std::string_view input, const char* at) {
  return static_cast<size_t>(at - input.data());
}

// Hands keys of a read to `enter`: `key` and those in `keys`. False: the batch filled up first.
template <typename IsFull, typename EnterOne>
bool EnterEach(std::string_view input, std::string_view key, std::string_view keys,
               Entered* entered, const IsFull& is_full, const EnterOne& enter) {
  do {
    if (is_full()) {
      entered->keys_next = OffsetIn(input, key.data());
      return false;
    }
    enter(key);
    entered->keys_entered++;
  } while (NextKey(&keys, &key));
  entered->keys_next = entered->keys_end;
  entered->whole = true;
  return true;
}

// The same into the batch.
bool EnterKeys(const cache::Store& store, std::string_view input, const Request& request,
               std::string_view key, std::string_view keys, uint32_t tag, Entered* entered,
               pipeline::Batch* batch) {
  if (!IsPlainRead(request)) {
    return EnterEach(
        input, key, keys, entered, [&] { return batch->full(); },
        [&](std::string_view one) { EnterKey(store, request, one, entered->source, tag, batch); });
  }
  pipeline::Batch::ReadAdder adder(batch, entered->source);
  return EnterEach(
      input, key, keys, entered, [&] { return adder.full(); },
      [&](std::string_view one) { adder.Add(tag, one, store.HashOf(one)); });
}

// Enters the rest of a read, which is the front of the input.
bool EnterRest(const cache::Store& store, std::string_view input, const OpenRead& read,
               uint32_t source, Entries* entered, pipeline::Batch* batch) {
  const uint32_t tag = entered->size();
  Entered& record = entered->Add(source);
  Request& request = entered->LastRequest();
  request.kind = RequestKind::kRead;
  request.command.verb = cache::Verb::kRead;
  request.command.want_cas = read.want_cas;
  request.command.update_expiry = read.update_expiry;
  request.command.expiry = read.expiry;
  record.failure = read.failure;
  record.keys_end = read.keys_bytes;
  record.end = read.line_bytes;
  std::string_view keys = input.substr(0, read.keys_bytes);
  std::string_view key;
  NextKey(&keys, &key);
  const bool fitted = EnterKeys(store, input, request, key, keys, tag, &record, batch);
  if (IsPlainRead(request)) entered->ShareLast();
  return fitted;
}

// Enters gets of one key in a row, from `at` on, as far as they are there and the batch has room.
// Returns where anything else begins.
size_t EnterPlainGets(std::string_view input, size_t at, const cache::Store& store, uint32_t source,
                      pipeline::Batch* batch, Entries* entered) {
  const Window window{input.data(), input.data() + input.size()};
  pipeline::Batch::ReadAdder adder(batch, source);
  while (!adder.full()) {
    const std::string_view key = PlainGetKey(window, input.data() + at);
    if (key.empty()) break;
    const size_t key_begin = OffsetIn(input, key.data());
    const size_t key_end = key_begin + key.size();
    const size_t end = key_end + 2;
    adder.Add(entered->AddPlainGet(source, at, key_begin, key_end, end), key, store.HashOf(key));
    at = end;
  }
  return at;
}

// The same of gets of the binary protocol.
size_t EnterBinaryGets(std::string_view input, size_t at, const cache::Store& store,
                       uint32_t source, pipeline::Batch* batch, Entries* entered) {
  pipeline::Batch::ReadAdder adder(batch, source);
  const size_t begin = at;
  BinaryGet get;
  while (!adder.full() && TakeBinaryGet(input.substr(at), &get)) {
    const size_t key_begin = at + kBinaryHeaderBytes;
    const size_t end = key_begin + get.key_bytes;
    const std::string_view key = input.substr(key_begin, get.key_bytes);
    adder.Add(entered->AddBinaryGet(get.read, get.opaque, source, at, key_begin, end), key,
              store.HashOf(key));
    at = end;
  }
  if (at != begin) batch->ShowVersionsTo(source);
  return at;
}

using EnterGets = size_t (*)(std::string_view input, size_t at, const cache::Store& store,
                             uint32_t source, pipeline::Batch* batch, Entries* entered);

// How gets of the connection may be entered in rows. Null: as all that it sends.
EnterGets WayOfGets(const Conversation& conversation, const ParseContext& context) {
  if (!conversation.admitted) return nullptr;
  if (conversation.dialect != Dialect::kBinary) return EnterPlainGets;
  return context.gets_alone ? EnterBinaryGets : nullptr;
}

// Enters one request. False: not all of it fitted.
bool EnterRequest(const cache::Store& store, std::string_view input, const Request& request,
                  uint32_t tag, Entered* entered, pipeline::Batch* batch) {
  const std::string_view key = request.command.key;
  if (request.kind == RequestKind::kRead) {
    const std::string_view last = request.keys.empty() ? key : request.keys;
    entered->keys_begin = OffsetIn(input, key.data());
    entered->keys_end = OffsetIn(input, last.data() + last.size());
    return EnterKeys(store, input, request, key, request.keys, tag, entered, batch);
  }
  if (IsAboutKeys(request.kind)) {
    EnterKey(store, request, key, entered->source, tag, batch);
  } else if (request.drop_key || request.refused == Refused::kTooLarge) {
    batch->AddOther(entered->source, tag, /*barrier=*/true, key, store.HashOf(key));
  } else {
    batch->AddOther(entered->source, tag, request.kind != RequestKind::kText);
  }
  entered->keys_entered = 1;
  entered->whole = true;
  return true;
}

// No other way leads to a parser: whoever has not been admitted meets the gate's own.
ParseResult ParseNext(const Conversation& conversation, std::string_view input,
                      const ParseContext& context, Request* request) {
  if (conversation.dialect == Dialect::kBinary) return ParseBinary(input, context, request);
  return conversation.admitted ? ParseNew(input, context, request)
                               : ParseToken(input, context, request);
}

// Its first byte tells what a connection speaks, where its listener does not.
void ChooseDialect(std::string_view input, Conversation* conversation) {
  if (conversation->dialect != Dialect::kAny || input.empty()) return;
  const bool is_binary = static_cast<unsigned char>(input[0]) == kBinaryRequestMagic;
  conversation->dialect = is_binary ? Dialect::kBinary : Dialect::kText;
}

}  // namespace

void Entries::Clear() {
  records_.clear();
  if (requests_.empty()) {
    requests_.resize(1);
    requests_[Entered::kPlainRead].kind = RequestKind::kRead;
    for (const Opcode opcode : kBinaryReads) requests_.push_back(BinaryRead(opcode));
  }
  requests_.resize(Entered::kFirstBinaryRead + std::size(kBinaryReads));
}

Entered& Entries::Add(uint32_t source) {
  requests_.emplace_back();
  Entered& record = records_.emplace_back();
  record.request = static_cast<uint32_t>(requests_.size()) - 1;
  record.source = source;
  return record;
}

void Entries::TakeBack() {
  records_.pop_back();
  requests_.pop_back();
}

void Entries::ShareLast() {
  records_.back().request = Entered::kPlainRead;
  requests_.pop_back();
}

Entering Enter(std::string_view input, ParseContext context, const cache::Store& store,
               uint32_t source, Conversation* conversation, pipeline::Batch* batch,
               Entries* entered, KeptBytes* kept) {
  Entering entering;
  context.line_scanned_bytes = std::exchange(conversation->scanned_bytes, 0);
  if (const OpenRead read = std::exchange(conversation->read, {}); read.line_bytes != 0) {
    if (!EnterRest(store, input, read, source, entered, batch)) {
      entering.exhausted = Exhausted::kBatchFull;
      return entering;
    }
    entering.parsed_bytes = entered->back().end;
  }
  ChooseDialect(input, conversation);
  const EnterGets enter_gets = WayOfGets(*conversation, context);
  if (conversation->gate == Gate::kSasl)
    context.sasl = conversation->admitted ? Sasl::kAfter : Sasl::kBefore;
  for (;;) {
    // What was looked at before, and was no whole line, is not looked at again.
    if (enter_gets != nullptr && context.line_scanned_bytes == 0)
      entering.parsed_bytes =
          enter_gets(input, entering.parsed_bytes, store, source, batch, entered);
    const size_t at = entering.parsed_bytes;
    if (batch->full()) {
      conversation->scanned_bytes = context.line_scanned_bytes;
      entering.exhausted = Exhausted::kBatchFull;
      return entering;
    }
    if (at == input.size()) return entering;
    const uint32_t tag = entered->size();
    Entered& record = entered->Add(source);
    Request& request = entered->LastRequest();
    const ParseResult parsed = ParseNext(*conversation, input.substr(at), context, &request);
    context.line_scanned_bytes = 0;
    if (parsed.status != ParseStatus::kRequest) {
      entered->TakeBack();
      conversation->scanned_bytes = parsed.scanned_bytes;
      entering.needed_bytes = parsed.needed_bytes;
      if (parsed.status == ParseStatus::kClose) entering.exhausted = Exhausted::kClose;
      return entering;
    }
    record.begin = at;
    record.end = at + parsed.consumed_bytes;
    if (kept != nullptr) KeepViews(kept, &request);
    const bool fitted = EnterRequest(store, input, request, tag, &record, batch);
    // The next base64 key goes where this one lies: from here on the batch's copy is the key.
    request.command.key = {};
    request.keys = {};
    const uint64_t swallow_bytes = request.swallow_bytes;
    const bool close = request.close;
    const bool waits = request.kind >= RequestKind::kDump;
    if (IsPlainRead(request)) entered->ShareLast();
    if (!fitted) {
      entering.exhausted = Exhausted::kBatchFull;
      return entering;
    }
    entering.parsed_bytes = record.end;
    const uint64_t rest = input.size() - record.end;
    if (waits) {
      entering.exhausted = Exhausted::kWaits;
      return entering;
    }
    if (swallow_bytes > rest || close) {
      entering.swallow_bytes = swallow_bytes;
      return entering;
    }
    entering.parsed_bytes += swallow_bytes;
    record.end = entering.parsed_bytes;
  }
}

size_t ComeBack(const Entries& entered, const Entered& record, uint32_t keys_done,
                std::string_view input, Conversation* conversation) {
  const Request& request = entered.RequestOf(record);
  conversation->scanned_bytes = 0;
  conversation->read = {};
  if (request.kind != RequestKind::kRead) return record.begin;
  size_t at = record.keys_next;
  if (keys_done != record.keys_entered) {
    std::string_view keys = input.substr(record.keys_begin, record.keys_end - record.keys_begin);
    std::string_view key;
    for (uint32_t i = 0; i <= keys_done; i++) NextKey(&keys, &key);
    at = OffsetIn(input, key.data());
  }
  const cache::Command& command = request.command;
  conversation->read = {record.keys_end - at,  record.end - at, command.want_cas,
                        command.update_expiry, command.expiry,  record.failure};
  return at;
}

}  // namespace weft::protocol
