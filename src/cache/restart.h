// cache/restart.h: a store's objects outlive the process: they lie in a memory file, and the next
// store enters them into an index of its own.
//
// The log has no tombstones: an object whose key was deleted looks like any other. So a clean stop
// walks the index, and marks each object that has an entry (kAccessLive). A start goes through the
// segments, enters the marked ones, and takes the marks off. Hash secret, index and threads may be
// others than before. docs/formats/memory-file.md has what is written, docs/running.md how it is
// used.
//
// What is left out: objects that have ended or were flushed, and, at the start, segments whose
// bytes are not as they were written.
//
// Threads   one calls; each uses up to kRestartThreadsMax for its work. Nobody else uses the store.
// Errors    a store that cannot be saved leaves a file that the next one does not believe.
// Cost      at the stop a random access an object, and a pass over the bytes; at the start a pass,
//           and an insert an object (docs/measured/0006-memory-and-index.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cache/memory_file.h"
#include "cache/store.h"

namespace weft::cache {

inline constexpr uint32_t kRestartThreadsMax = 16;
// How many it uses here.
uint32_t RestartThreads();

// Of the durable store below the cache, which decides if the two differ.
struct RestartBelow {
  uint64_t sequence = 0;  // of its last change; 0: there is no such store
  uint64_t folder = 0;    // a number that is that folder's alone
};

// The steps of a save, for tests that end the process at one.
enum class SaveStep : uint8_t { kBegun, kMarked, kSummed, kTableWritten, kSealed, kDone };

struct Saved {
  uint64_t items = 0;
  uint64_t bytes = 0;  // of the segments that hold them
};
// REQUIRES: no session is in a batch; the store's objects lie in `file`. Afterwards the store may
// only be looked at.
Result<Saved> SaveStore(
    Store* store, MemoryFile* file, const RestartBelow& below,
    const std::function<void(SaveStep)>& at_step = [](SaveStep) {});

struct Restored {
  std::string why_empty;  // the store begins empty, because of this; empty: it does not
  uint64_t items = 0;
  uint64_t bytes = 0;             // of the segments that hold them
  uint64_t damaged_segments = 0;  // left out: their bytes are not as they were written
  uint64_t refused = 0;  // objects for which the index had no place: full sets drop what comes
};
// Fills the store with what its memory file holds, or empties the file. kCorruption: FILE.meta is
// not one; it is gone by now. REQUIRES: the store's objects lie in `file`; nothing was stored yet,
// and neither session nor device uses the store. AllowFilling and KeepVersions come before.
Result<Restored> RestoreStore(Store* store, MemoryFile* file, const RestartBelow& below);

}  // namespace weft::cache
