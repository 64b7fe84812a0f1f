// bench/target/redis_session.h: operations as commands of redis' protocol, pipelined on one
// connection, and the check of every answer.
//
//     read               GET, or MGET of several     update  SET
//     insert             SET and, with scans, ZADD of the key to the index
//     read-modify-write  GET, and SET once the value is there
//     delete             DEL and, with scans, ZREM
//     scan               ZRANGEBYLEX of the index, and MGET of the keys that it names
//
// The index is one sorted set. Its members all have the score 0 and so lie in the order of their
// bytes. hiredis parses; values are verified in place in its buffer, and no reply is ever built.
//
// Threads   one.
// Errors    a well-formed answer that is not the one due: kWrong. -OOM, -LOADING and their like:
//           kRefused. Bytes that are no RESP, a closed connection: a Status, for good.
// Cost      no allocation of ours once buffers have grown to the depth; received bytes are copied
//           once, into hiredis' buffer.
// Source    redis.io, "RESP protocol specification"; hiredis' read.h.
#pragma once

#include <hiredis/read.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/target/faults.h"
#include "bench/target/ring.h"
#include "bench/target/stream.h"
#include "bench/target/target.h"

namespace weft::bench {

// The key of the sorted set; no record's key is as short.
inline constexpr std::string_view kRedisIndexKey = "weft:index";

struct RedisSessionOptions {
  bool multi_get = false;  // reads that are submitted side by side are one MGET
  bool scans = false;      // inserts and deletes keep the index up
};

class RedisSession final : public Session {
 public:
  // `format` must outlive it.
  RedisSession(std::unique_ptr<Stream> stream, const RecordFormat& format,
               const RedisSessionOptions& options);
  ~RedisSession() override;

  Status Submit(std::span<const Operation> operations) override;
  Status Take(std::vector<Outcome>* outcomes) override;
  int fd() const override { return stream_->fd(); }
  bool wants_to_write() const override { return stream_->wants_to_write(); }
  std::string FirstError() const override { return faults_.first(); }

 private:
  friend struct RedisReplies;  // hiredis' callbacks

  enum class Step : uint8_t {
    kGet,
    kGetMany,
    kSet,
    kDelete,
    kIndexAdd,
    kIndexRemove,
    kRange,
    kValues
  };
  // What a reply is due for.
  struct Due {
    Step step;
    OperationKind kind;
    bool goes_on;      // the next reply belongs to the same operation
    uint32_t version;  // that a read-modify-write is to write
    uint32_t version_read;
    uint32_t count;  // kGetMany, kValues: keys; kRange: at most
    uint64_t record;
    uint64_t tag;
  };
  // A key of kGetMany or kValues, in the order of the requests.
  struct Named {
    uint64_t record;
    uint64_t tag;
  };
  // The reply that is being read.
  struct Reply {
    int elements = -1;  // of an array
    int at = 0;         // elements that are behind
    OutcomeKind outcome = OutcomeKind::kDone;
    uint32_t records = 0;
    uint32_t version = 0;
  };

  Due& AddDue(Step step, const Operation& operation);
  size_t AppendReads(std::span<const Operation> operations);
  void Append(const Operation& operation);
  void AppendSet(const Operation& operation);
  void AppendIndexed(std::string_view command, uint64_t record);
  void AppendRange(const Operation& operation);
  void AppendMget(std::span<const uint64_t> records);

  Status ReadReplies(std::string_view bytes);
  void OnString(const redisReadTask& task, std::string_view text);
  void OnArray(const redisReadTask& task, int elements);
  void OnInteger(const redisReadTask& task, long long number);
  void OnNil(const redisReadTask& task);
  void OnElement(int index, std::optional<std::string_view> text);
  void OnRangeKey(std::string_view key);
  void OnError(std::string_view text);
  void CheckValue(uint64_t record, std::string_view value);
  void Wrong(std::string_view why, std::string_view text);

  void FinishReply();
  void FinishRange(const Due& due);

  const std::unique_ptr<Stream> stream_;
  const RecordFormat& format_;
  const RedisSessionOptions options_;
  redisReader* const reader_;
  Ring<Due> due_;
  Ring<Named> named_;
  Reply reply_;
  OutcomeKind carried_ = OutcomeKind::kDone;  // of the operation's replies before this one
  std::vector<uint64_t> range_;               // records that the range names
  std::string last_key_;                      // of the range
  Faults faults_;
  std::vector<Outcome>* outcomes_ = nullptr;  // while Take runs
};

}  // namespace weft::bench
