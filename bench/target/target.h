// bench/target/target.h: a store under measurement, embedded or behind a socket, whoever made it.
// An ordered embedded store implements Store instead (bench/store/store.h). Any other implements
// Target and Session in a new file, which targets.cc names (docs/adding-a-store.md).
//
// A Session is one connection, or one thread's use of an embedded store. It is given operations and
// reports outcomes, in any order, by their tags:
//
//     session->Submit(operations)      a server's: sends them, and returns; an embedded one: done
//     ... wait until session->fd() may be read (or written, while wants_to_write()) ...
//     session->Take(&outcomes)         appends what has been answered meanwhile
//
// A session checks what it reads (RecordFormat::Verify) and says kWrong; the load then decides.
//
// Threads   Target: NewSession, and the calls that describe it, from any thread. Session: one
//           thread each; it must be gone before its target.
// Errors    a Status other than OK: the session or the store is of no more use. What happens to a
//           single operation is its outcome.
// Cost      two virtual calls for as many operations as are submitted at once.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/workload/operation.h"
#include "bench/workload/record.h"
#include "weft/status.h"

namespace weft::bench {

class Session {
 public:
  virtual ~Session() = default;
  // Begins the operations. An embedded store's are over when it returns; several reads among them
  // may be one MultiGet.
  virtual Status Submit(std::span<const Operation> operations) = 0;
  // Appends the outcomes that are known and were not taken; never waits. It leaves nothing in
  // fd(): whoever polls may wait for its edges.
  virtual Status Take(std::vector<Outcome>* outcomes) = 0;
  // To be polled for input; -1: nothing is ever under way between calls.
  virtual int fd() const { return -1; }
  // Take must also be called when fd() can be written.
  virtual bool wants_to_write() const { return false; }
  // What was wrong with the first answer that was kWrong; empty: none was.
  virtual std::string FirstError() const { return ""; }
};

class Target {
 public:
  virtual ~Target() = default;
  // For the report: "memcached 1.6.18", "RocksDB 7.8.3".
  virtual std::string Title() const = 0;
  // Everything that it was started or opened with, for the report: {"threads": 4, ...}.
  virtual nlohmann::json Settings() const = 0;
  // Why it lacks such an operation; empty: it has it.
  virtual std::string WhyNot(OperationKind kind) const = 0;
  virtual Result<std::unique_ptr<Session>> NewSession() = 0;
  // Removes all records.
  virtual Status Clear() = 0;
  // Waits until work that it has put off (compactions) is done, `limit_s` at most.
  virtual void WaitUntilQuiet(double limit_s) { (void)limit_s; }
  // Those whose CPU time, memory and bytes are the store's. For an embedded one, this process.
  virtual std::vector<pid_t> Processes() const = 0;
  virtual bool is_embedded() const = 0;
  // Its report on its own work since it was opened, such as bytes of tables written.
  virtual nlohmann::json Figures() { return nlohmann::json::object(); }
};

}  // namespace weft::bench
