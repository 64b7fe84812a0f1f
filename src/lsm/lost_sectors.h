// lsm/lost_sectors.h: whether sectors that a power cut took away explain a record that is wrong.
//
// What was not synced is lost by whole sectors, and reads as zeros up to the sector's end. All
// other bytes are what was written. So the header of a fragment, where it is there, says the truth,
// and so do the lengths within the batch. A length or a type that is damaged does not: its batch
// ends before its fragment, or its fragments do not follow one another.
//
// A sync may also meet a log while a run of bytes is copied in, of which the first are visible last
// (base/posix_log.h). If the power goes before the next one, they stay zeros. Nothing that was
// written later stands in the same sector.
//
// Threads   one.
// Errors    of the file.
// Cost      reads the record once; memory for a block of it.
// Source    docs/formats/log.md, docs/formats/write-batch.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lsm/log_format.h"
#include "table/internal_key.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// What a disk writes whole or not at all; pages are so many of them.
inline constexpr size_t kSectorBytes = 512;
// Fewer zeros at a sector's end may be data's.
inline constexpr size_t kLostBytesMin = 8;
// What a mapped log makes visible last of a run: a header, and a byte of what follows it.
inline constexpr size_t kHiddenBytes = kLogHeaderBytes + 1;

// Whether what begins at `at` of a block may be a run that was not visible when its sector was
// written to the disk.
bool MayBeHidden(std::string_view block, size_t at);

// `file` is at its first byte; the record in question begins at `from` of it, behind the last whole
// one or the filling of that one's block; it touches a sector that ends in zeros, or MayBeHidden.
// Whether all
// that is there of it may be a batch behind `before`, the sequence number of the last whole one.
Result<bool> ExplainedByLostSectors(SequentialFile* file, uint64_t from,
                                    table::SequenceNumber before);

}  // namespace weft::lsm
