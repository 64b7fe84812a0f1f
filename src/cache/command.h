// cache/command.h: one request about one key, and its answer, in no protocol's words.
//
// memcached's classic and meta commands, and the embedded API, all become a Command; the store
// answers with a Reply. The protocol decides how either is written; the store never sees text.
//
// Lifetime  Command points at the caller's bytes (key, value): they must stay until it returns.
//           Reply::value points into the object log and is valid until the caller's epoch guard
//           (cache/epoch.h) ends.
// Units     seconds on the store's clock (base/clock.h), bytes.
// Source    memcached's doc/protocol.txt, "Meta Commands", for what each switch means.
#pragma once

#include <cstdint>
#include <string_view>

#include "task/key.h"
#include "weft/cache.h"

namespace weft::cache {

enum class Verb : uint8_t {
  kRead,        // get, gets, gat, gats, mg
  kStore,       // set, add, replace, append, prepend, cas, ms
  kDelete,      // delete, md
  kArithmetic,  // incr, decr, ma
  kTouch,       // touch
};

enum class StoreMode : uint8_t { kSet, kAdd, kReplace, kAppend, kPrepend };

// Seconds on the store's clock at which an object ends. 0: never. kExpiredAtOnce: the client gets
// the reply to a store, but no one sees the object.
using Expiry = uint32_t;
inline constexpr Expiry kNeverExpires = 0;
inline constexpr Expiry kExpiredAtOnce = 1;

struct Command {
  Verb verb = Verb::kRead;
  StoreMode store_mode = StoreMode::kSet;

  // Switches. Each names the meta flag or classic command it serves.
  bool compare_cas : 1 = false;    // C, cas: act only on the version `cas_expected`
  bool explicit_cas : 1 = false;   // E: the new version is `cas_new`
  bool update_expiry : 1 = false;  // T on mg/ma/md I, gat, touch: take `expiry`
  bool vivify : 1 = false;         // N: create on a miss, living until `vivify_expiry`
  bool recache : 1 = false;        // R: hand out the win if less than `recache_s` is left
  bool recache_first : 1 = false;  // R: asked before T changes the time to live
  bool vivify_last : 1 = false;    // N: on a miss it counts, not T
  bool invalidate : 1 = false;     // I: ms takes an older cas as stale; md marks stale
  bool drop_value : 1 = false;     // x on md: the object stays, its value and flags go
  bool decrement : 1 = false;      // decr, ma MD
  bool hand_out_win : 1 = false;   // meta: a read of a stale object hands out the win (W, then Z)
  bool want_cas : 1 = false;       // gets, c: a client will be shown the version
  bool want_value : 1 = true;      // a read returns the value, which makes the reply long
  bool want_access : 1 = false;    // h, l, t: read the access record before this access is noted
  bool quiet_access : 1 = false;   // this read must leave no trace (me)
  bool binary_key : 1 = false;     // b: the key came as base64; remembered with the object
  // set, ms: if memory has no room for the new value, the old one goes, too: it would outlive a
  // newer one. Whoever finds no room carries it out (pipeline/cpu_stage.h).
  bool clears_when_full : 1 = false;

  uint32_t client_flags = 0;
  Expiry expiry = kNeverExpires;
  Expiry vivify_expiry = kNeverExpires;
  int32_t recache_s = 0;
  uint64_t cas_expected = 0;
  uint64_t cas_new = 0;
  uint64_t delta = 1;
  uint64_t initial = 0;  // what vivify starts arithmetic from

  uint64_t hash = 0;  // Store::HashOf(key)
  std::string_view key;
  std::string_view value;
};

// Stores whatever the key holds, as a version that the store chooses.
inline bool IsPlainSet(const Command& command) {
  return command.verb == Verb::kStore && command.store_mode == StoreMode::kSet &&
         !command.compare_cas && !command.explicit_cas;
}

inline bool IsConcatenation(const Command& command) {
  return command.store_mode == StoreMode::kAppend || command.store_mode == StoreMode::kPrepend;
}

// A command that takes the key out, whatever it holds.
inline Command Removal(std::string_view key, uint64_t hash) {
  Command command;
  command.verb = Verb::kDelete;
  command.key = key;
  command.hash = hash;
  return command;
}

// Whether it may write, or read in vain, a whole item although it brings little itself.
inline bool MayRewrite(const Command& command) {
  switch (command.verb) {
    case Verb::kRead: return command.update_expiry;
    case Verb::kStore: return IsConcatenation(command);
    case Verb::kDelete: return command.invalidate;
    case Verb::kArithmetic: return true;  // what follows the digits may be long
    case Verb::kTouch: return true;
  }
  return true;
}

// Why a read found nothing.
enum class Miss : uint8_t { kAbsent, kExpired, kFlushed };

struct Reply {
  Outcome outcome = Outcome::kMiss;
  bool stale : 1 = false;       // X: the object was marked stale
  bool won : 1 = false;         // W: this reader is the one to refresh it
  bool win_taken : 1 = false;   // Z: somebody else is
  bool hit_before : 1 = false;  // h: it was read before this
  bool binary_key : 1 = false;  // b: it was stored under a base64 key
  bool needs_room : 1 = false;  // kNoMemory only for now: make room, then try again
  bool replaces : 1 = false;    // needs_room: of Room::kReplacing (cache/object_log.h)
  bool made_room : 1 = false;   // the epoch was left meanwhile: earlier replies' values are gone
  bool below : 1 = false;       // nothing was done: the tier below comes first (Hint::maybe_below)
  bool removed : 1 = false;     // the entry was removed
  bool lengthened : 1 = false;  // arithmetic: the number's text is longer than the value was

  Miss miss = Miss::kAbsent;  // why there was nothing, even if the command made something
  uint32_t client_flags = 0;
  int32_t ttl_s = -1;          // seconds left; -1: never expires
  int32_t ttl_before_s = -1;   // the same before the command changed it
  uint32_t last_access_s = 0;  // seconds since it was last read or written
  uint32_t object_bytes = 0;   // header, key and value in the log; needs_room: of the new version
  // Bytes of a value read for a number in vain, or written beside the log: work, as an append is.
  uint32_t worked_bytes = 0;
  uint64_t cas = 0;
  uint64_t published = 0;  // location of the version that the command put in place; 0: none
  uint64_t spared = 0;     // needs_room: location of the version it works on; 0: none
  uint64_t number = 0;     // arithmetic: the value after it
  std::string_view value;
};

// In the form in which tasks take keys.
inline const uint8_t* KeyData(std::string_view key) {
  return reinterpret_cast<const uint8_t*>(key.data());
}
inline task::Key TaskKey(std::string_view key, uint64_t hash) {
  return {hash, KeyData(key), static_cast<uint32_t>(key.size())};
}

}  // namespace weft::cache
