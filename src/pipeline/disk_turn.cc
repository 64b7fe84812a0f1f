#include "pipeline/disk_turn.h"

#include <algorithm>

#include "cache/entry.h"
#include "pipeline/large_item.h"
#include "task/batch_tasks.h"

namespace weft::pipeline {
namespace {

// A batch that held large values gives their memory back.
constexpr size_t kBatchBytesKept = size_t{1} << 20;

// Whether the command may change what is stored, a read of a stale item aside (IsWinOpen).
bool MayChange(const cache::Command& command) {
  return command.verb != cache::Verb::kRead || command.update_expiry || command.vivify ||
         command.recache;
}

// Whether a meta read of the object that task KC found would be told to refresh it, and so change
// it.
bool IsWinOpen(const Batch& batch, uint32_t i, const cache::Session& session) {
  if (batch.word(i) == 0) return false;
  const uint32_t access = task::LoadRelaxed32(&session.ObjectAt(batch.location(i))->access);
  return (access & kAccessStale) != 0 && (access & kAccessWinSent) == 0;
}

// Whether the command was sent to change something: it must not seem to have been carried out where
// changes are refused.
bool MeansToChange(const cache::Command& command) {
  return command.verb != cache::Verb::kRead || command.update_expiry || command.vivify;
}

// Whether the outcome depends on what is stored.
bool DependsOnItem(const cache::Command& command) {
  return command.verb != cache::Verb::kStore || command.store_mode != cache::StoreMode::kSet ||
         command.compare_cas;
}

// An item as memory has it.
cache::ObjectSpec SpecOfItem(std::string_view key, const tier::Item& item) {
  cache::ObjectSpec spec;
  spec.key = key;
  spec.head = item.value;
  spec.client_flags = item.client_flags;
  spec.expiry = item.expiry;
  spec.has_cas = true;
  spec.cas = item.version;
  spec.access = AccessOfMarks(item.marks);
  return spec;
}

cache::Reply Failed(Outcome outcome) {
  cache::Reply reply;
  reply.outcome = outcome;
  return reply;
}

}  // namespace

void DiskTurn::AddSource(tier::Lookup* brought, bool insists) {
  sources_.push_back({brought, insists, false, false, nullptr});
}

// --- locks -------------------------------------------------------------------------------------

void DiskTurn::Lock(const Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) {
  for (uint32_t i = begin; i < end; i++) {
    const bool changes = batch.kind(i) == QueryKind::kCommand && IsLocked(batch, i);
    // Who brought answers may enter them into the cache.
    if (!changes && sources_[batch.source(i)].brought == nullptr) continue;
    stripes_[stripe_count_++] = tier::Stripes::Of(batch.hash(i));
  }
  LockAll(session);
}

void DiskTurn::LockAll(cache::Session& session) {
  std::sort(stripes_.begin(), stripes_.begin() + stripe_count_);
  stripe_count_ = static_cast<uint32_t>(
      std::unique(stripes_.begin(), stripes_.begin() + stripe_count_) - stripes_.begin());
  if (stripe_count_ == 0) return;
  tier::Stripes& stripes = tier_->stripes();
  uint32_t i = 0;
  while (i < stripe_count_ && stripes.TryLock(stripes_[i])) i++;
  if (i == stripe_count_ && !stripes.closed()) return;
  session.End();
  for (;;) {  // Ends: each round more means that a flush came between.
    for (; i < stripe_count_; i++) stripes.Lock(stripes_[i]);
    if (!stripes.closed()) break;
    while (i != 0) stripes.Unlock(stripes_[--i]);
    stripes.WaitUntilOpen();
  }
  session.Begin();
}

void DiskTurn::UnlockAll() {
  for (uint32_t i = 0; i < stripe_count_; i++) tier_->stripes().Unlock(stripes_[i]);
  stripe_count_ = 0;
}

bool DiskTurn::IsLocked(const Batch& batch, uint32_t i) const {
  return MayChange(batch.command(i)) || sources_[batch.source(i)].brought != nullptr;
}

// --- answers -----------------------------------------------------------------------------------

// Whether this group has changed a key of the stripe.
bool DiskTurn::HasChanged(uint32_t stripe, const Batch& batch) const {
  return std::any_of(changed_.begin(), changed_.end(), [&](const Change& change) {
    return tier::Stripes::Of(batch.hash(change.query)) == stripe;
  });
}

// Neighbours may change the stripe in every group that the query comes into.
bool DiskTurn::IsOutdatedByGroup(const Batch& batch, uint32_t i) {
  tier::Lookup* const brought = sources_[batch.source(i)].brought;
  if (brought == nullptr) return false;
  const uint32_t stripe = tier::Stripes::Of(batch.hash(i));
  if (!HasChanged(stripe, batch)) return false;
  const tier::Asked* const asked = brought->Find(batch.key(i), batch.hash(i));
  return asked != nullptr && asked->changes != tier_->stripes().changes(stripe);
}

// What the disk says of the query's key, if that is known and still so.
const tier::Asked* DiskTurn::AnswerFor(const Batch& batch, uint32_t i) {
  Source& source = sources_[batch.source(i)];
  if (source.brought == nullptr) return nullptr;
  const uint32_t stripe = tier::Stripes::Of(batch.hash(i));
  const uint64_t changes = tier_->stripes().changes(stripe);
  const tier::Asked* const asked = source.brought->Find(batch.key(i), batch.hash(i));
  if (asked != nullptr && asked->changes == changes) return asked;
  // What this group changed is not on disk before Commit.
  const bool is_written = !HasChanged(stripe, batch);
  // Not what was never asked for: whoever insists would have a whole batch looked up here.
  if (asked == nullptr || !source.insists || !is_written) return nullptr;
  own_.push_back(std::make_unique<tier::Asked>());
  tier::Asked& own = *own_.back();
  own.key = batch.key(i);
  own.hash = batch.hash(i);
  tier_->AnswerLocked(&own);
  own_bytes_ += own.bytes.size();
  return &own;
}

// What is brought beyond the room that the source has now may find none when it comes, and would be
// brought again.
void DiskTurn::Wait(Batch& batch, uint32_t i) {
  std::unique_ptr<tier::Lookup>& lookup = sources_[batch.source(i)].lookup;
  if (lookup == nullptr) {
    const int64_t room = std::max<int64_t>(batch.room(batch.source(i)), 1);
    lookup = std::make_unique<tier::Lookup>(static_cast<size_t>(room));
  }
  lookup->Add(batch.key(i), batch.hash(i));
}

void DiskTurn::LookAhead(Batch& batch, uint32_t i, cache::Session& session) {
  const Source& source = sources_[batch.source(i)];
  if (source.lookup == nullptr || source.lookup->full()) return;
  if (batch.kind(i) == QueryKind::kCommand && !DependsOnItem(batch.command(i))) return;
  task::CompareOne(session.index(), session.log(), batch.columns(), i);
  if (!IsInMemory(batch, i, session)) return Wait(batch, i);
  const bool is_shown =
      batch.kind(i) == QueryKind::kRead || batch.command(i).verb == cache::Verb::kRead;
  const size_t value_bytes = is_shown ? task::ValueBytes(session.ObjectAt(batch.location(i))) : 0;
  source.lookup->LowerBytesMax(tier::Lookup::kAnswerBytes + value_bytes);
}

// Enters an item that is not in memory. False: there is no room now.
bool DiskTurn::Enter(std::string_view key, uint64_t hash, const tier::Item& item,
                     cache::Session& session) {
  if (store_->Load(session, SpecOfItem(key, item), hash) == 0) return false;
  tier_->CountLoad();
  return true;
}

bool DiskTurn::Read(Batch& batch, uint32_t i, cache::Session& session) {
  const tier::Asked* const answer = AnswerFor(batch, i);
  if (answer == nullptr) {
    Wait(batch, i);
    return false;
  }
  cache::Reply& reply = batch.TurnIntoCommand(i);
  if (answer->answered == tier::Answered::kAbsent) return true;
  tier::Item item;
  if (answer->answered == tier::Answered::kError || !tier::DecodeItem(answer->bytes, &item)) {
    reply.outcome = Outcome::kIoError;
    return true;
  }
  const bool ended = tier_->IsEnded(item, session.now_s());
  tier_->CountLookup(ended);
  if (ended) {
    reply.miss = tier_->WhyEnded(item, session.now_s());
    return true;
  }
  reply.outcome = Outcome::kHit;
  reply.client_flags = item.client_flags;
  reply.value = item.value;  // the answer's own: it stays until the reply is written
  (void)Enter(batch.key(i), batch.hash(i), item, session);  // where there is no room, next time
  return true;
}

DiskTurn::Brought DiskTurn::Bring(const Batch& batch, uint32_t i, cache::Session& session,
                                  cache::Reply* reply, tier::Item* found) {
  const tier::Asked* const answer = AnswerFor(batch, i);
  if (answer == nullptr) return Brought::kWaits;
  if (answer->answered == tier::Answered::kAbsent) return Brought::kAbsent;
  tier::Item& item = *found;
  if (answer->answered == tier::Answered::kError || !tier::DecodeItem(answer->bytes, &item))
    return Brought::kError;
  const bool ended = tier_->IsEnded(item, session.now_s());
  tier_->CountLookup(ended);
  if (ended) return Brought::kAbsent;
  if (Enter(batch.key(i), batch.hash(i), item, session)) return Brought::kLoaded;
  const uint64_t bytes = batch.key(i).size() + item.value.size();
  if (bytes > store_->options().object_bytes_max) return Brought::kTooLarge;
  *reply = cache::NeedsRoom(cache::SpecBytes(SpecOfItem(batch.key(i), item)));
  return Brought::kNoRoom;
}

// --- changes -----------------------------------------------------------------------------------

bool DiskTurn::Execute(Batch& batch, uint32_t i, cache::Hint hint, cache::Session& session,
                       bool room_is_out, cache::Reply* reply) {
  cache::Command command = batch.command(i);
  if (tier_->failed()) {
    if (hint.placed != 0) store_->Abandon(session, hint.placed);
    if (MeansToChange(command)) {
      *reply = Failed(Outcome::kIoError);
      return true;
    }
    command.recache = false;  // a win could not be remembered
    command.hand_out_win = false;
  }
  hint.maybe_below = DependsOnItem(command);
  if (command.hand_out_win && !IsLocked(batch, i)) {
    // Nearly every read of this kind changes nothing. Who would win comes again with an answer from
    // the disk, for which its key is locked.
    if (IsWinOpen(batch, i, session)) {
      Wait(batch, i);
      return false;
    }
    command.hand_out_win = false;  // marked stale just now: the next reader wins
  }
  for (;;) {  // Ends: each round more means that what was brought was dropped at once.
    *reply = store_->Execute(session, command, &hint);
    if (!reply->below && reply->spared != 0 && room_is_out) {
      const tier::Item item = ItemAt(reply->spared, session);
      DropFromMemory(batch, i, session);
      *reply = ExecuteOnDisk(batch, i, command, item, session);
      return true;
    }
    if (!reply->below) {
      Note(batch, i, *reply, session);
      return true;
    }
    hint = {};
    tier::Item item;
    const Brought brought = Bring(batch, i, session, reply, &item);
    hint.maybe_below = brought != Brought::kAbsent;
    switch (brought) {
      case Brought::kAbsent:
      case Brought::kLoaded: break;
      case Brought::kNoRoom:
        if (!room_is_out) return true;
        [[fallthrough]];
      case Brought::kTooLarge:
        *reply = ExecuteOnDisk(batch, i, command, item, session);
        return true;
      case Brought::kError: *reply = Failed(Outcome::kIoError); return true;
      case Brought::kWaits: Wait(batch, i); return false;
    }
  }
}

// What memory may not hold, of an earlier and greater -I, or has no room for, is answered, changed
// and removed all the same.
cache::Reply DiskTurn::ExecuteOnDisk(const Batch& batch, uint32_t i, const cache::Command& command,
                                     tier::Item item, cache::Session& session) {
  LargeAnswer answer = AnswerLarge(command, item, session);
  if (answer.fate == LargeFate::kStays) return answer.reply;
  Change change{i, false, 0, {}, answer.made.size(), {}};
  if (answer.fate == LargeFate::kChanged) Encode(answer.item, session, &change.item);
  answer.reply.worked_bytes = static_cast<uint32_t>(change.item.size());
  change.made = std::move(answer.made);
  AddChange(batch, std::move(change));
  return answer.reply;
}

void DiskTurn::Note(const Batch& batch, uint32_t i, const cache::Reply& reply,
                    cache::Session& session) {
  if (reply.removed) {
    AddChange(batch, {i, false, 0, "", 0, {}});
  } else if (reply.published != 0) {
    const size_t bytes = task::ValueBytes(session.ObjectAt(reply.published));
    AddChange(batch, {i, false, reply.published, "", tier::kItemHeaderBytes + bytes, {}});
  }
}

void DiskTurn::AddChange(const Batch& batch, Change change) {
  const uint32_t i = change.query;
  tier_->stripes().NoteChange(tier::Stripes::Of(batch.hash(i)));
  sources_[batch.source(i)].changed = true;
  if (const Change* const last = LastChangeOf(batch, i); last != nullptr) {
    changes_bytes_ -= last->bytes;
    changed_[static_cast<size_t>(last - changed_.data())].replaced = true;
  }
  change.bytes += batch.key(i).size() + change.item.size();
  changes_bytes_ += change.bytes;
  changed_.push_back(std::move(change));
}

// What the group has done last to the query's key; null: nothing.
const DiskTurn::Change* DiskTurn::LastChangeOf(const Batch& batch, uint32_t i) const {
  const auto last = std::find_if(changed_.begin(), changed_.end(), [&](const Change& change) {
    return !change.replaced && batch.hash(change.query) == batch.hash(i) &&
           batch.key(change.query) == batch.key(i);
  });
  return last == changed_.end() ? nullptr : &*last;
}

// The objects of the group's changes stay until the epoch ends, those that were evicted since, too.
void DiskTurn::WriteChanges(const Batch& batch, cache::Session& session) {
  for (Change& change : changed_) {
    if (change.replaced) continue;
    std::string& bytes = change.location != 0 ? value_ : change.item;
    if (change.location != 0) Encode(ItemAt(change.location, session), session, &bytes);
    if (bytes.empty()) {
      changes_.Delete(batch.key(change.query));
    } else {
      changes_.Put(batch.key(change.query), bytes);
    }
    if (bytes.capacity() > kBatchBytesKept) bytes = std::string();
  }
  session.End();  // the write may have to wait
  const Status status = tier_->Write(&changes_);
  if (changes_.ApproximateSize() > kBatchBytesKept) changes_ = WriteBatch();
  changes_.Clear();
  session.Begin();
  if (status.ok()) {
    wrote_ = true;
  } else {
    TakeBack(batch, session);
  }
}

tier::Item DiskTurn::ItemAt(uint64_t location, const cache::Session& session) const {
  const task::Object* const object = session.ObjectAt(location);
  tier::Item item;
  item.marks = MarksOfAccess(task::LoadRelaxed32(&object->access));
  item.client_flags = task::ClientFlags(object);
  item.expiry = task::ExpiryOf(object);
  item.version = task::CasOf(session.log(), location);
  item.value = cache::ValueView(object);
  return item;
}

// To nothing where it has ended already.
void DiskTurn::Encode(tier::Item item, const cache::Session& session, std::string* bytes) const {
  bytes->clear();
  if (item.expiry != 0 && item.expiry <= session.now_s()) return;
  item.generation = tier_->generation();
  tier::EncodeItem(item, bytes);
}

void DiskTurn::Commit(const Batch& batch, cache::Session& session) {
  own_.clear();  // the group's replies are written
  own_bytes_ = 0;
  if (!changed_.empty()) WriteChanges(batch, session);
  changed_.clear();
  changes_bytes_ = 0;
  UnlockAll();
}

void DiskTurn::DropFromMemory(const Batch& batch, uint32_t i, cache::Session& session) {
  store_->Execute(session, cache::Removal(batch.key(i), batch.hash(i)));
}

void DiskTurn::Clear(const Batch& batch, uint32_t i, cache::Session& session) {
  DropFromMemory(batch, i, session);
  AddChange(batch, {i, false, 0, "", 0, {}});
}

// What was not written goes from memory: the disk says what counts.
void DiskTurn::TakeBack(const Batch& batch, cache::Session& session) {
  for (const Change& change : changed_) {
    sources_[batch.source(change.query)].failed = true;
    DropFromMemory(batch, change.query, session);
  }
}

void DiskTurn::DropKey(uint32_t source, const cache::Command& command, cache::Session& session) {
  stripes_[stripe_count_++] = tier::Stripes::Of(command.hash);
  LockAll(session);
  tier_->stripes().NoteChange(stripes_[0]);
  store_->Execute(session, command);
  changes_.Delete(command.key);
  session.End();
  if (tier_->Write(&changes_).ok()) {
    wrote_ = true;
    sources_[source].changed = true;
  } else {
    sources_[source].failed = true;
  }
  changes_.Clear();
  session.Begin();
  UnlockAll();
}

void DiskTurn::EndBatch() {
  if (!wrote_) return;
  wrote_ = false;
  if (tier_->options().sync_ms != 0 || tier_->Sync().ok()) return;
  for (Source& source : sources_) source.failed |= source.changed;
}

}  // namespace weft::pipeline
