// lsm/torn_batch.h: whether what stands at a log's end is one batch that was cut while it was
// written, whatever its values hold.
//
// A value may be a copy of some log. Where the record that holds it is torn, whole records are
// found in what is left of it, and they are no sign of damage. What tells the two apart is the
// batch itself: as far as its bytes go it must be one that needs more of them, or all that its
// fragment has. Of a whole record whose length was damaged that is not true: its batch ends before.
// Of the run of bytes that a process wrote as it ended, the first 8 may still be zeros.
//
// Threads   one.
// Errors    of the file.
// Cost      reads the file's end once; memory for a block of it.
// Source    docs/formats/log.md, docs/formats/write-batch.md.
#pragma once

#include <cstdint>

#include "table/internal_key.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// `file` is at its first byte; the record in question begins at `from` of it, behind the last whole
// one or the filling of that one's block. `before`: the sequence number of the write before it.
Result<bool> IsTornBatch(SequentialFile* file, uint64_t from, table::SequenceNumber before);

}  // namespace weft::lsm
