// Answers to gets that travel as their keys alone, in rows: nearly all that there is to write.
#include "pipeline/reply_of.h"
#include "server/worker.h"

namespace weft::server {

using protocol::Entered;
using protocol::Request;

// Up to where queries may be plain reads in a row of one connection, which nobody looks at one by
// one and which may be answered now. `begin`: this one may not.
inline uint32_t Worker::GetsEnd(const pipeline::Batch& batch, uint32_t begin, uint32_t end) const {
  if (batch.kind(begin) != pipeline::QueryKind::kRead || work_->is_watched ||
      front_->CountsByPrefix())
    return begin;
  const Source& source = work_->sources[batch.source(begin)];
  if (source.connection == nullptr || source.close || source.stopped != nullptr) return begin;
  return batch.DoneEnd(begin, batch.SourceEnd(begin, end));
}

inline void Worker::CountGets(uint32_t gets, uint32_t hits, const Source& source) {
  if (gets == 0) return;
  counters_.cmd_get.Add(gets);
  counters_.get_hits.Add(hits);
  counters_.get_misses.Add(gets - hits);
  latency_.Note(LatencyClass::kGet, gets, PeerOf(*source.connection).since);
}

// Answers plain reads in a row of one connection, as WriteOne would: nearly all that there is to
// write. Returns the first query that it leaves to WriteOne.
uint32_t Worker::WriteGets(const pipeline::Batch& batch, uint32_t begin, uint32_t end,
                           const cache::Session& session) {
  end = GetsEnd(batch, begin, end);
  if (end == begin) return begin;
  Source& source = work_->sources[batch.source(begin)];
  uint32_t i = begin;
  uint32_t hits = 0;
  uint32_t tag = batch.tag(begin);
  for (; i < end && batch.kind(i) == pipeline::QueryKind::kRead; i++) {
    const Entered& entered = work_->entered[tag];
    if (entered.request != Entered::kPlainRead || entered.failure != protocol::ReadFailure::kNone)
      break;
    const uint32_t next_tag = i + 1 == batch.size() ? ~tag : batch.tag(i + 1);
    const bool ends = tag != next_tag && entered.whole;
    const pipeline::Found found = pipeline::FoundByRead(batch, i, session);
    if (found.is_hit) {
      protocol::WriteHit(batch.key(i), found.client_flags, found.value, ends, *source.connection);
      hits++;
    } else if (found.miss != cache::Miss::kAbsent) {
      break;
    } else if (ends) {
      source.connection->Append(protocol::kEndText);
    }
    source.keys_done = tag != next_tag ? 0 : source.keys_done + 1;
    tag = next_tag;
  }
  CountGets(i - begin, hits, source);
  return i;
}

// As WriteGets, of the binary protocol (protocol::kBinaryReads). Each shows the version of what it
// found, which the stage has seen to (Batch::ShowVersionsTo).
uint32_t Worker::WriteBinaryGets(const pipeline::Batch& batch, uint32_t begin, uint32_t end,
                                 const cache::Session& session) {
  end = GetsEnd(batch, begin, end);
  if (end == begin) return begin;
  Source& source = work_->sources[batch.source(begin)];
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
  CountGets(i - begin, hits, source);
  return i;
}

// Any of them, as WriteOne, which has seen that it is to be answered.
void Worker::WriteBinaryRead(const pipeline::Batch& batch, uint32_t i, cache::Session& session) {
  const Entered& entered = work_->entered[batch.tag(i)];
  Request request = work_->entered.RequestOf(entered);
  request.binary_words.opaque = entered.opaque;
  cache::Reply reply = pipeline::ReplyOf(batch, i, session);
  if (reply.outcome == Outcome::kHit) reply.cas = pipeline::VersionFound(batch, i, session);
  WriteReply(batch, i, request, reply, true, session);
}

}  // namespace weft::server
