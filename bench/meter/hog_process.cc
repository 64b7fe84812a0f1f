#include "bench/meter/hog_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <limits>

namespace weft::bench {
namespace {

// Instead of a share: how much has it got?
constexpr double kTell = std::numeric_limits<double>::quiet_NaN();

struct Answer {
  Code code = Code::kOk;
  double value = 0;
};

void Send(int socket, const Answer& answer) {
  if (send(socket, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer) _exit(1);
}

// The child: does as it is told until nobody is there to tell it.
[[noreturn]] void Serve(int socket, const TriadOptions& options, double full_bytes_per_s) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto hog = BandwidthHog::Start(options, full_bytes_per_s, 0);
  Send(socket, {hog ? Code::kOk : hog.error().code(), 0});
  if (!hog) _exit(1);
  for (double share = 0; recv(socket, &share, sizeof share, 0) == sizeof share;) {
    if (!std::isnan(share)) (*hog)->SetShare(share);
    Send(socket, {Code::kOk, (*hog)->BytesPerSecond()});
  }
  _exit(0);
}

}  // namespace

Result<std::unique_ptr<HogProcess>> HogProcess::Start(const TriadOptions& options,
                                                      double full_bytes_per_s) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return Status::FromErrno("socketpair", errno);
  base::Fd ours(sockets[0]), its(sockets[1]);
  const pid_t pid = fork();
  if (pid < 0) return Status::FromErrno("fork", errno);
  if (pid == 0) {
    close(ours.get());
    Serve(its.get(), options, full_bytes_per_s);
  }
  its = base::Fd();
  std::unique_ptr<HogProcess> hog(new HogProcess(pid, std::move(ours)));  // by the pointer
  Answer answer;
  if (recv(hog->socket_.get(), &answer, sizeof answer, 0) != sizeof answer)
    return Status(Code::kIoError, "the hog's process has ended");
  if (answer.code == Code::kOk) return hog;
  return Status(answer.code, "the hog could not start: it had no thread, no rate or no memory");
}

HogProcess::~HogProcess() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Result<double> HogProcess::Ask(double share) {
  Answer answer;
  if (send(socket_.get(), &share, sizeof share, MSG_NOSIGNAL) != sizeof share ||
      recv(socket_.get(), &answer, sizeof answer, 0) != sizeof answer)
    return Status(Code::kIoError, "the hog's process has ended");
  return answer.value;
}

Status HogProcess::SetShare(double share) {
  auto answer = Ask(share);
  return answer ? Status::Ok() : answer.error();
}

Result<double> HogProcess::BytesPerSecond() { return Ask(kTell); }

}  // namespace weft::bench
