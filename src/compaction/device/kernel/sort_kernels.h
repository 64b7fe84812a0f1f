// compaction/device/kernel/sort_kernels.h: the second phase: one order of all runs, without what
// nobody can see any more.
//
// An entry's place among all is its place in its own run and the number of entries of each other
// run that come before it: a binary search a run, and no entry waits for another. Neighbours in a
// run search nearly the same way, so that a warp's loads are mostly of the same lines. A tree of
// losers (compaction/merge.h) does fewer comparisons, one after the other.
//
// What is dropped is told from an entry and the one before it (compaction/drop_rule.h). The one
// case where it takes more is left to the CPU: a value that has ended, seen by a snapshot, twice.
//
// Threads   as compaction/device/kernel/unpack_kernels.h says.
#pragma once

#include "compaction/device/kernel/entries.h"
#include "compaction/device/kernel/unpack_kernels.h"

namespace weft::compaction::device {

// Entries of a run that are the piece's.
struct RunRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t place = 0;  // entries of the runs before it
};

// Where a run's entries enter the piece's range of user keys, and where they leave it.
struct FindRunRanges {
  Entries entries;
  const uint32_t* run_begin;  // one more at the end
  KeyList bounds;             // the range's first key and its end
  uint32_t has_first;
  uint32_t has_end;
  RunRange* ranges;  // their places: 0

  WEFT_HOST_DEVICE void operator()(uint64_t run) const {
    const uint32_t begin = run_begin[run];
    const uint32_t end = run_begin[run + 1];
    ranges[run].begin = has_first != 0 ? FirstNotBelow(begin, end, bounds.Key(0)) : begin;
    ranges[run].end = has_end != 0 ? FirstNotBelow(begin, end, bounds.Key(1)) : end;
    ranges[run].place = 0;
  }
  WEFT_HOST_DEVICE uint32_t FirstNotBelow(uint32_t low, uint32_t high, Bytes user_key) const {
    return FirstWhere(low, high, [&](uint32_t entry) {
      return CompareWithUserKey(entries.Key(entry), user_key) >= 0;
    });
  }
};

// order[p]: which entry comes at place p of the merged piece. Item i is the i'th entry of the
// ranges, run after run.
struct PlaceEntries {
  Entries entries;
  const RunRange* ranges;
  uint32_t runs;
  uint32_t* order;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    const auto i = static_cast<uint32_t>(item);
    uint32_t own = 0;
    while (own + 1 < runs && ranges[own + 1].place <= i) own++;
    const uint32_t entry = ranges[own].begin + (i - ranges[own].place);
    uint32_t place = entry - ranges[own].begin;
    for (uint32_t run = 0; run < runs; run++) {
      // Of equal keys the one of the earlier (newer) run comes first.
      if (run != own) place += CountBefore(ranges[run], entry, run < own ? 1 : 0);
    }
    order[place] = entry;
  }
  // Entries of the run that come before `entry`, or are equal where `or_equal` is 1.
  WEFT_HOST_DEVICE uint32_t CountBefore(const RunRange& range, uint32_t entry, int or_equal) const {
    const uint32_t behind = FirstWhere(range.begin, range.end, [&](uint32_t other) {
      return CompareEntries(entries, other, entry) >= or_equal;
    });
    return behind - range.begin;
  }
};

// Which values have ended (compaction::LifetimeRule).
struct Lifetime {
  uint32_t is_set = 0;
  uint32_t expiry_offset = 0;
  uint32_t generation_offset = 0;
  uint32_t now_s = 0;
  uint32_t generation_floor = 0;

  WEFT_HOST_DEVICE bool HasEnded(Bytes value) const {
    if (is_set == 0) return false;
    const uint64_t bytes_min =
        uint64_t{expiry_offset > generation_offset ? expiry_offset : generation_offset} + 4;
    if (value.size < bytes_min) return false;
    const uint32_t expiry = base::LoadLittleEndian32(value.at + expiry_offset);
    const uint32_t generation = base::LoadLittleEndian32(value.at + generation_offset);
    return (expiry != 0 && expiry <= now_s) || generation < generation_floor;
  }
};

// The spans of keys that deeper levels hold: of level l the spans [level_begin[l], level_begin[l +
// 1]) of both lists, in order.
struct DeeperSpans {
  KeyList smallest;
  KeyList largest;
  const uint32_t* level_begin = nullptr;
  uint32_t levels = 0;

  WEFT_HOST_DEVICE bool MayHold(Bytes user_key) const {
    for (uint32_t level = 0; level < levels; level++) {
      const uint32_t end = level_begin[level + 1];
      const uint32_t span = FirstWhere(level_begin[level], end, [&](uint32_t i) {
        return CompareBytes(user_key, largest.Key(i)) <= 0;
      });
      if (span < end && CompareBytes(user_key, smallest.Key(span)) >= 0) return true;
    }
    return false;
  }
};

// is_kept[p]: whether the entry at place p stays. One that has ended and must hide others stays,
// and EndValues makes it a deletion.
struct DecideFates {
  Entries entries;
  const uint32_t* order;
  uint64_t oldest_snapshot;
  Lifetime lifetime;
  DeeperSpans deeper;
  uint32_t* is_kept;
  Findings* findings;

  WEFT_HOST_DEVICE void operator()(uint64_t place) const {
    const uint32_t entry = order[place];
    is_kept[place] = Keeps(place, entry) ? 1 : 0;
  }

 private:
  WEFT_HOST_DEVICE bool Keeps(uint64_t place, uint32_t entry) const {
    const Bytes key = entries.Key(entry);
    if (!Parses(key)) {
      base::AtomicAdd(&findings->unparsed, 1);
      return true;
    }
    const uint64_t trailer = Trailer(key);
    const bool is_old = trailer >> 8 <= oldest_snapshot;
    if (place != 0 && IsHidden(entries.Key(order[place - 1]), key)) return false;
    if ((trailer & 0xff) == 0) return !is_old || deeper.MayHold(UserKey(key));
    if (!lifetime.HasEnded(entries.Value(entry))) return true;
    base::AtomicAdd(&findings->ended, 1);
    return !is_old || deeper.MayHold(UserKey(key));
  }
  WEFT_HOST_DEVICE bool IsHidden(Bytes before, Bytes key) const {
    if (!Parses(before) || before.size != key.size) return false;
    if (SharedBytes(UserKey(before), UserKey(key)) != key.size - kTrailerBytes) return false;
    const uint64_t trailer_before = Trailer(before);
    const uint64_t trailer = Trailer(key);
    if (trailer_before >> 8 <= oldest_snapshot) return true;
    // One may have become a deletion before the other was looked at.
    if (lifetime.is_set != 0 && trailer_before >> 8 == trailer >> 8) {
      base::AtomicAdd(&findings->undecided, 1);
    }
    return trailer_before == trailer;
  }
};

// Makes deletions of what DecideFates kept though it has ended: in its key and its value. Once
// nobody asks for keys as they came.
struct EndValues {
  Entries entries;
  const uint32_t* order;
  const uint32_t* is_kept;
  Lifetime lifetime;

  WEFT_HOST_DEVICE void operator()(uint64_t place) const {
    const uint32_t entry = order[place];
    const Bytes key = entries.Key(entry);
    if (is_kept[place] == 0 || !Parses(key) || (Trailer(key) & 0xff) == 0) return;
    if (!lifetime.HasEnded(entries.Value(entry))) return;
    entries.key[entry][key.size - kTrailerBytes] = 0;  // the type; the trailer is little-endian
    entries.value_bytes[entry] = 0;
  }
};

// live[s]: the s'th entry that stays, behind those carried over.
struct GatherLive {
  const uint32_t* order;
  const uint32_t* is_kept;
  const uint64_t* kept_before;  // by place, one more at the end
  uint32_t carried;
  uint32_t* live;

  WEFT_HOST_DEVICE void operator()(uint64_t place) const {
    if (is_kept[place] != 0) live[carried + kept_before[place]] = order[place];
  }
};

// The first place whose key is above grandparent i's largest.
struct FindGrandparents {
  Entries entries;
  const uint32_t* order;
  uint32_t places;
  KeyList largest;
  uint32_t* place_behind;

  WEFT_HOST_DEVICE void operator()(uint64_t item) const {
    const Bytes end = largest.Key(static_cast<uint32_t>(item));
    place_behind[item] = FirstWhere(0, places, [&](uint32_t place) {
      return CompareInternal(entries.Key(order[place]), end) > 0;
    });
  }
};

}  // namespace weft::compaction::device
