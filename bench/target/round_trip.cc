#include "bench/target/round_trip.h"

#include <poll.h>

#include <cerrno>

namespace weft::bench {
namespace {

constexpr int kAnswerMsMax = 60'000;

Status WaitForAnswer(const Session& session) {
  const short events = session.wants_to_write() ? POLLIN | POLLOUT : POLLIN;
  pollfd one{session.fd(), events, 0};
  const int ready = poll(&one, 1, kAnswerMsMax);
  if (ready > 0 || (ready < 0 && errno == EINTR)) return Status::Ok();
  if (ready < 0) return Status::FromErrno("poll", errno);
  return {Code::kIoError, "no answer for a minute"};
}

}  // namespace

Status RoundTrip(Session* session, std::span<const Operation> operations,
                 std::vector<Outcome>* outcomes) {
  outcomes->clear();
  Status status = session->Submit(operations);
  if (status.ok()) status = session->Take(outcomes);
  while (status.ok() && outcomes->size() < operations.size()) {
    status = WaitForAnswer(*session);
    if (status.ok()) status = session->Take(outcomes);
  }
  if (!status.ok()) return status;
  for (const Outcome& outcome : *outcomes)
    if (outcome.outcome == OutcomeKind::kWrong)
      return {Code::kCorruption, "a wrong answer: " + session->FirstError()};
  return Status::Ok();
}

}  // namespace weft::bench
