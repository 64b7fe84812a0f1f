// Clients that log in. See worker.h and protocol/gate.h.
#include <algorithm>
#include <functional>
#include <utility>

#include "server/worker.h"

namespace weft::server {

// Leaves the answer in other_text_, in the words of text.
void Worker::Login(const protocol::Request& request, Source* source) {
  protocol::Credentials credentials;
  counters_.auth_cmds.Add(1);
  if (protocol::CredentialsOf(request, &credentials) &&
      front_->Admits(credentials.user, credentials.password)) {
    PeerOf(*source->connection).admitted = true;
    other_text_ = protocol::kEnteredText;
    return;
  }
  counters_.auth_errors.Add(1);
  source->refused = true;
  other_text_ = protocol::kNotEnteredText;
}

// Nothing more of it is looked at meanwhile.
void Worker::DelayAnswer(net::Connection& connection) {
  Peer& peer = PeerOf(connection);
  peer.refusals++;
  peer.answer_ms = loop_->now_ms() + kRefusalMs;
  refused_.push_back(&connection);
  connection.Hold();
}

void Worker::AnswerLate() {
  const auto is_due = [now_ms = loop_->now_ms()](net::Connection* connection) {
    return PeerOf(*connection).answer_ms <= now_ms;
  };
  const auto due = std::stable_partition(refused_.begin(), refused_.end(), std::not_fn(is_due));
  const std::vector<net::Connection*> answered(due, refused_.end());
  refused_.erase(due, refused_.end());
  for (net::Connection* connection : answered) {
    Peer& peer = PeerOf(*connection);
    connection->Append(std::exchange(peer.late_answer, {}));
    if (peer.refusals < kRefusalsMax) {
      connection->Resume();
      continue;
    }
    peer.closing = true;
    connection->CloseAfterFlush();
  }
}

}  // namespace weft::server
