// processor/cuda/kernels.h: the kernels, as a host calls them. No CUDA header is needed to call.
//
// Threads   any. A call enqueues on the stream and returns; nothing waits.
// Errors    a launch that the driver refused. What a kernel itself did wrong is told by the next
//           call that waits for the stream.
#pragma once

#include "processor/cuda/table_job.h"
#include "weft/status.h"

struct CUstream_st;  // what a cudaStream_t points at
struct CUevent_st;   // and a cudaEvent_t

namespace weft::processor {

using CudaStream = CUstream_st*;

// The tuned kernels. The job's tasks choose:
//   kRunSearch                                         word and position of a candidate
//   kRunSearch | kRunCompare                           exact, no value
//   ... | kRunRead                                     reads
//   ... | kRunInsert                                   stores: two launches
//   ... | kRunDelete                                   deletes
//   ... | kRunRead | kRunInsert | kRunDelete           any mix: one kernel and the stores' second
// and where all keys are 8, 16 or 32 bytes long (key_bytes_all), the one of that length. What a
// stage without kRunSearch may do, on what one before it found, has a kernel for any length:
//   kRunCompare, kRunCompare | kRunRead, kRunRead
// kUnsupported: no kernel runs just these tasks, or the index is growing; RunPlain does it.
Status RunTable(const TableJob& job, CudaStream stream);

inline constexpr uint32_t kTableGroupMax = 16;

// Up to kTableGroupMax such jobs without stores and deletes in one launch, which costs as much for
// all as for one. They have the same tasks. REQUIRES: one index and log
Status RunTables(const TableJob* jobs, uint32_t count, CudaStream stream);

// The single-source tasks, one lane a query: what the tuned kernels are held to.
Status RunPlain(const task::QueryJob& job, CudaStream stream);

}  // namespace weft::processor
