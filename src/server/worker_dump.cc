// Lists of all keys, which go out between the batches of others. See worker.h and key_dump.h.
#include <algorithm>

#include <spdlog/spdlog.h>

#include "server/worker.h"

namespace weft::server {

// Leaves what is said instead of a list in other_text_.
void Worker::BeginDump(const protocol::Request& request, net::Connection& connection) {
  const auto form = static_cast<protocol::DumpForm>(request.number);
  if (!front_->DumpAllowed()) {
    other_text_ =
        protocol::IsMg(form) ? "ERROR key dump not allowed\r\n" : "ERROR metadump not allowed\r\n";
  } else if (!front_->BeginDump()) {
    other_text_ = "BUSY currently processing crawler request\r\n";
  } else {
    PeerOf(connection).dump = std::make_unique<KeyDump>(form);
    dumping_ = &connection;
    dump_sent_bytes_ = connection.bytes_out();
    dump_moved_ms_ = loop_->now_ms();
  }
}

void Worker::EndDump(Peer* peer) {
  peer->dump.reset();
  dumping_ = nullptr;
  front_->EndDump();
}

void Worker::EndStuckDump() {
  if (dumping_->bytes_out() != dump_sent_bytes_) {
    dump_sent_bytes_ = dumping_->bytes_out();
    dump_moved_ms_ = loop_->now_ms();
  } else if (loop_->now_ms() - dump_moved_ms_ >= kDumpStuckMs) {
    spdlog::info("closed {}: it took nothing of its list of keys for {} s", dumping_->PeerText(),
                 kDumpStuckMs / 1000);
    dumping_->CloseNow();
  }
}

// Between two steps nothing is held, however slowly the client reads.
void Worker::SendDump(net::Connection& connection) {
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
std::span<net::Connection* const> Worker::GoOnWithDump(std::span<net::Connection* const> ready) {
  net::Connection* const dumping = dumping_;
  const auto found = std::find(ready.begin(), ready.end(), dumping);
  if (found == ready.end() || PeerOf(*dumping).under_way != nullptr) return ready;
  SendDump(*dumping);
  others_.assign(ready.begin(), ready.end());
  std::erase(others_, dumping);
  return others_;
}

}  // namespace weft::server
