#include "bench/target/echo_target.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/harness/wait_for_events.h"
#include "bench/workload/words.h"

namespace weft::bench {
namespace {

constexpr uint32_t kWakeLine = UINT32_MAX;
constexpr int kEventsMax = 64;
constexpr uint64_t kRetryNs = 50'000;  // of a socket that was full
constexpr double kServiceNsMax = 1e18;

// Both a request and its answer.
struct Message {
  uint64_t sent_ns;
  uint64_t tag;
  uint32_t records;
  OperationKind kind;
};

void Append(Stream* stream, const Message& message) {
  std::memcpy(stream->Text(sizeof message), &message, sizeof message);
  stream->Wrote(sizeof message);
}

// Calls take(message) for every whole one that has been received.
template <typename Take>
void TakeMessages(Stream* stream, const Take& take) {
  for (; stream->bytes().size() >= sizeof(Message); stream->Consume(sizeof(Message))) {
    Message message;
    std::memcpy(&message, stream->bytes().data(), sizeof message);
    take(message);
  }
}

uint32_t RecordsOf(const Operation& operation) {
  if (operation.kind == OperationKind::kScan) return operation.scan_length;
  return operation.kind == OperationKind::kRead ||
         operation.kind == OperationKind::kReadModifyWrite;
}

class EchoSession final : public Session {
 public:
  explicit EchoSession(base::Fd fd) : stream_(std::move(fd)) {}

  Status Submit(std::span<const Operation> operations) override {
    const uint64_t now = base::NowNs();
    for (const Operation& operation : operations)
      Append(&stream_, {now, operation.tag, RecordsOf(operation), operation.kind});
    return stream_.Flush();
  }
  Status Take(std::vector<Outcome>* outcomes) override {
    for (;;) {
      const Result<bool> more = stream_.Receive();
      if (!more) return more.error();
      if (!more.value()) break;
      TakeMessages(&stream_, [&](const Message& message) {
        outcomes->push_back({message.tag, message.kind, OutcomeKind::kDone, message.records, 0});
      });
    }
    return stream_.wants_to_write() ? stream_.Flush() : Status::Ok();
  }
  int fd() const override { return stream_.fd(); }
  bool wants_to_write() const override { return stream_.wants_to_write(); }

 private:
  Stream stream_;
};

// Of "50us".
std::optional<uint64_t> ParseNs(std::string_view text) {
  const auto ns = TimeOf(text, 1);
  if (!ns || *ns > kServiceNsMax) return std::nullopt;
  return static_cast<uint64_t>(*ns);
}

}  // namespace

struct EchoTarget::Line {
  explicit Line(base::Fd fd) : stream(std::move(fd)) {}
  Stream stream;
  bool gone = false;
  bool is_unsent = false;
};

Result<EchoOptions> ParseEcho(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view stall = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const size_t at = stall.find('@');
  const auto service_ns = ParseNs(text.substr(0, colon));
  std::optional<uint64_t> stall_ns = 0, after_ns = 0;
  if (colon != std::string_view::npos) {
    stall_ns = ParseNs(stall.substr(0, at));
    after_ns = at == std::string_view::npos ? std::nullopt : ParseNs(stall.substr(at + 1));
  }
  if (service_ns && stall_ns && after_ns) return EchoOptions{*service_ns, *stall_ns, *after_ns};
  return Status(
      Code::kInvalidArgument,
      fmt::format("\"{}\" is not a service time such as 50us, or 50us:100ms@2s for a stall of"
                  " 100 ms after two seconds",
                  text));
}

Result<std::unique_ptr<EchoTarget>> EchoTarget::Open(const EchoOptions& options) {
  std::unique_ptr<EchoTarget> target(new EchoTarget(options));
  target->epoll_ = base::Fd(epoll_create1(EPOLL_CLOEXEC));
  target->wake_ = base::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = kWakeLine;
  if (!target->epoll_.valid() || !target->wake_.valid() ||
      epoll_ctl(target->epoll_.get(), EPOLL_CTL_ADD, target->wake_.get(), &event) != 0)
    return Status::FromErrno("echo target", errno);
  target->thread_ = std::thread([echo = target.get()] { echo->Run(); });
  return target;
}

EchoTarget::~EchoTarget() {
  ends_ = true;
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  while (write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) continue;
  thread_.join();
}

void EchoTarget::StallAt(uint64_t start_ns, uint64_t duration_ns) {
  stall_end_ns_ = 0;  // never the old end with the new start
  stall_start_ns_ = start_ns;
  stall_end_ns_ = start_ns + duration_ns;
}

std::string EchoTarget::Title() const {
  return fmt::format("echo after {} us", static_cast<double>(options_.service_ns) * 1e-3);
}

nlohmann::json EchoTarget::Settings() const {
  return {{"service_ns", options_.service_ns},
          {"stall_ns", options_.stall_ns},
          {"stall_after_ns", options_.stall_after_ns}};
}

std::vector<pid_t> EchoTarget::Processes() const { return {getpid()}; }

Result<std::unique_ptr<Session>> EchoTarget::NewSession() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Status::FromErrno("socketpair", errno);
  auto session = std::make_unique<EchoSession>(base::Fd(ends[0]));
  auto line = std::make_shared<Line>(base::Fd(ends[1]));
  base::MutexLock lock(&mutex_);
  auto slot = std::find(lines_.begin(), lines_.end(), nullptr);
  if (slot == lines_.end()) slot = lines_.insert(slot, nullptr);
  *slot = std::move(line);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = static_cast<uint32_t>(slot - lines_.begin());
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, ends[1], &event) != 0)
    return Status::FromErrno("epoll_ctl", errno);
  return std::unique_ptr<Session>(std::move(session));
}

void EchoTarget::Run() {
  prctl(PR_SET_TIMERSLACK, 1);  // timers of this thread end when they are due
  while (!ends_) {
    Wait();
    SendDue();
  }
}

// Waits until something is to be received or nearly due, and receives.
void EchoTarget::Wait() {
  epoll_event events[kEventsMax];
  timespec timeout{};
  const timespec* limit = &timeout;
  if (!due_.empty()) {
    const uint64_t now = base::NowNs();
    uint64_t wait_ns = LeavesAt(due_.top().at_ns);
    wait_ns = wait_ns > now + kEchoSpinNs ? wait_ns - now - kEchoSpinNs : 0;
    if (!unsent_.empty()) wait_ns = std::min(wait_ns, kRetryNs);
    timeout.tv_sec = static_cast<time_t>(wait_ns / 1'000'000'000);
    timeout.tv_nsec = static_cast<long>(wait_ns % 1'000'000'000);
  } else if (unsent_.empty()) {
    limit = nullptr;
  } else {
    timeout.tv_nsec = kRetryNs;
  }
  const int ready = WaitForEvents(epoll_.get(), events, kEventsMax, limit);
  for (int i = 0; i < ready; ++i)
    if (events[i].data.u32 != kWakeLine) ReceiveFrom(events[i].data.u32);
}

void EchoTarget::ReceiveFrom(size_t index) {
  std::shared_ptr<Line> line;
  {
    base::MutexLock lock(&mutex_);
    line = lines_[index];
  }
  if (line == nullptr) return;
  const Result<bool> more = line->stream.Receive();
  if (!more) {  // the session is gone
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, line->stream.fd(), nullptr);
    line->gone = true;
    base::MutexLock lock(&mutex_);
    lines_[index] = nullptr;
    return;
  }
  TakeMessages(&line->stream, [&](const Message& message) {
    if (!asked_ && options_.stall_ns > 0)
      StallAt(message.sent_ns + options_.stall_after_ns, options_.stall_ns);
    asked_ = true;
    due_.push(
        {message.sent_ns + options_.service_ns, message.tag, line, message.records, message.kind});
  });
}

uint64_t EchoTarget::LeavesAt(uint64_t due_ns) const {
  const uint64_t end_ns = stall_end_ns_;
  return due_ns >= stall_start_ns_ && due_ns < end_ns ? end_ns : due_ns;
}

void EchoTarget::SendDue() {
  const uint64_t now = base::NowNs();
  uint64_t answers = 0, due_ns = 0, earliest_ns = now;
  while (!due_.empty() && LeavesAt(due_.top().at_ns) <= now) {
    const Due& due = due_.top();
    due_ns += LeavesAt(due.at_ns);
    earliest_ns = std::min(earliest_ns, LeavesAt(due.at_ns));
    ++answers;
    if (!due.line->gone) {
      Append(&due.line->stream, {0, due.tag, due.records, due.kind});
      if (!due.line->is_unsent) unsent_.push_back(due.line);
      due.line->is_unsent = true;
    }
    due_.pop();
  }
  if (answers > 0) {
    const auto relaxed = std::memory_order_relaxed;
    answers_.fetch_add(answers, relaxed);
    late_ns_.fetch_add(answers * now - due_ns, relaxed);
    late_ns_max_.store(std::max(late_ns_max_.load(relaxed), now - earliest_ns), relaxed);
  }
  FlushLines();
}

void EchoTarget::FlushLines() {
  std::erase_if(unsent_, [](const std::shared_ptr<Line>& line) {
    const bool is_sent = !line->stream.Flush().ok() || !line->stream.wants_to_write();
    line->is_unsent = !is_sent;
    return is_sent;
  });
}

nlohmann::json EchoTarget::Figures() {
  const auto relaxed = std::memory_order_relaxed;
  const auto answers = static_cast<double>(answers_.load(relaxed));
  if (answers == 0) return nlohmann::json::object();
  return {{"answers", answers},
          {"late_us_mean", static_cast<double>(late_ns_.load(relaxed)) / answers * 1e-3},
          {"late_us_max", static_cast<double>(late_ns_max_.load(relaxed)) * 1e-3}};
}

}  // namespace weft::bench
