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
  const uint64_t hash = store.HashOf(key);
  if (IsPlainRead(request)) return batch->AddRead(source, tag, key, hash);
  cache::Command& command = batch->AddCommand(source, tag, key, hash, request.command);
  command.want_value = request.kind == RequestKind::kRead || request.return_value;
}

size_t OffsetIn(std::string_view input, const char* at) {
  return static_cast<size_t>(at - input.data());
}

// Enters keys of a read: `key` and those in `keys`. False: the batch filled up first.
bool EnterKeys(const cache::Store& store, std::string_view input, std::string_view key,
               std::string_view keys, uint32_t tag, Entered* entered, pipeline::Batch* batch) {
  do {
    if (batch->full()) {
      entered->keys_next = OffsetIn(input, key.data());
      return false;
    }
    EnterKey(store, entered->request, key, entered->source, tag, batch);
    entered->keys_entered++;
  } while (NextKey(&keys, &key));
  entered->keys_next = entered->keys_end;
  entered->whole = true;
  return true;
}

// Enters the rest of a read, which is the front of the input.
bool EnterRest(const cache::Store& store, std::string_view input, const OpenRead& read,
               uint32_t tag, Entered* entered, pipeline::Batch* batch) {
  cache::Command& command = entered->request.command;
  entered->request.kind = RequestKind::kRead;
  command.verb = cache::Verb::kRead;
  command.want_cas = read.want_cas;
  command.update_expiry = read.update_expiry;
  command.expiry = read.expiry;
  entered->failure = read.failure;
  entered->keys_end = read.keys_bytes;
  entered->end = read.line_bytes;
  std::string_view keys = input.substr(0, read.keys_bytes);
  std::string_view key;
  NextKey(&keys, &key);
  return EnterKeys(store, input, key, keys, tag, entered, batch);
}

// Enters one request. False: not all of it fitted.
bool EnterRequest(const cache::Store& store, std::string_view input, uint32_t tag, Entered* entered,
                  pipeline::Batch* batch) {
  const Request& request = entered->request;
  const std::string_view key = request.command.key;
  if (request.kind == RequestKind::kRead) {
    const std::string_view last = request.keys.empty() ? key : request.keys;
    entered->keys_begin = OffsetIn(input, key.data());
    entered->keys_end = OffsetIn(input, last.data() + last.size());
    return EnterKeys(store, input, key, request.keys, tag, entered, batch);
  }
  if (IsAboutKeys(request.kind)) {
    EnterKey(store, request, key, entered->source, tag, batch);
  } else if (request.drop_key) {
    batch->AddOther(entered->source, tag, /*barrier=*/true, key, store.HashOf(key));
  } else {
    batch->AddOther(entered->source, tag, request.kind != RequestKind::kText);
  }
  entered->keys_entered = 1;
  entered->whole = true;
  return true;
}

}  // namespace

Entering Enter(std::string_view input, ParseContext context, const cache::Store& store,
               uint32_t source, Conversation* conversation, pipeline::Batch* batch,
               std::vector<Entered>* entered, KeptBytes* kept) {
  Entering entering;
  context.line_scanned_bytes = conversation->scanned_bytes;
  if (const OpenRead read = std::exchange(conversation->read, {}); read.line_bytes != 0) {
    const uint32_t tag = static_cast<uint32_t>(entered->size());
    Entered& record = entered->emplace_back();
    record.source = source;
    if (!EnterRest(store, input, read, tag, &record, batch)) {
      entering.exhausted = Exhausted::kBatchFull;
      return entering;
    }
    entering.parsed_bytes = record.end;
  }
  for (;;) {
    const size_t at = entering.parsed_bytes;
    if (batch->full()) {
      entering.exhausted = Exhausted::kBatchFull;
      return entering;
    }
    Entered& record = entered->emplace_back();
    const ParseResult parsed = ParseNew(input.substr(at), context, &record.request);
    context.line_scanned_bytes = 0;
    if (parsed.status != ParseStatus::kRequest) {
      entered->pop_back();
      conversation->scanned_bytes = parsed.scanned_bytes;
      entering.needed_bytes = parsed.needed_bytes;
      if (parsed.status == ParseStatus::kClose) entering.exhausted = Exhausted::kClose;
      return entering;
    }
    conversation->scanned_bytes = 0;
    record.source = source;
    record.begin = at;
    record.end = at + parsed.consumed_bytes;
    if (kept != nullptr) KeepViews(kept, &record.request);
    const uint32_t tag = static_cast<uint32_t>(entered->size() - 1);
    const bool fitted = EnterRequest(store, input, tag, &record, batch);
    // The next base64 key goes where this one lies: from here on the batch's copy is the key.
    record.request.command.key = {};
    record.request.keys = {};
    if (!fitted) {
      entering.exhausted = Exhausted::kBatchFull;
      return entering;
    }
    entering.parsed_bytes = record.end;
    const uint64_t rest = input.size() - record.end;
    if (record.request.swallow_bytes > rest || record.request.close) {
      entering.swallow_bytes = record.request.swallow_bytes;
      return entering;
    }
    entering.parsed_bytes += record.request.swallow_bytes;
    record.end = entering.parsed_bytes;
  }
}

size_t ComeBack(const Entered& record, uint32_t keys_done, std::string_view input,
                Conversation* conversation) {
  conversation->scanned_bytes = 0;
  conversation->read = {};
  if (record.request.kind != RequestKind::kRead) return record.begin;
  size_t at = record.keys_next;
  if (keys_done != record.keys_entered) {
    std::string_view keys = input.substr(record.keys_begin, record.keys_end - record.keys_begin);
    std::string_view key;
    for (uint32_t i = 0; i <= keys_done; i++) NextKey(&keys, &key);
    at = OffsetIn(input, key.data());
  }
  const cache::Command& command = record.request.command;
  conversation->read = {record.keys_end - at,  record.end - at, command.want_cas,
                        command.update_expiry, command.expiry,  record.failure};
  return at;
}

}  // namespace weft::protocol
