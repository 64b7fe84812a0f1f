// lsm/log_resync.h: finds where a log goes on behind a fragment that is wrong, within its block.
//
// A checksum covers type and payload, not the length: where it holds for another length, or for
// another type, that one is right, and nothing is lost. Otherwise the next fragment is looked for,
// at every byte. A value may be a copy of some log, so a fragment counts only where others follow
// it, one behind the other, to the end of what the block holds.
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

// How many bytes at `at` of a block, where no whole fragment stands, are to be passed over: as far
// as its length leads, where that can be trusted. Else, if `search`, up to the next fragment; else,
// or where none is found, all.
size_t BytesToPassOver(std::string_view block, size_t at, bool search);

}  // namespace weft::lsm
