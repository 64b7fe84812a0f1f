// lsm/log_resync.h: finds where a log goes on behind a fragment that is wrong, within its block.
//
// A checksum covers type and payload, not the length: where it holds for another length, or for
// another type, that one is right, and nothing is lost. Otherwise the next fragment is looked for,
// at every byte. A value may be a copy of some log, so a fragment counts only where others follow
// it, one behind the other, to the end of what the block holds. Where the value's record is what is
// wrong, its copy is followed by the next record: the numbers of batches tell, for they only rise.
//
// Threads   pure.
// Cost      what a block of checksums costs, and for a fragment that is found the same once more.
// Source    docs/formats/log.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "lsm/log_format.h"

namespace weft::lsm {

struct MendedHeader {
  FragmentType type = FragmentType::kZero;
  size_t payload_bytes = 0;
};

// Of what stands at `at` of a block and is no whole fragment: its header, where type or length
// alone is wrong.
std::optional<MendedHeader> MendHeader(std::string_view block, size_t at);

// Of what stands at `at` of a block and is no whole fragment: how far its length leads, if that can
// be trusted; else 0.
size_t BytesToPassOver(std::string_view block, size_t at);

// How far the next fragment is from `at` of a block, searched for byte by byte; where none is
// found, the block's end. `are_batches`: each record is a write batch.
size_t BytesToNextFragment(std::string_view block, size_t at, bool are_batches);

}  // namespace weft::lsm
