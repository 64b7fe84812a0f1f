// bench/target/echo_target.h: a target of known service time, to test the meters of others. Behind
// a socket, a thread answers each operation a fixed time after it was asked, and can be made to
// stall.
//
// Each operation is served by itself, however many there are. An answer leaves `service_ns` after
// the session wrote its request, which carries that instant, so it does not matter when the thread
// woke. For the last kEchoSpinNs before an answer is due the thread spins. While it stalls nothing
// leaves; what is due then leaves when the stall ends.
//
// Nothing is stored: every operation succeeds, and a read finds any record.
//
// Units     nanoseconds; instants are base::NowNs.
// Threads   see bench/target/target.h; StallAt from any.
// Cost      one CPU while answers are due soon; idle otherwise.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/posix_fd.h"
#include "bench/target/stream.h"
#include "bench/target/target.h"

namespace weft::bench {

inline constexpr uint64_t kEchoSpinNs = 100'000;

struct EchoOptions {
  uint64_t service_ns = 0;
  uint64_t stall_ns = 0;        // 0: none
  uint64_t stall_after_ns = 0;  // from the first request to its begin
};

// "50us", "1ms", "50us:100ms@2s": service time, and a stall of 100 ms two seconds after the first
// request. kInvalidArgument otherwise.
Result<EchoOptions> ParseEcho(std::string_view text);

class EchoTarget final : public Target {
 public:
  static Result<std::unique_ptr<EchoTarget>> Open(const EchoOptions& options);
  ~EchoTarget() override;

  // No answer leaves in [start_ns, start_ns + duration_ns). Replaces the stall there was.
  void StallAt(uint64_t start_ns, uint64_t duration_ns);

  std::string Title() const override;
  nlohmann::json Settings() const override;
  std::string WhyNot(OperationKind) const override { return ""; }
  Result<std::unique_ptr<Session>> NewSession() override;
  Status Clear() override { return Status::Ok(); }
  std::vector<pid_t> Processes() const override;
  bool is_embedded() const override { return true; }
  // How late the sending of answers began: what this machine adds to the service time, apart from
  // what sending and receiving take.
  nlohmann::json Figures() override;

 private:
  struct Line;  // a session's other end
  struct Due {
    uint64_t at_ns;
    uint64_t tag;
    std::shared_ptr<Line> line;
    uint32_t records;
    OperationKind kind;
    bool operator<(const Due& other) const { return at_ns > other.at_ns; }  // the earliest on top
  };

  explicit EchoTarget(const EchoOptions& options) : options_(options) {}
  void Run();
  void Wait();
  void ReceiveFrom(size_t line);
  void SendDue();
  void FlushLines();
  uint64_t LeavesAt(uint64_t due_ns) const;

  const EchoOptions options_;
  base::Fd epoll_;
  base::Fd wake_;
  std::atomic<bool> ends_ = false;
  std::atomic<uint64_t> stall_start_ns_ = 0;
  std::atomic<uint64_t> stall_end_ns_ = 0;
  // Relaxed: figures, which order nothing.
  std::atomic<uint64_t> answers_ = 0;
  std::atomic<uint64_t> late_ns_ = 0;
  std::atomic<uint64_t> late_ns_max_ = 0;
  base::Mutex mutex_;
  std::vector<std::shared_ptr<Line>> lines_ WEFT_GUARDED_BY(mutex_);
  std::priority_queue<Due> due_;               // the thread's
  std::vector<std::shared_ptr<Line>> unsent_;  // the thread's: lines with answers to send
  bool asked_ = false;                         // the thread's: has there been a request?
  std::thread thread_;
};

}  // namespace weft::bench
