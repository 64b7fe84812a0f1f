#include "bench/durable/checked_target.h"

#include <unistd.h>

#include "bench/durable/ledger.h"
#include "bench/target/durable_session.h"

namespace weft::bench {
namespace {

// One of `sessions`, number `number`.
class CheckedSession final : public Session {
 public:
  CheckedSession(Store* store, const RecordFormat& format, uint32_t number, uint32_t sessions,
                 std::vector<uint32_t>* last)
      : session_(store, format, false, [](DurableSession*) {}),
        number_(number),
        sessions_(sessions),
        last_(*last) {}

  Status Submit(std::span<const Operation> operations) override {
    own_.assign(operations.begin(), operations.end());
    for (Operation& operation : own_)
      if (operation.kind == OperationKind::kUpdate) operation.record = OwnAt(operation.record);
    Status status = session_.Submit(own_);
    if (!status.ok()) return status;
    for (const Operation& operation : own_)
      if (operation.kind != OperationKind::kRead) last_[operation.record] = operation.version + 1;
    return status;
  }
  Status Take(std::vector<Outcome>* outcomes) override { return session_.Take(outcomes); }
  std::string FirstError() const override { return session_.FirstError(); }

 private:
  uint64_t OwnAt(uint64_t record) const {
    const uint64_t own = record - record % sessions_ + number_;
    return own < last_.size() ? own : number_;
  }

  DurableSession session_;
  const uint32_t number_;
  const uint32_t sessions_;
  std::vector<uint32_t>& last_;
  std::vector<Operation> own_;
};

}  // namespace

CheckedTarget::CheckedTarget(Store* store, const RecordFormat& format, uint64_t records,
                             int sessions)
    : store_(*store),
      format_(format),
      sessions_(static_cast<uint32_t>(sessions)),
      last_(records, 0) {}

std::string CheckedTarget::WhyNot(OperationKind kind) const {
  const bool has = kind == OperationKind::kRead || kind == OperationKind::kUpdate ||
                   kind == OperationKind::kInsert;
  return has ? "" : "only reads, updates and inserts are kept in its books";
}

Result<std::unique_ptr<Session>> CheckedTarget::NewSession() {
  const uint32_t number = next_session_++ % sessions_;
  return std::unique_ptr<Session>(
      std::make_unique<CheckedSession>(&store_, format_, number, sessions_, &last_));
}

Status CheckedTarget::Clear() { return {Code::kUnsupported, "it keeps its records"}; }

std::vector<pid_t> CheckedTarget::Processes() const { return {getpid()}; }

Status CheckedTarget::CheckAll(Store* store) const { return CheckRecords(store, format_, last_); }

}  // namespace weft::bench
