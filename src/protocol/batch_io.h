// protocol/batch_io.h: tasks PP and WR: a client's bytes to queries of a batch, and their results
// to bytes.
//
// Enter reads one connection's input for one batch. What it has entered is kept as Entered
// records, one a request; a query's tag in the batch is the number of its record. Plain reads,
// which nearly all are, share one Request.
//
// Lifetime  keys are the batch's copies (Batch::key), also of a store that was refused and drops
//           its key: a record holds none. Its other views point into the input, which must stay
//           where it is until the batch is written, or at copies in KeptBytes.
// Threads   the worker's.
// Cost      a get of one key: one pass over its line, a record of some 60 bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "cache/store.h"
#include "pipeline/batch.h"
#include "protocol/binary.h"
#include "protocol/counters.h"
#include "protocol/gate.h"
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
  explicit Conversation(Terms terms)
      : dialect(terms.dialect()), gate(terms.gate()), admitted(terms.gate() == Gate::kOpen) {}

  Dialect dialect;
  const Gate gate;
  bool admitted;             // it may have its commands carried out
  size_t scanned_bytes = 0;  // front of the input known to hold no newline
  OpenRead read;
};

// One request in a batch.
struct Entered {
  // Number of its Request in Entries. kPlainRead is that of all reads that leave no mark except
  // recency, and show no version.
  static constexpr uint32_t kPlainRead = 0;
  // The same of the binary protocol: gets of one key, which show a version. Their opcodes are those
  // of kBinaryReads, and share a Request each.
  static constexpr uint32_t kFirstBinaryRead = 1;
  bool is_binary_read() const { return request - kFirstBinaryRead < std::size(kBinaryReads); }
  uint32_t request = kPlainRead;
  uint32_t source = 0;
  uint32_t keys_entered = 0;                 // in this batch
  bool whole = false;                        // its last key is in this batch
  ReadFailure failure = ReadFailure::kNone;  // of its keys, in this batch or before
  uint32_t opaque = 0;                       // is_binary_read: of its packet, as sent
  size_t begin = 0;                          // in the source's input
  size_t end = 0;
  // Of a read: its keys from the first in this batch on, and the first that is in none yet.
  size_t keys_begin = 0;
  size_t keys_next = 0;
  size_t keys_end = 0;
};

// The requests of a batch, in the order of their tags.
class Entries {
 public:
  Entries() { Clear(); }
  void Clear();
  uint32_t size() const { return static_cast<uint32_t>(records_.size()); }
  bool empty() const { return records_.empty(); }
  Entered& operator[](uint32_t tag) { return records_[tag]; }
  const Entered& operator[](uint32_t tag) const { return records_[tag]; }
  const Entered& back() const { return records_.back(); }
  const Request& RequestOf(const Entered& record) const { return requests_[record.request]; }

  // Adds a record with a Request of its own, as constructed. Both stay where they are until the
  // next one is added.
  Entered& Add(uint32_t source);
  Request& LastRequest() { return requests_.back(); }
  // Takes back what Add has added last.
  void TakeBack();
  // The last record's request is a plain read: it shares its Request with the others.
  void ShareLast();
  // Adds a whole get of one key, where these lie in the source's input. Returns its tag.
  uint32_t AddPlainGet(uint32_t source, size_t begin, size_t key_begin, size_t key_end,
                       size_t end) {
    return AddOneKey(Entered::kPlainRead, 0, source, begin, key_begin, key_end, end);
  }
  // The same of the binary protocol. `read`: of kBinaryReads.
  uint32_t AddBinaryGet(size_t read, uint32_t opaque, uint32_t source, size_t begin,
                        size_t key_begin, size_t end) {
    const auto request = Entered::kFirstBinaryRead + static_cast<uint32_t>(read);
    return AddOneKey(request, opaque, source, begin, key_begin, end, end);
  }

 private:
  uint32_t AddOneKey(uint32_t request, uint32_t opaque, uint32_t source, size_t begin,
                     size_t key_begin, size_t key_end, size_t end) {
    records_.push_back({request, source, 1, true, ReadFailure::kNone, opaque, begin, end, key_begin,
                        key_end, key_end});
    return size() - 1;
  }

  std::vector<Entered> records_;
  std::vector<Request> requests_;
};

enum class Exhausted : uint8_t {
  kInput,      // every complete request of the input is in the batch
  kBatchFull,  // there is more in the input
  kClose,      // the client is not speaking the protocol: answer what came before, then close
  kWaits,      // what is behind the last request waits until that is answered
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
               Entries* entered, KeptBytes* kept = nullptr);

// After a batch that was not carried out whole. The connection comes back for the rest of `record`,
// one of `entered`, behind the first `keys_done` of its keys in this batch. Returns how much of
// `input` is done with. REQUIRES: at most, bytes were added to `input` since
size_t ComeBack(const Entries& entered, const Entered& record, uint32_t keys_done,
                std::string_view input, Conversation* conversation);

// Whether a hit's value is part of the reply; others have it in `reply.value` all the same.
inline bool ShowsValue(const Request& request) {
  return request.kind == RequestKind::kRead ||
         ((request.kind == RequestKind::kMetaRead || request.kind == RequestKind::kBinary) &&
          request.return_value);
}

// Tasks RD and WR of a hit that IsPlainHit, where no key before it in its request has failed.
// `Output` has char* Reserve(size_t) and void Commit(size_t), as net::Connection has; a null from
// Reserve means that the connection is lost. `last_key`: the query is its request's last.
template <typename Output>
void WriteHit(std::string_view key, uint32_t client_flags, std::string_view value, bool last_key,
              Output& out) {
  char* const start = out.Reserve(kPlainHitBytesMax + key.size() + value.size());
  if (start == nullptr) return;
  char* end = WritePlainHit(key, client_flags, value, start);
  if (last_key) {
    std::memcpy(end, kEndText.data(), kEndText.size());
    end += kEndText.size();
  }
  out.Commit(static_cast<size_t>(end - start));
}

// The same of any query about a key. `failure`: of it, or of one before it in its request.
template <typename Output>
void WriteQuery(const Request& request, std::string_view key, bool last_key, ReadFailure failure,
                const cache::Reply& reply, Output& out) {
  if (IsPlainHit(request, reply) && failure == ReadFailure::kNone)
    return WriteHit(key, reply.client_flags, reply.value, last_key, out);
  const size_t value_bytes = ShowsValue(request) ? reply.value.size() : 0;
  const size_t bound = value_bytes + (request.binary ? BinaryReplyBytesMax(request, key.size())
                                                     : ReplyBytesMax(request, key.size()));
  char* const start = out.Reserve(bound);
  if (start == nullptr) return;
  if (request.binary) {
    const char* const end = WriteBinaryReply(request, key, reply, start);
    return out.Commit(static_cast<size_t>(end - start));
  }
  char* end = WriteReply(request, key, reply, start);
  if (last_key) end = WriteEnd(request, failure, end);
  out.Commit(static_cast<size_t>(end - start));
}

}  // namespace weft::protocol
