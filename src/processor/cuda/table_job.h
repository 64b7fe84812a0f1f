// processor/cuda/table_job.h: a batch of queries against a table in device memory, in the form that
// the tuned kernels take by value.
//
// It is a QueryJob (task/query_job.h) with three more freedoms. Columns whose entries are all equal
// may be left out. Objects to store are given as key and value, and the kernel writes them. Values
// may be gathered at a fixed stride. The kernels' answers equal RunQuery's; a test compares the
// two.
//
// Memory    index, log and counters are on the device. The columns may also lie in pinned memory of
//           the host: each is read once and written once, by warps, so that the bus carries whole
//           lines. Every array starts at a multiple of 16 bytes (cudaMalloc's is 256); keys and
//           values end at one of 8, with initialized bytes. kReadBehindBytes behind the present
//           part of a log are mapped too, whatever they hold.
// Order     as QueryJob: queries run in any order, at once. Unless `repeats` is set, no key that
//           one query stores or deletes is asked for by another of the batch.
// Units     bytes, except where "units" says 8-byte units.
#pragma once

#include "task/query_job.h"

namespace weft::processor {

struct TableJob {
  task::IndexRef index{};  // REQUIRES: it is not growing
  task::LogRef log{};
  uint32_t count = 0;  // at most kTableJobMax
  uint32_t tasks = 0;  // kRun..., or-ed: which kernel; see RunTable in processor/cuda/kernels.h
  uint32_t now_s = 0;
  uint32_t notes = 0;  // as in QueryJob, with dice
  uint32_t dice = 0;
  uint32_t repeats = 0;   // 1: a key may be stored by several queries of the batch
  uint32_t again = 0;     // as in QueryJob; only jobs without stores and deletes
  uint32_t mirrored = 0;  // as in QueryJob; then `notes` is 0
  uint32_t note_row = 0;  // as in QueryJob, with sparse_entries
  uint32_t sparse_entries = 0;

  // --- in ---
  const uint64_t* hash = nullptr;
  const uint8_t* keys = nullptr;
  const uint32_t* key_at = nullptr;    // null: key i lies at i * RoundUp8(key_bytes_all)
  const uint8_t* key_bytes = nullptr;  // null: all are key_bytes_all long
  uint32_t key_bytes_all = 0;          // 0: of various lengths
  uint32_t wanted_all = 0;             // if `wanted` is null
  const uint8_t* wanted = nullptr;     // kWants...

  // --- in, of stores: the kernel writes the object; `placed` is where ---
  const uint8_t* store_values = nullptr;
  const uint32_t* store_at = nullptr;  // units; null: value i lies at i * RoundUp8(store_bytes_all)
  const uint32_t* store_bytes = nullptr;  // null: all are store_bytes_all long
  uint32_t store_bytes_all = 0;
  uint32_t log_align = 1;                  // units that each object starts at a multiple of: 1 to 8
  const uint32_t* store_expiry = nullptr;  // seconds, 0: never; null: none ends
  uint64_t* log_next = nullptr;            // units; the kernel takes space here; may pass log_end
  uint64_t log_end = 0;                    // units

  // --- in and out ---
  uint8_t* result = nullptr;  // kResult...; null of kRunSearch alone: all are kResultNone
  // As Columns::word and ::position. In: of a job without kRunSearch. Null: of one with it, if
  // nobody asks for them.
  uint64_t* word = nullptr;
  uint64_t* position = nullptr;

  // --- out ---
  uint64_t* placed = nullptr;       // of stores: location of the object written, 0: no room
  uint32_t* value_at = nullptr;     // units, and kValueNoteBit; null where value_stride is set
  uint8_t* values = nullptr;        // records as QueryJob gathers them, at multiples of 16 bytes
  uint64_t* values_used = nullptr;  // units, zero before; null where value_stride is set
  uint64_t values_begin = 0;        // units, a multiple of 4: values_used counts from there
  uint64_t values_capacity = 0;     // units, at most kValueNoteBit
  uint32_t value_stride = 0;        // units, even: record i lies at i * value_stride; 0: packed
  // Bytes of an object, as far as they are known, rounded up to 16: this many, up to 128, are
  // fetched at once. 0: values are fetched after their objects' keys were compared, a third slower.
  uint32_t read_bytes = 0;
  // 1: for values of 64 bytes and more that go over a bus. A block then takes fewer queries, and
  // all of its warps copy their records. A warp that copies 32 of them alone takes so long that
  // small groups of jobs wait for it, not for the bus. Only jobs without stores and deletes.
  uint32_t shares_records = 0;

  // --- between the two passes of a job with stores ---
  uint32_t* pending = nullptr;        // queries that the first pass left, at most `count`
  uint64_t* pending_count = nullptr;  // zero before
};

inline constexpr uint32_t kTableJobMax = 0xffffff00u;
// Mapped behind the present part of a log: the kernels read whole words and pairs, and too much of
// an object that is shorter than the others.
inline constexpr uint64_t kReadBehindBytes = 128;

}  // namespace weft::processor
