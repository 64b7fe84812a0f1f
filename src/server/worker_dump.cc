// Lists of all keys, which go out between the batches of others. See worker.h and key_dump.h.
#include <utility>

#include "server/worker.h"

namespace weft::server {

// Leaves what is said instead of a list in other_text_.
void Worker::BeginDump(const protocol::Request& request, Peer* peer) {
  const bool mg = request.return_value;
  if (!front_->DumpAllowed()) {
    other_text_ = mg ? "ERROR key dump not allowed\r\n" : "ERROR metadump not allowed\r\n";
  } else if (!front_->BeginDump()) {
    other_text_ = "BUSY currently processing crawler request\r\n";
  } else {
    peer->dump = std::make_unique<KeyDump>(static_cast<protocol::DumpForm>(request.number), mg);
    dumps_++;
  }
}

void Worker::EndDump(Peer* peer) {
  peer->dump.reset();
  dumps_--;
  front_->EndDump();
}

// Between two steps nothing is held, however slowly the client reads.
void Worker::GoOnWithDump(net::Connection& connection) {
  Peer& peer = PeerOf(connection);
  for (uint32_t i = 0; i < kDumpStepsATurn && peer.dump != nullptr; ++i) {
    const size_t room = connection.OutputRoom();
    if (room < KeyDump::kStepBytesMax && connection.TakeRoom(KeyDump::kStepBytesMax - room) == 0)
      return connection.HasMore(KeyDump::kStepBytesMax);
    char* const start = connection.Reserve(KeyDump::kStepBytesMax);
    if (start == nullptr) return;
    const cache::InBatch batch(*session_);
    const char* const end = peer.dump->WriteStep(*session_, start);
    connection.Commit(static_cast<size_t>(end - start));
    if (peer.dump->is_over()) {
      EndDump(&peer);
      connection.Consume(1);  // the end of the line that asked for it (Settle)
    }
  }
  connection.HasMore();
}

// The others of `ready`.
std::span<net::Connection* const> Worker::GoOnWithDumps(std::span<net::Connection* const> ready) {
  others_.clear();
  for (net::Connection* connection : ready) {
    const Peer& peer = PeerOf(*connection);
    if (peer.dump != nullptr && peer.under_way == nullptr) {
      GoOnWithDump(*connection);
    } else {
      others_.push_back(connection);
    }
  }
  return others_;
}

}  // namespace weft::server
