// server/worker_test_kit.h: a worker and its loop behind a listener, for the tests of this folder.
// Not for programs.
//
// Threads: the loop runs on a thread of its own, from Start to Stop.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cache/cache_test_kit.h"
#include "net/peer_test_kit.h"
#include "processor/cpu_processor.h"
#include "server/worker.h"

namespace weft::server {

class PlainFront final : public Front {
 public:
  std::string Stats(std::string_view arguments) override {
    return "STAT arguments " + std::string(arguments) + "\r\nEND\r\n";
  }
  std::string_view Version() const override { return "0"; }
  bool FlushAllowed() const override { return true; }
  void SetVerbosity(uint32_t) override {}
  std::string RefreshCerts() override { return std::string(protocol::kNoTlsText); }
  void Shutdown(bool) override {}
  bool Admits(std::string_view user, std::string_view password) const override {
    return user == "user" && password == "right";
  }
  void RunErrands() override {}
  bool DumpAllowed() const override { return true; }
  bool CountsByPrefix() const override { return false; }
  bool BeginDump() override { return !dumps_.exchange(true); }
  void EndDump() override { dumps_.store(false); }

 private:
  std::atomic<bool> dumps_{false};
};

// What comes from `peer` up to `end`, which is the last of it; less where nothing more comes.
inline std::string Ask(net::Peer& peer, std::string_view request, std::string_view end) {
  EXPECT_TRUE(peer.Send(request));
  std::string answer;
  while (!answer.ends_with(end)) {
    const std::string byte = peer.Receive(1);
    if (byte.empty()) break;
    answer += byte;
  }
  return answer;
}

// What the one listener of a test promises: nobody is asked who he is.
inline WorkerOptions OpenToAll(WorkerOptions options = {}) {
  if (options.terms.empty()) options.terms = {{protocol::Dialect::kAny, protocol::Gate::kOpen}};
  return options;
}

// Every batch goes to a device, which is the CPU.
inline WorkerOptions WithDevice(processor::Guard* guard) {
  WorkerOptions options;
  options.plan =
      std::move(pipeline::Plan::Parse(
                    "[RV PP MM]cpu → [IN.search KC RD]gpu0 → [IN.insert IN.delete WR SD]cpu")
                    .value());
  options.devices = {guard};
  options.device_batch_min = 1;
  return options;
}

class WorkerServer {
 public:
  // Clients may connect and send from now on; nothing is taken before Start.
  explicit WorkerServer(const WorkerOptions& options = {}, CacheOptions store = {})
      : store_(cache::OpenStore(store)),
        worker_(std::move(Worker::Create(store_.get(), &front_, OpenToAll(options)).value())),
        listeners_(
            std::move(net::Listener::OpenTcp({"127.0.0.1", 0}, net::TlsMode::kNone, {}).value())) {}
  ~WorkerServer() { Stop(); }

  void Start(net::EventLoop::Kind kind = net::EventLoop::Kind::kEpoll, net::Rooms* rooms = nullptr,
             uint64_t (*clock_ms)() = nullptr) {
    net::LoopOptions options;
    options.rooms = rooms;
    options.clock_ms = clock_ms;
    options.listeners.push_back(listeners_.front().get());
    loop_ = std::move(net::EventLoop::Create(kind, options, worker_.get()).value());
    worker_->RunsOn(loop_.get());
    thread_ = std::thread([this] { EXPECT_TRUE(loop_->Run().ok()); });
  }
  void Stop() {
    if (!thread_.joinable()) return;
    loop_->Stop(0);
    thread_.join();
  }

  const net::SocketAddress& address() const { return listeners_.front()->address(); }
  cache::Store& store() { return *store_; }
  const Worker& worker() const { return *worker_; }
  net::EventLoop& loop() { return *loop_; }

 private:
  PlainFront front_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<Worker> worker_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::unique_ptr<net::EventLoop> loop_;
  std::thread thread_;
};

}  // namespace weft::server
