// bench/durable/checked_target.h: an open durable store as a target that knows each record's last
// version, so that every byte of the store can be checked.
//
// A session updates only its own records: the one next to the record that it is told. So the last
// version is known, whichever session was faster.
//
// Threads   see bench/target/target.h. CheckAll: once all sessions are gone.
// Errors    those of bench/target/durable_session.h.
#pragma once

#include <atomic>
#include <vector>

#include "bench/store/store.h"
#include "bench/target/target.h"

namespace weft::bench {

class CheckedTarget final : public Target {
 public:
  // Of so many records, and sessions at a time. `store` and `format` must outlive it.
  CheckedTarget(Store* store, const RecordFormat& format, uint64_t records, int sessions);

  std::string Title() const override { return "a durable store"; }
  nlohmann::json Settings() const override { return nlohmann::json::object(); }
  std::string WhyNot(OperationKind kind) const override;
  Result<std::unique_ptr<Session>> NewSession() override;
  Status Clear() override;
  std::vector<pid_t> Processes() const override;
  bool is_embedded() const override { return true; }

  // Does `store`, the same one or the same files opened again, have what was written last? As
  // CheckRecords (bench/durable/ledger.h).
  Status CheckAll(Store* store) const;

 private:
  Store& store_;
  const RecordFormat& format_;
  const uint32_t sessions_;
  std::atomic<uint32_t> next_session_ = 0;
  std::vector<uint32_t> last_;  // of each record version + 1; each written by one session
};

}  // namespace weft::bench
