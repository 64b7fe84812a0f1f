#include "server/watch_query.h"

#include "cache/entry.h"
#include "cache/object_writer.h"

namespace weft::server {
namespace {

WatchStatus StatusOf(cache::Miss miss) {
  switch (miss) {
    case cache::Miss::kAbsent: return WatchStatus::kNotFound;
    case cache::Miss::kExpired: return WatchStatus::kExpired;
    case cache::Miss::kFlushed: return WatchStatus::kFlushed;
  }
  return WatchStatus::kNotFound;
}

// By what the command came to: of an item that is on disk alone.
WatchStatus StatusByOutcome(const cache::Command& command, Outcome outcome) {
  const bool is_add = command.store_mode == cache::StoreMode::kAdd;
  switch (outcome) {
    case Outcome::kDeleted:
    case Outcome::kTouched:
    case Outcome::kNumber:
    case Outcome::kNotNumeric:
    case Outcome::kExists: return WatchStatus::kFound;
    case Outcome::kNotStored: return is_add ? WatchStatus::kFound : WatchStatus::kNotFound;
    case Outcome::kStored:
      return cache::IsConcatenation(command) || command.store_mode == cache::StoreMode::kReplace ||
                     command.compare_cas
                 ? WatchStatus::kFound
                 : WatchStatus::kNotFound;
    default: return WatchStatus::kNotFound;
  }
}

// False: such a store is not told of.
bool StoreStatusOf(Outcome outcome, WatchStatus* status) {
  switch (outcome) {
    case Outcome::kStored: *status = WatchStatus::kStored; return true;
    case Outcome::kNotStored: *status = WatchStatus::kNotStored; return true;
    case Outcome::kExists: *status = WatchStatus::kExists; return true;
    case Outcome::kMiss: *status = WatchStatus::kNotFound; return true;
    case Outcome::kTooLarge: *status = WatchStatus::kTooLarge; return true;
    case Outcome::kNoMemory: *status = WatchStatus::kNoMemory; return true;
    default: return false;
  }
}

void NoteGet(WatchPost& post, int fd, std::string_view key, const WatchedItem& item) {
  if (!post.IsWatched(protocol::kWatchFetchers)) return;
  WatchEvent event;
  event.type = WatchType::kItemGet;
  event.status = item.status;
  event.fd = fd;
  event.size = item.bytes;
  post.Note(event, key);
}

void NoteStore(WatchPost& post, WatchEvent event, int fd, std::string_view key) {
  if (!post.IsWatched(protocol::kWatchMutations)) return;
  event.type = WatchType::kItemStore;
  event.fd = fd;
  post.Note(event, key);
}

void NoteDeleted(WatchPost& post, const protocol::Request& request, std::string_view key,
                 uint64_t bytes) {
  if (!post.IsWatched(protocol::kWatchDeletions)) return;
  WatchEvent event;
  event.type = WatchType::kDeleted;
  event.command = request.kind == protocol::RequestKind::kMetaDelete ? WatchCommand::kMetaDelete
                                                                     : WatchCommand::kDelete;
  event.size = bytes;
  post.Note(event, key);
}

// What lengthens an item keeps its time to live, and is told of with the whole length.
WatchEvent StoreOf(const cache::Command& command, const cache::Reply& reply,
                   const cache::Session& session) {
  WatchEvent event;
  event.command = WatchCommandOf(command.store_mode, command.compare_cas);
  event.size = command.value.size();
  event.ttl_s = WatchedTtl(command.expiry, session.now_s());
  if (cache::IsConcatenation(command) && reply.published != 0) {
    const task::Object* const object = session.ObjectAt(reply.published);
    event.size = task::ValueBytes(object);
    event.ttl_s = WatchedTtl(task::ExpiryOf(object), session.now_s());
  }
  return event;
}

}  // namespace

WatchedItem ItemBefore(const pipeline::Batch& batch, uint32_t i, const cache::Reply& reply,
                       const cache::Session& session) {
  if (reply.outcome == Outcome::kHit) return {WatchStatus::kFound, reply.value.size()};
  if (reply.outcome == Outcome::kMiss && reply.miss != cache::Miss::kAbsent)
    return {StatusOf(reply.miss), 0};
  if (batch.kind(i) == pipeline::QueryKind::kRead) return {StatusOf(reply.miss), 0};
  const cache::Command& command = batch.command(i);
  const bool made = reply.outcome == Outcome::kStored && command.verb != cache::Verb::kStore;
  if (reply.outcome == Outcome::kMiss || made) return {StatusOf(reply.miss), 0};
  const uint64_t location = batch.location(i);
  if (location == 0 || reply.made_room) return {StatusByOutcome(command, reply.outcome), 0};
  const task::Object* const object = session.ObjectAt(location);
  if (task::IsEnded(session.log(), location, object, session.now_s()))
    return {StatusOf(cache::WhyEnded(session, location)), 0};
  return {WatchStatus::kFound, task::ValueBytes(object)};
}

WatchCommand WatchCommandOf(cache::StoreMode mode, bool compares) {
  switch (mode) {
    case cache::StoreMode::kAppend: return WatchCommand::kAppend;
    case cache::StoreMode::kPrepend: return WatchCommand::kPrepend;
    default: break;
  }
  if (compares) return WatchCommand::kCas;
  switch (mode) {
    case cache::StoreMode::kAdd: return WatchCommand::kAdd;
    case cache::StoreMode::kReplace: return WatchCommand::kReplace;
    default: return WatchCommand::kSet;
  }
}

int64_t WatchedTtl(cache::Expiry expiry, uint32_t now_s) {
  if (expiry == cache::kNeverExpires) return 0;
  return expiry > now_s ? expiry - now_s : -1;
}

void NoteQuery(WatchPost& post, const protocol::Request& request, int fd,
               const pipeline::Batch& batch, uint32_t i, const cache::Reply& reply,
               const cache::Session& session) {
  const std::string_view key = batch.key(i);
  const WatchedItem before = ItemBefore(batch, i, reply, session);
  if (batch.kind(i) == pipeline::QueryKind::kRead) return NoteGet(post, fd, key, before);
  const cache::Command& command = batch.command(i);
  WatchStatus status;
  if (command.verb == cache::Verb::kStore && StoreStatusOf(reply.outcome, &status)) {
    WatchEvent store = StoreOf(command, reply, session);
    store.status = status;
    // A store without room looks for what it must drop, and for nothing before that.
    const bool fails = status == WatchStatus::kTooLarge || status == WatchStatus::kNoMemory;
    if (!fails) NoteGet(post, fd, key, before);
    NoteStore(post, store, fd, key);
    if (fails && command.clears_when_full) NoteGet(post, fd, key, before);
    return;
  }
  NoteGet(post, fd, key, before);
  if (command.verb == cache::Verb::kArithmetic && reply.outcome == Outcome::kStored) {
    // The number that a miss starts from is added, which looks once more.
    NoteGet(post, fd, key, before);
    WatchEvent store;
    store.status = WatchStatus::kStored;
    store.command = WatchCommand::kAdd;
    store.size = reply.value.size();
    store.ttl_s = WatchedTtl(command.vivify_expiry, session.now_s());
    NoteStore(post, store, fd, key);
  }
  if (command.verb == cache::Verb::kDelete && reply.removed)
    NoteDeleted(post, request, key, before.bytes);
}

void NoteTooLarge(WatchPost& post, const protocol::Request& request, int fd, std::string_view key,
                  const WatchedItem& before, uint32_t now_s) {
  WatchEvent store;
  store.status = WatchStatus::kTooLarge;
  store.command = WatchCommandOf(request.command.store_mode, request.refused_cas);
  store.ttl_s = WatchedTtl(request.command.expiry, now_s);
  store.size = request.binary ? request.swallow_bytes : request.swallow_bytes - 2;  // its line end
  NoteStore(post, store, fd, key);
  if (request.drop_key) NoteGet(post, fd, key, before);
}

}  // namespace weft::server
