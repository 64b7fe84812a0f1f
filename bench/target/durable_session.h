// bench/target/durable_session.h: operations on a durable store (bench/target/durable_target.h).
//
// Threads   one.
// Errors    what the store reports of itself is a Status; an impossible value or key is kWrong.
// Cost      the store's operation, one copy of a value that is written, and the check of one that
//           is read.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/store/store.h"
#include "bench/target/faults.h"
#include "bench/target/target.h"

namespace weft::bench {

class DurableSession final : public Session {
 public:
  // `sync`: writes are on the disk before they are done. `store` and `format` must outlive it.
  // `ends` is called when it goes, so that its target lets go of it.
  DurableSession(Store* store, const RecordFormat& format, bool sync,
                 std::function<void(DurableSession*)> ends);
  ~DurableSession() override { ends_(this); }

  Status Submit(std::span<const Operation> operations) override;
  Status Take(std::vector<Outcome>* outcomes) override;
  std::string FirstError() const override { return faults_.first(); }

  // Bytes of keys and values that it has written. From any thread.
  uint64_t user_bytes_written() const {
    return user_bytes_written_.load(std::memory_order_relaxed);  // a count, it orders nothing
  }

  // The store is about to go; until there is another one, the session is of no use.
  void Leave() { reader_.reset(); }
  void Use(Store* store);

 private:
  size_t Read(std::span<const Operation> operations);
  Status ReadModifyWrite(const Operation& operation);
  Status Write(const Operation& operation);
  Status Scan(const Operation& operation);
  std::optional<uint32_t> Check(uint64_t record, std::string_view value);
  Outcome OutcomeOf(const Operation& operation, const Answer& answer);
  Outcome ScanFrom(Cursor* cursor, const Operation& operation);

  Store* store_;
  const RecordFormat& format_;
  const bool sync_;
  const std::function<void(DurableSession*)> ends_;
  std::unique_ptr<Reader> reader_;
  std::vector<char> key_room_;
  std::vector<char> value_room_;
  std::vector<std::string_view> keys_;
  std::vector<Answer> answers_;
  std::string last_key_;  // of a scan
  std::vector<Outcome> outcomes_;
  Faults faults_;
  std::atomic<uint64_t> user_bytes_written_ = 0;
};

}  // namespace weft::bench
