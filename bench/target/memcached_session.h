// bench/target/memcached_session.h: operations as requests of memcached's text protocol, pipelined
// on one connection, and the check of every answer.
//
//     read               get                update, insert     set
//     read-modify-write  get, and set once the value is there
//     delete             delete
//
// An insert is a set, not an add: a cache may have dropped any record, so both must do the same,
// also when a run repeats over old records. Values are verified where they were received.
//
// Threads   one.
// Errors    a well-formed answer that is not the one due: kWrong, and the session goes on.
//           SERVER_ERROR, NOT_STORED: kRefused; memcached drops the old value of a set that it
//           refuses. Bytes that are no answer, a closed connection: a Status, for good.
// Cost      no allocation once buffers have grown to the depth; a long value is sent from its
//           place.
// Source    memcached's doc/protocol.txt.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/target/faults.h"
#include "bench/target/ring.h"
#include "bench/target/stream.h"
#include "bench/target/target.h"

namespace weft::bench {

class MemcachedSession final : public Session {
 public:
  // `multi_get`: reads that are submitted side by side are one request. `format` must outlive it.
  MemcachedSession(std::unique_ptr<Stream> stream, const RecordFormat& format, bool multi_get)
      : stream_(std::move(stream)), format_(format), multi_get_(multi_get) {}

  Status Submit(std::span<const Operation> operations) override;
  Status Take(std::vector<Outcome>* outcomes) override;
  int fd() const override { return stream_->fd(); }
  bool wants_to_write() const override { return stream_->wants_to_write(); }
  std::string FirstError() const override { return faults_.first(); }

 private:
  enum class Step : uint8_t { kGet, kSet, kDelete };
  // What an answer is due for; of a get, each of its keys.
  struct Due {
    uint64_t tag;
    uint64_t record;
    uint32_t version;  // that a read-modify-write is to write
    uint32_t version_read;
    Step step;
    OperationKind kind;
    OutcomeKind outcome;  // once `valued`
    bool ends;            // the last key of its request
    bool valued;          // its value has come, the end of the answer has not
  };

  // The length of the value before, as it stood in its line: its digits and the line's end.
  struct Length {
    uint64_t word = 1;  // no text is like it yet
    uint64_t mask = 0;
    size_t text_bytes = 0;
    size_t value_bytes = 0;
  };

  bool HasKey(uint64_t record, std::string_view key) const {
    return key.size() == format_.KeyBytes(record) && format_.IsKey(record, key.data());
  }
  void Append(const Operation& operation);
  size_t AppendGets(std::span<const Operation> operations);
  void AppendSet(uint64_t record, uint32_t version, uint32_t ttl_s);
  Due& AddDue(Step step, const Operation& operation);

  // Each takes one piece of an answer at the front of `bytes`; 0: it has not all arrived.
  size_t TakeAnswer(std::string_view bytes);
  size_t TakeDueValues(std::string_view bytes);
  bool ReadLength(std::string_view text);
  size_t TakeGet(std::string_view bytes, std::string_view line);
  size_t TakeValue(std::string_view bytes, std::string_view line);
  size_t TakeSimple(std::string_view line);
  size_t EndValue(std::string_view bytes, size_t all);
  void CheckValue(std::string_view key, uint64_t flags, std::string_view value,
                  std::string_view line);

  OutcomeKind ErrorOf(std::string_view line);
  size_t Break(std::string_view why, std::string_view bytes);
  void FinishRequest(OutcomeKind outcome);
  void Finish(OutcomeKind outcome);

  const std::unique_ptr<Stream> stream_;
  const RecordFormat& format_;
  const bool multi_get_;
  Ring<Due> due_;
  Faults faults_;
  Length length_;
  size_t whole_ = 0;  // bytes of the value that is arriving, with what is around it
  std::vector<Outcome>* outcomes_ = nullptr;  // while Take runs
};

}  // namespace weft::bench
