#include "server/signals.h"

#include <sched.h>
#include <signal.h>

#include <atomic>
#include <cerrno>

#include "base/clock.h"

namespace weft::server {
namespace {

// Of the handlers, which outlive the server: all may be read and written in one.
std::atomic<Server*> running_server{nullptr};
std::atomic<uint32_t> handlers_at_work{0};
std::atomic<uint64_t> asked_ns{0};  // when the end was first asked for; 0: not yet
static_assert(std::atomic<Server*>::is_always_lock_free);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// timeout(1) and terminals signal a process and its group: the two that come are one wish.
constexpr uint64_t kOneWishNs = 1'000'000'000;

// False where it was asked before.
bool NoteAsked(uint64_t now_ns) {
  uint64_t never = 0;
  return asked_ns.compare_exchange_strong(never, now_ns);
}

void OnStopSignal(int number) {
  const int error = errno;
  const uint64_t now_ns = base::NowNs();
  if (NoteAsked(now_ns)) {
    // In this order: whoever takes the server away looks at the count afterwards.
    handlers_at_work.fetch_add(1);
    if (Server* const server = running_server.load()) server->Stop();
    handlers_at_work.fetch_sub(1);
  } else if (now_ns >= asked_ns.load() + kOneWishNs) {
    signal(number, SIG_DFL);
    raise(number);  // comes when this handler returns
  }
  errno = error;
}

void OnReloadSignal(int) {
  const int error = errno;
  handlers_at_work.fetch_add(1);
  if (Server* const server = running_server.load()) server->Reload();
  handlers_at_work.fetch_sub(1);
  errno = error;
}

bool IsIgnored(int number) {
  struct sigaction now = {};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void IgnoreSignalsOfOthers() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
}

StopSignals::StopSignals(Server* server) {
  asked_ns.store(0);
  running_server.store(server);
  struct sigaction stop = {};
  stop.sa_handler = OnStopSignal;
  stop.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) {
    if (!IsIgnored(number)) sigaction(number, &stop, nullptr);
  }
  if (!server->CanReload()) return;
  struct sigaction reload = {};
  reload.sa_handler = OnReloadSignal;
  reload.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &reload, nullptr);
}

StopSignals::~StopSignals() {
  (void)NoteAsked(base::NowNs());
  running_server.store(nullptr);
  // A handler on another thread may have got the server before.
  while (handlers_at_work.load() != 0) sched_yield();
}

}  // namespace weft::server
