// cache/lookup_views.h: how lookups settle the candidate that task IN.search found for a key.
//
// Many lookups of the embedded API (cache/multi.cc) and plain reads of the server's batches
// (pipeline/cpu_stage_rows.cc) share it. PlainHit settles nearly all candidates: it reads a line
// of the object, which was asked for before. LiveObject settles the others.
//
// Threads   the session's, within one epoch.
// Cost      PlainHit: some 15 instructions beside the comparison of the key.
// Source    tasks KC and RD of paper 000; docs/design/0016-the-speed-of-the-cpu-path.md.
#pragma once

#include <cstdint>

#include "cache/session.h"
#include "task/batch_tasks.h"

namespace weft::cache {

// Of one epoch, by value: byte copies and columns could otherwise change them, for all that the
// compiler knows.
struct LookupViews {
  explicit LookupViews(const Session& session)
      : index(session.index()),
        log(session.log()),
        now_s(session.now_s()),
        finds_plain(log.resident == nullptr && log.flush_floor == 0) {}

  const task::IndexRef index;
  const task::LogRef log;
  const uint32_t now_s;
  const bool finds_plain;  // no object is elsewhere, or flushed
};

// The object of the entry `word`, if it is plain and has the key: one that cannot have ended. Null:
// LiveObject is to say. REQUIRES: 0 < key_bytes <= kKeyBytesMax
inline const task::Object* PlainHit(const LookupViews& views, uint64_t word, const uint8_t* key,
                                    uint32_t key_bytes) {
  const task::Object* const object = task::ObjectAt(views.log, task::SlotLocation(word));
  const bool is_hit = word != 0 && views.finds_plain && task::HasPlainKey(object, key, key_bytes);
  return is_hit ? object : nullptr;
}

// The object of query `i`, whose key this is. Null: there is none, and then the column's word is 0,
// or it has ended. The slot is read anew, and without a candidate the search is exact.
__attribute__((noinline)) inline const task::Object* LiveObject(const LookupViews& views,
                                                                const task::Columns& columns,
                                                                uint32_t i, const uint8_t* key,
                                                                uint32_t key_bytes) {
  task::CompareKey(views.index, views.log, columns, i, key, key_bytes);
  const uint64_t location = task::SlotLocation(columns.word[i]);
  if (location == 0) return nullptr;
  const task::Object* const object = task::ObjectAt(views.log, location);
  return task::IsEnded(views.log, location, object, views.now_s) ? nullptr : object;
}

}  // namespace weft::cache
