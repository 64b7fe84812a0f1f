// lsm/log_resync.h: finds where a log goes on behind a fragment that is wrong, within its block.
//
// A checksum covers type and payload, not the length: where it holds for another length, or for
// another type, that one is right, and nothing is lost. Otherwise the fragment's end is where its
// header and the record within say so together, or where one of them does and something follows
// there. Only where nothing tells the end, the next fragment is looked for, at every byte.
//
// A value may be a copy of some log. So a fragment that is searched for counts only
//   - where others follow it, one behind the other, to the end of what the block holds, or of what
//     a power cut left of it, with numbers that rise all the way;
//   - where its number lies between those that are sure (lsm/record_window.h);
//   - where a writer puts it: what begins a record, and is no part of a longer one but at the
//     block's end;
//   - outside a write that was cut.
// Of several ways to go on, the one that loses the fewest numbers is taken.
//
// Threads   pure.
// Cost      what a block of checksums costs, and for a fragment that is found the same once more;
//           a little more than a megabyte of memory.
// Source    docs/formats/log.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lsm/log_format.h"
#include "lsm/record_kind.h"

namespace weft::lsm {

struct MendedHeader {
  FragmentType type = FragmentType::kZero;
  size_t payload_bytes = 0;
};

// What is known of the records around. Places count from the block's beginning: those of others lie
// before or behind it.
struct SearchTerms {
  // A number at a place; a record that is there and sure.
  struct At {
    uint64_t number = 0;
    int64_t place = 0;
  };

  RecordKind kind = RecordKind::kAny;
  uint64_t before = 0;       // the last number that was taken: the next are above it
  std::optional<At> anchor;  // the last number, and end, of the one before
  std::optional<At> behind;  // the first number, and place, of the one behind

  // Whether a record between these two may have them.
  bool IsInOrder(const RecordNumbers& numbers) const {
    return numbers.first > before && (!behind || numbers.last < behind->number);
  }
  // The same of one that is found from `begin` to `end`: from one of its neighbours it is not
  // farther, by number, than the bytes between had room for.
  bool Allow(const RecordNumbers& numbers, size_t begin, size_t end) const;
};

// Of what stands at `at` of a block and is no whole fragment: its header, where type or length
// alone is wrong.
std::optional<MendedHeader> MendHeader(std::string_view block, size_t at);

// Of what stands at `at` of a block and is no whole fragment: how far it reaches, if that can be
// told; else 0.
size_t BytesToPassOver(std::string_view block, size_t at, const SearchTerms& terms);

// How far the next fragment is from `at` of a block, searched for byte by byte; where none is
// found, the block's end.
size_t BytesToNextFragment(std::string_view block, size_t at, const SearchTerms& terms);

}  // namespace weft::lsm
