// server/server.h: the parts of a server put together: one store, and a worker with its event loop
// on each thread.
//
// Threads   Create and Run: one thread, which becomes the first worker's; Create starts those of
//           the others. Stop, Reload: any, and signal handlers. Snapshot: any, while the server
//           exists.
// Errors    Create says what is missing, and which flag asked for it: an address in use, no memory,
//           no thread, io_uring forbidden.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/admission.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "net/tls.h"
#include "server/background_calibrator.h"
#include "server/device_set.h"
#include "server/options.h"
#include "server/password_file.h"
#include "server/planning.h"
#include "server/stats.h"
#include "server/warm_restart.h"
#include "server/watch_hub.h"
#include "server/worker.h"

namespace weft::server {

class Server final : private Front {
 public:
  static Result<std::unique_ptr<Server>> Create(const ServerOptions& options);
  ~Server() override;

  // Serves until Stop, or until a client's shutdown command. Blocks.
  Status Run();
  // With -e: keeps what the cache holds for the next server. REQUIRES: Run has ended well; nothing
  // but Snapshot is called afterwards
  void SaveMemory();
  // Ends Run: all owed replies go out for at most kGraceMs.
  void Stop();
  // Has files that may have changed read again: users and passwords, the certificate. As Stop, for
  // any thread and signal handlers. Where that fails, the log says so, and what was read before
  // holds.
  void Reload();
  // Whether there are such files.
  bool CanReload() const { return gate() != protocol::Gate::kOpen || tls_ != nullptr; }

  // Between the beginning of Run and Stop, or a client's shutdown.
  bool IsServing() const { return serves_.load(); }

  // Every address it listens on, ports resolved: "127.0.0.1:11211".
  std::vector<net::SocketAddress> Addresses() const;
  // To the log: devices, how plans are chosen, and warnings. Call it once nothing prevents serving.
  void SayHowItRuns() const;
  // "epoll" or "io_uring".
  std::string_view net_kind() const { return loops_.front()->kind(); }

  // What costs more than the rest, and seldom is needed.
  struct Parts {
    bool connections = false;
    bool latency = false;
  };
  ServerSnapshot Snapshot(Parts parts) const;

 private:
  static constexpr uint64_t kGraceMs = 5000;
  // A listener, and what it promises those who come by it. There is no door without.
  struct Door {
    std::unique_ptr<net::Listener> listener;
    protocol::Terms terms;
  };

  explicit Server(const ServerOptions& options);
  Status Init();
  bool MayPlan();
  void MakePlanner(FoundCalibration found);
  Status OpenStore();
  Status OpenTier();
  Status OpenListeners();
  Status OpenWorker(uint32_t number);
  Status StartThreads();
  std::string MemoryFlags() const;
  void RunLoop(size_t number);
  void Join();

  std::string Stats(std::string_view arguments) override;
  std::string_view Version() const override { return kVersionText; }
  bool FlushAllowed() const override { return options_.allow_flush_all; }
  void SetVerbosity(uint32_t level) override;
  std::string RefreshCerts() override;
  void Shutdown(bool graceful) override;
  bool DumpAllowed() const override { return options_.allow_dump; }
  bool CountsByPrefix() const override { return detail_enabled_.load(std::memory_order_relaxed); }
  bool BeginDump() override { return !dumps_.exchange(true); }
  void EndDump() override { dumps_.store(false); }
  bool Admits(std::string_view user, std::string_view password) const override
      WEFT_EXCLUDES(passwords_mutex_);
  void RunErrands() override;
  Status OpenTls();
  Status ReadPasswords() WEFT_EXCLUDES(passwords_mutex_);
  protocol::Gate gate() const;

  // Constant after Create.
  const ServerOptions options_;
  const uint64_t started_s_;
  net::Admission admission_;
  WatchHub watch_;                        // destroyed after the workers
  std::unique_ptr<DeviceSet> devices_;    // destroyed after all that lies in their memory
  std::unique_ptr<WarmRestart> restart_;  // null without -e
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<planner::Planner> planner_;  // null if the plan is given
  std::unique_ptr<tier::DiskTier> tier_;       // null without --data
  std::unique_ptr<net::TlsServer> tls_;        // null without -Z
  net::Rooms rooms_;                           // of the loops' buffers
  std::vector<Door> doors_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<net::EventLoop>> loops_;  // destroyed before their workers
  std::unique_ptr<tier::LookupPool> pool_;              // destroyed before those that it answers
  std::vector<std::string> warnings_;                   // for SayHowItRuns
  std::string info_;
  std::string calibrated_;                            // when, if that was before this server
  std::unique_ptr<BackgroundCalibrator> calibrator_;  // null: nothing needs measuring

  // For the loops' threads: each writes its own result.
  std::vector<Status> results_;
  std::vector<std::thread> threads_;  // of all loops except the first

  // Provides its own synchronisation.
  StatsBaseline baseline_;
  mutable base::Mutex passwords_mutex_;
  std::shared_ptr<const PasswordFile> passwords_ WEFT_GUARDED_BY(passwords_mutex_);
  std::atomic<bool> reload_asked_{false};
  std::atomic<bool> dumps_{false};
  std::atomic<bool> serves_{false};
  bool ran_ = false;  // the thread's that runs it
  std::atomic<int> verbosity_;
  std::atomic<bool> detail_enabled_;
};

}  // namespace weft::server
