// protocol/batch_io.h: tasks PP and WR: a client's bytes to queries of a batch, and their results
// to bytes.
//
// Enter reads one connection's input for one batch. What it has entered is kept as Entered
// records, one a request; a query's tag in the batch is the number of its record.
//
// Lifetime  keys are the batch's copies (Batch::key), also of a store that was refused and drops
//           its key: a record holds none. Its other views point into the input, which must stay
//           where it is until the batch is written, or at copies in KeptBytes.
// Threads   the worker's.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "cache/store.h"
#include "pipeline/batch.h"
#include "protocol/counters.h"
#include "protocol/kept_bytes.h"
#include "protocol/parse.h"
#include "protocol/reply.h"

namespace weft::protocol {

// A read whose first keys are answered, and taken off the input: it goes on with the others. No
// byte of a line of keys is looked at twice, however many batches it needs.
struct OpenRead {
  size_t keys_bytes = 0;  // from the front of the input to the end of its last key
  size_t line_bytes = 0;  // to the line's end; 0: no read is open
  bool want_cas = false;
  bool update_expiry = false;
  cache::Expiry expiry = cache::kNeverExpires;
  ReadFailure failure = ReadFailure::kNone;  // of the keys that are answered
};

// What stays with a connection between batches.
struct Conversation {
  size_t scanned_bytes = 0;  // front of the input known to hold no newline
  OpenRead read;
};

// One request in a batch.
struct Entered {
  Request request;
  uint32_t source = 0;
  uint32_t keys_entered = 0;                 // in this batch
  bool whole = false;                        // its last key is in this batch
  ReadFailure failure = ReadFailure::kNone;  // of its keys, in this batch or before
  size_t begin = 0;                          // in the source's input
  size_t end = 0;
  // Of a read: its keys from the first in this batch on, and the first that is in none yet.
  size_t keys_begin = 0;
  size_t keys_next = 0;
  size_t keys_end = 0;
};

enum class Exhausted : uint8_t {
  kInput,      // every complete request of the input is in the batch
  kBatchFull,  // there is more in the input
  kClose,      // the client is not speaking the protocol: answer what came before, then close
};

// Where one connection's input stands after Enter.
struct Entering {
  Exhausted exhausted = Exhausted::kInput;
  size_t parsed_bytes = 0;     // of the input
  uint64_t swallow_bytes = 0;  // to skip behind them
  size_t needed_bytes = 0;     // the next request's bytes, if known
};

// Task PP. Enters the requests at the front of `input` into the batch for `source`, until one of
// the two ends. `kept`: copies what records point at, where the batch outlives the input; null: it
// does not.
Entering Enter(std::string_view input, ParseContext context, const cache::Store& store,
               uint32_t source, Conversation* conversation, pipeline::Batch* batch,
               std::vector<Entered>* entered, KeptBytes* kept = nullptr);

// After the batch, where it was not carried out whole: the connection comes back for what is left
// of `record`, but for the first `keys_done` of its keys in this batch. Returns how much of
// `input`, which is as it was but for what has arrived since, is done with.
size_t ComeBack(const Entered& record, uint32_t keys_done, std::string_view input,
                Conversation* conversation);

// Whether a hit's value is part of the reply; others have it in `reply.value` all the same.
inline bool ShowsValue(const Request& request) {
  return request.kind == RequestKind::kRead ||
         (request.kind == RequestKind::kMetaRead && request.return_value);
}

// Tasks RD and WR: writes the answer to query `i`, whose record is `entered`. `Output` has
// char* Reserve(size_t) and void Commit(size_t), as net::Connection has; a null from Reserve
// means that the connection is lost. `last_key`: the query is its request's last; `failure`: of it,
// or of one before it in the request.
template <typename Output>
void WriteQuery(const Request& request, std::string_view key, bool last_key, ReadFailure failure,
                const cache::Reply& reply, Output& out) {
  if (IsPlainHit(request, reply) && failure == ReadFailure::kNone) {
    char* const start = out.Reserve(kPlainHitBytesMax + key.size() + reply.value.size());
    if (start == nullptr) return;
    char* end = WritePlainHit(key, reply, start);
    if (last_key) {
      std::memcpy(end, kEndText.data(), kEndText.size());
      end += kEndText.size();
    }
    return out.Commit(static_cast<size_t>(end - start));
  }
  const size_t value_bytes = ShowsValue(request) ? reply.value.size() : 0;
  const size_t bound = ReplyBytesMax(request, key.size()) + value_bytes;
  char* const start = out.Reserve(bound);
  if (start == nullptr) return;
  char* end = WriteReply(request, key, reply, start);
  if (last_key) end = WriteEnd(request, failure, end);
  out.Commit(static_cast<size_t>(end - start));
}

}  // namespace weft::protocol
