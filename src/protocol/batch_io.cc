#include "protocol/batch_io.h"

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
  cache::Command command = request.command;
  command.key = key;
  command.hash = hash;
  batch->AddCommand(source, tag, command);
}

// Enters the keys of a read that are not answered yet. False: the batch filled up first.
bool EnterKeys(const cache::Store& store, uint32_t tag, Entered* entered, pipeline::Batch* batch) {
  std::string_view keys = entered->request.keys;
  std::string_view key = entered->request.command.key;
  uint32_t number = 0;
  do {
    if (number++ < entered->keys_before) continue;
    if (batch->full()) return false;
    EnterKey(store, entered->request, key, entered->source, tag, batch);
    entered->keys_entered++;
  } while (NextKey(&keys, &key));
  entered->whole = true;
  return true;
}

// Enters one request. False: not all of it fitted.
bool EnterRequest(const cache::Store& store, uint32_t tag, Entered* entered,
                  pipeline::Batch* batch) {
  const Request& request = entered->request;
  const std::string_view key = request.command.key;
  if (request.kind == RequestKind::kRead) return EnterKeys(store, tag, entered, batch);
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
  uint32_t keys_before = conversation->keys_done;
  ReadFailure failure = conversation->read_failure;
  for (;;) {
    const size_t at = entering.parsed_bytes;
    if (batch->full()) {
      entering.exhausted = Exhausted::kBatchFull;
      return entering;
    }
    entered->emplace_back();
    Entered& record = entered->back();
    const ParseResult parsed = Parse(input.substr(at), context, &record.request);
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
    record.keys_before = keys_before;
    record.failure = failure;
    record.begin = at;
    record.end = at + parsed.consumed_bytes;
    keys_before = 0;
    failure = ReadFailure::kNone;
    const uint32_t tag = static_cast<uint32_t>(entered->size() - 1);
    if (kept != nullptr) KeepViews(kept, &record.request);
    const bool fitted = EnterRequest(store, tag, &record, batch);
    // The next base64 key goes where this one lies: from here on the batch's copy is the key.
    record.request.command.key = record.request.keys = {};
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

}  // namespace weft::protocol
