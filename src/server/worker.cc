#include "server/worker.h"

#include <algorithm>

#include "base/clock.h"
#include "cache/entry.h"

namespace weft::server {

using protocol::Entered;
using protocol::Request;
using protocol::RequestKind;

std::unique_ptr<Worker> Worker::Create(cache::Store* store, Front* front,
                                       const WorkerOptions& options) {
  std::unique_ptr<cache::Session> session = store->NewSession();
  if (session == nullptr) return nullptr;
  // The constructor is private so that no worker exists without a session; owned at once.
  return std::unique_ptr<Worker>(new Worker(store, front, options, std::move(session)));
}

Worker::Worker(cache::Store* store, Front* front, const WorkerOptions& options,
               std::unique_ptr<cache::Session> session)
    : store_(store),
      front_(front),
      options_(options),
      session_(std::move(session)),
      stage_(store, &times_),
      batch_(pipeline::Plan::OneStageCpu()),
      scratch_(protocol::kScratchBytes) {}

void Worker::OnOpen(net::Connection& connection) {
  connection.state = std::make_unique<protocol::Conversation>().release();  // OnClose takes it back
}

void Worker::OnClose(net::Connection& connection) {
  std::unique_ptr<protocol::Conversation>(
      static_cast<protocol::Conversation*>(connection.state));
}

void Worker::OnTick() { store_->Maintain(*session_, 1); }

void Worker::OnBatch(std::span<net::Connection* const> ready) {
  while (!ready.empty()) {
    const uint64_t start = base::ReadTicks();
    const size_t filled = Fill(ready);
    times_.Add(pipeline::Task::kParse, base::ReadTicks() - start, batch_.size());
    stage_.Run(batch_, *session_, *this);
    for (Source& source : sources_) Settle(&source);
    // The last one may have more than fitted; it goes first next time, if it may still be written.
    const Source& last = sources_.back();
    const bool again = last.entering.exhausted == protocol::Exhausted::kBatchFull &&
                       last.stopped == nullptr && !last.close;
    ready = ready.subspan(again ? filled - 1 : filled);
  }
}

// Enters the requests of the first connections of `ready` until the batch is full; returns how
// many connections took part.
size_t Worker::Fill(std::span<net::Connection* const> ready) {
  batch_.Clear();
  entered_.clear();
  sources_.clear();
  protocol::ParseContext context;
  context.now_s = base::NowSeconds();
  context.start_s = options_.start_s;
  context.item_bytes_max = options_.item_bytes_max;
  context.shutdown_enabled = options_.shutdown_enabled;
  context.scratch = scratch_.data();
  size_t count = 0;
  while (count < ready.size() && !batch_.full()) {
    net::Connection& connection = *ready[count++];
    Source source;
    source.connection = &connection;
    const uint32_t number =
        batch_.AddSource(static_cast<int64_t>(options_.output_high_bytes) -
                         static_cast<int64_t>(connection.pending_output()));
    source.entering =
        protocol::Enter(connection.readable(), context, *store_, number,
                        static_cast<protocol::Conversation*>(connection.state), &batch_, &entered_);
    sources_.push_back(source);
  }
  return count;
}

// After the batch: takes what was answered off the connection's input.
void Worker::Settle(Source* source) {
  net::Connection& connection = *source->connection;
  auto& conversation = *static_cast<protocol::Conversation*>(connection.state);
  if (source->close) return connection.CloseAfterFlush();
  conversation.keys_done = 0;
  conversation.read_failed = false;
  if (source->stopped != nullptr) {
    // Not all may be written now: the rest comes again when the output has drained.
    conversation.keys_done = source->stopped->keys_before + source->keys_done;
    conversation.read_failed = source->stopped->failed;
    conversation.scanned_bytes = 0;
    connection.Consume(source->stopped->begin);
    return connection.HasMore();
  }
  connection.Consume(source->entering.parsed_bytes);
  if (source->entering.swallow_bytes != 0) connection.Swallow(source->entering.swallow_bytes);
  switch (source->entering.exhausted) {
    case protocol::Exhausted::kClose:
      return connection.CloseAfterFlush();
    case protocol::Exhausted::kBatchFull:
      if (!entered_.empty() && !entered_.back().whole) {
        conversation.keys_done = entered_.back().keys_before + entered_.back().keys_entered;
        conversation.read_failed = entered_.back().failed;
      }
      return;
    case protocol::Exhausted::kInput:
      if (source->entering.needed_bytes != 0)
        connection.ExpectBytes(source->entering.needed_bytes);
      return;
  }
}

void Worker::Write(pipeline::Batch& batch, uint32_t begin, uint32_t end,
                   cache::Session& session) {
  for (uint32_t i = begin; i < end; i++) WriteOne(batch, i, session);
}

void Worker::WriteOne(pipeline::Batch& batch, uint32_t i, cache::Session& session) {
  Entered& entered = entered_[batch.tag(i)];
  Source& source = sources_[batch.source(i)];
  if (source.close || source.stopped != nullptr) return;
  if (batch.state(i) == pipeline::QueryState::kSkipped) {
    source.stopped = &entered;
    return;
  }
  const bool last_of_batch =
      i + 1 == batch.size() || batch.tag(i + 1) != batch.tag(i);
  source.keys_done = last_of_batch ? 0 : source.keys_done + 1;
  if (batch.kind(i) == pipeline::QueryKind::kOther) {
    net::Connection& out = *source.connection;
    char* const start = out.Reserve(other_text_.size());
    if (start != nullptr)
      out.Commit(static_cast<size_t>(
          protocol::WriteText(entered.request, other_text_, start) - start));
  } else {
    const cache::Reply reply = protocol::ReplyOf(batch, i, session);
    entered.failed |= reply.outcome == Outcome::kNoMemory;
    protocol::WriteQuery(entered.request, batch.key(i), last_of_batch && entered.whole,
                         entered.failed, reply, *source.connection);
    protocol::CountReply(entered.request.command, reply, &counters_);
    if (entered.request.kind >= RequestKind::kMetaRead) counters_.cmd_meta.Add(1);
  }
  source.close = entered.request.close;
}

void Worker::RunOther(pipeline::Batch& batch, uint32_t i, cache::Session& session) {
  other_text_.clear();
  const Source& source = sources_[batch.source(i)];
  if (source.close || source.stopped != nullptr || batch.room(batch.source(i)) <= 0) return;
  const Request& request = entered_[batch.tag(i)].request;
  if (request.drop_key) {
    cache::Command drop = request.command;
    drop.hash = store_->HashOf(drop.key);
    store_->Execute(session, drop);
    counters_.store_too_large.Add(1);
  }
  AnswerOther(request, session);
}

void Worker::AnswerOther(const Request& request, cache::Session& session) {
  switch (request.kind) {
    case RequestKind::kText:
      other_text_ = request.text;
      return;
    case RequestKind::kVersion:
      other_text_ = "VERSION " + std::string(front_->Version()) + "\r\n";
      return;
    case RequestKind::kStats:
      other_text_ = front_->Stats(request.arguments);
      return;
    case RequestKind::kFlushAll:
      counters_.cmd_flush.Add(1);
      if (!front_->FlushAllowed()) {
        other_text_ = "CLIENT_ERROR flush_all not allowed\r\n";
        return;
      }
      store_->Flush(session, request.flush_at_s);
      break;
    case RequestKind::kVerbosity:
      front_->SetVerbosity(request.number);
      break;
    case RequestKind::kMemoryLimit:
      if (Status status = store_->SetMemoryLimit(uint64_t{request.number} << 20); !status.ok()) {
        other_text_ = "SERVER_ERROR " + std::string(status.message()) + "\r\n";
        return;
      }
      break;
    case RequestKind::kShutdown:
      return front_->Shutdown(request.graceful);
    default:
      return;  // kQuit says nothing
  }
  other_text_ = protocol::kOkText;
}

}  // namespace weft::server
