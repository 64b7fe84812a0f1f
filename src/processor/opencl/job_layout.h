// processor/opencl/job_layout.h: every field of task::QueryJob, for host and device to compare
// where they think it lies: the two are made by different compilers and read the same bytes.
//
// OpenCL C and C++. A field that is added to QueryJob and not here is still held to by its size.
#pragma once

#define WEFT_JOB_FIELDS(X)    \
  X(index.older.buckets)      \
  X(index.older.bucket_count) \
  X(index.newer.buckets)      \
  X(index.newer.bucket_count) \
  X(index.move_counts)        \
  X(index.policy)             \
  X(index.insert_newer)       \
  X(index.marks)              \
  X(index.changes)            \
  X(log.base)                 \
  X(log.version_bases)        \
  X(log.flush_floor)          \
  X(log.segment_shift)        \
  X(log.use_tick)             \
  X(log.resident)             \
  X(log.uses)                 \
  X(columns.hash)             \
  X(columns.key_at)           \
  X(columns.key_bytes)        \
  X(columns.keys)             \
  X(columns.word)             \
  X(columns.position)         \
  X(wanted)                   \
  X(placed)                   \
  X(result)                   \
  X(value_at)                 \
  X(values)                   \
  X(values_used)              \
  X(set_claims)               \
  X(values_begin)             \
  X(values_capacity)          \
  X(begin)                    \
  X(end)                      \
  X(tasks)                    \
  X(now_s)                    \
  X(dice)                     \
  X(notes)                    \
  X(again)                    \
  X(mirrored)                 \
  X(key_bytes_all)            \
  X(object_bytes)             \
  X(note_row)                 \
  X(sparse_entries)           \
  X(rises)
