// bench/target/binary_session.h: operations as requests of memcached's binary protocol, pipelined
// on one connection, and the check of every answer.
//
//     read               get                update, insert     set
//     read-modify-write  get, and set once the value is there
//     delete             delete
//
// No request is a quiet one, so each has an answer. An answer to a get has no key: it is told by
// the number that the request gave it, and the value itself names its record.
//
// Layout    a header of 24 bytes, extras, key, value; numbers are big-endian.
// Threads   one.
// Errors    a well-formed answer that is not the one due: kWrong, and the session goes on. Too
//           large, not stored, out of memory, busy: kRefused. Bytes that are no answer, an answer
//           out of order, a closed connection: a Status, for good.
// Cost      no allocation once buffers have grown to the depth.
// Source    memcached's doc/protocol-binary.xml.
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

class BinarySession final : public Session {
 public:
  // `format` must outlive it.
  BinarySession(std::unique_ptr<Stream> stream, const RecordFormat& format)
      : stream_(std::move(stream)), format_(format) {}

  Status Submit(std::span<const Operation> operations) override;
  Status Take(std::vector<Outcome>* outcomes) override;
  int fd() const override { return stream_->fd(); }
  bool wants_to_write() const override { return stream_->wants_to_write(); }
  std::string FirstError() const override { return faults_.first(); }

 private:
  enum class Opcode : uint8_t { kGet = 0, kSet = 1, kDelete = 4 };
  // What an answer is due for.
  struct Due {
    uint64_t tag;
    uint64_t record;
    uint32_t version;  // that a read-modify-write is to write
    uint32_t version_read;
    uint32_t number;  // of the request
    Opcode opcode;
    OperationKind kind;
  };

  void Append(const Operation& operation);
  void AppendKey(Opcode opcode, const Operation& operation);
  void AppendSet(const Operation& operation, uint32_t version_read);
  Due& AddDue(Opcode opcode, const Operation& operation);

  // Takes one answer at the front of `bytes`; 0: it has not all arrived.
  size_t TakeAnswer(std::string_view bytes);
  OutcomeKind OutcomeOf(std::string_view answer);
  OutcomeKind CheckValue(std::string_view answer);
  size_t Break(std::string_view why, std::string_view bytes);
  void Finish(OutcomeKind outcome);

  const std::unique_ptr<Stream> stream_;
  const RecordFormat& format_;
  Ring<Due> due_;
  Faults faults_;
  uint32_t requests_ = 0;
  size_t whole_ = 0;                          // bytes of the answer that is arriving
  std::vector<Outcome>* outcomes_ = nullptr;  // while Take runs
};

}  // namespace weft::bench
