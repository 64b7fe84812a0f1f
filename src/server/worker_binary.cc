// Gets of the binary protocol that travel as their keys alone (protocol::kBinaryReads). Each shows
// the version of what it found, which the stage has seen to (Batch::ShowVersionsTo).
#include "pipeline/reply_of.h"
#include "server/worker.h"

namespace weft::server {

using protocol::Entered;
using protocol::Request;

// As WriteGets: hits and plain misses in a row of one connection. Returns the first that it leaves.
uint32_t Worker::WriteBinaryGets(const pipeline::Batch& batch, uint32_t begin, uint32_t end,
                                 const cache::Session& session) {
  if (batch.kind(begin) != pipeline::QueryKind::kRead || work_->is_watched ||
      front_->CountsByPrefix())
    return begin;
  Source& source = work_->sources[batch.source(begin)];
  if (source.connection == nullptr || source.close || source.stopped != nullptr) return begin;
  end = batch.DoneEnd(begin, batch.SourceEnd(begin, end));
  uint32_t i = begin;
  uint32_t hits = 0;
  for (; i < end && batch.kind(i) == pipeline::QueryKind::kRead; i++) {
    const Entered& entered = work_->entered[batch.tag(i)];
    if (!entered.is_binary_read()) break;
    const pipeline::Found found = pipeline::FoundByRead(batch, i, session);
    if (!found.is_hit && found.miss != cache::Miss::kAbsent) break;
    hits += found.is_hit ? 1 : 0;
    const Request& request = work_->entered.RequestOf(entered);
    if (!found.is_hit && request.quiet) continue;
    const std::string_view key = batch.key(i);
    char* const start =
        source.connection->Reserve(protocol::kBinaryReadBytesMax + key.size() + found.value.size());
    if (start == nullptr) continue;  // the connection is lost
    protocol::BinaryWords words = request.binary_words;
    words.opaque = entered.opaque;
    char* const written = found.is_hit ? protocol::WriteBinaryHit(
                                             words, key, pipeline::VersionFound(batch, i, session),
                                             found.client_flags, found.value, start)
                                       : protocol::WriteBinaryMiss(words, key, start);
    source.connection->Commit(static_cast<size_t>(written - start));
  }
  if (i == begin) return begin;
  source.keys_done = 0;
  counters_.cmd_get.Add(i - begin);
  counters_.get_hits.Add(hits);
  counters_.get_misses.Add(i - begin - hits);
  latency_.Note(LatencyClass::kGet, i - begin, PeerOf(*source.connection).since);
  return i;
}

// Any of them, as WriteOne, which has seen that it is to be answered.
void Worker::WriteBinaryRead(const pipeline::Batch& batch, uint32_t i, cache::Session& session) {
  const Entered& entered = work_->entered[batch.tag(i)];
  net::Connection& out = *work_->sources[batch.source(i)].connection;
  Request request = work_->entered.RequestOf(entered);
  request.binary_words.opaque = entered.opaque;
  cache::Reply reply = pipeline::ReplyOf(batch, i, session);
  if (reply.outcome == Outcome::kHit) reply.cas = pipeline::VersionFound(batch, i, session);
  protocol::WriteQuery(request, batch.key(i), true, protocol::ReadFailure::kNone, reply, out);
  protocol::CountReply(request, reply, &counters_);
  latency_.Note(LatencyClass::kGet, 1, PeerOf(out).since);
  if (front_->CountsByPrefix()) prefixes_.Note(request, batch.key(i), reply);
  if (work_->is_watched) NoteWatched(batch, i, request, reply, session);
}

}  // namespace weft::server
