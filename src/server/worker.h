// server/worker.h: one thread of the server: its sockets' requests through a pipeline and back.
//
// A turn of the event loop (task RV) hands over the ready connections; their input becomes queries
// of a batch (PP), a stage carries the batch out, replies are written to the connections in order
// (RD, WR), and the loop sends them (SD).
//
// Threads   OnBatch and the like: the loop's thread. counters(), times(): any.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cache/store.h"
#include "net/event_loop.h"
#include "pipeline/cpu_stage.h"
#include "protocol/batch_io.h"

namespace weft::server {

// What a worker asks of the server it belongs to. Called on the worker's thread.
class Front {
 public:
  virtual ~Front() = default;
  virtual std::string Stats(std::string_view arguments) = 0;
  virtual std::string_view Version() const = 0;
  virtual bool FlushAllowed() const = 0;
  virtual void SetVerbosity(uint32_t level) = 0;
  virtual void Shutdown(bool graceful) = 0;
};

struct WorkerOptions {
  uint32_t item_bytes_max = 1u << 20;
  uint32_t start_s = 0;
  bool shutdown_enabled = false;
  size_t output_high_bytes = size_t{1} << 20;
};

class Worker final : public net::Handler, private pipeline::Sink {
 public:
  // Null where the store can have no more sessions.
  static std::unique_ptr<Worker> Create(cache::Store* store, Front* front,
                                        const WorkerOptions& options);

  void OnOpen(net::Connection& connection) override;
  void OnClose(net::Connection& connection) override;
  void OnBatch(std::span<net::Connection* const> ready) override;
  void OnTick() override;

  const protocol::CommandCounters& counters() const { return counters_; }
  const pipeline::TaskTimes& times() const { return times_; }

 private:
  // A connection's part in the batch at work.
  struct Source {
    net::Connection* connection = nullptr;
    protocol::Entering entering;
    // First record of it that was not carried out whole; null: all were.
    protocol::Entered* stopped = nullptr;
    uint32_t keys_done = 0;  // of that record, in this batch
    bool close = false;
  };

  Worker(cache::Store* store, Front* front, const WorkerOptions& options,
         std::unique_ptr<cache::Session> session);

  size_t Fill(std::span<net::Connection* const> ready);
  void Settle(Source* source);
  void Write(pipeline::Batch& batch, uint32_t begin, uint32_t end,
             cache::Session& session) override;
  void WriteOne(pipeline::Batch& batch, uint32_t i, cache::Session& session);
  void RunOther(pipeline::Batch& batch, uint32_t i, cache::Session& session) override;
  void AnswerOther(const protocol::Request& request, cache::Session& session);

  // Constant after construction.
  cache::Store* const store_;
  Front* const front_;
  const WorkerOptions options_;

  // Owned by the worker's thread; the counters are read by any.
  std::unique_ptr<cache::Session> session_;
  pipeline::TaskTimes times_;
  protocol::CommandCounters counters_;
  pipeline::CpuStage stage_;
  pipeline::Batch batch_;
  std::vector<protocol::Entered> entered_;
  std::vector<Source> sources_;
  std::vector<char> scratch_;
  std::string other_text_;  // answer to the query of kind kOther at work
};

}  // namespace weft::server
