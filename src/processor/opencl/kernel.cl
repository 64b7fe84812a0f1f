// The kernels of the OpenCL processor. Their algorithms are those of src/task.
#include "processor/opencl/job_layout.h"
#include "task/query_job.h"

// What the host's own tasks ask for of an object ahead, too (processor/cpu_processor.h).
#define kPrefetchBytes 128u

// The steps of a query, in functions that stay functions: a driver for a CPU runs the items of a
// group one by one and keeps a kernel's private variables, and those of all that is inlined into
// it, in arrays over the group.
#define WEFT_STEP __attribute__((noinline)) static void

WEFT_STEP PrefetchStep(WEFT_GLOBAL const QueryJob* at, u32 i) {
  PrefetchBuckets(at->index, at->columns, i, i + 1);
}
WEFT_STEP SearchStep(WEFT_GLOBAL const QueryJob* at, u32 i) { SearchQuery(*at, i, kPrefetchBytes); }
WEFT_STEP FinishStep(WEFT_GLOBAL const QueryJob* at, u32 i) { FinishQuery(*at, i); }

// One work item a query, one work group a set of kSetQueries. With QueryJob::set_claims the group's
// first item claims the set for all of them.
// The first barrier orders the other items' look behind the claim, which is all that they share.
// The others let a CPU's misses overlap: it runs each step for all items before the next step.
__kernel void RunJob(WEFT_GLOBAL const QueryJob* at) {
  __local u32 is_ours;
  if (get_local_id(0) == 0) {
    const u32 set = (u32)get_group_id(0);
    is_ours = SetBegin(*at, set) < at->end && ClaimSet(*at, set) ? 1 : 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const u32 i = at->begin + (u32)get_global_id(0);
  const bool runs = is_ours != 0 && i < at->end;
  if (runs) PrefetchStep(at, i);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (runs) SearchStep(at, i);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (runs) FinishStep(at, i);
}

// What the device's compiler makes of QueryJob: its size, then where each field lies.
// `at`: any memory of the device, which is not read.
__kernel void DescribeJob(WEFT_GLOBAL const QueryJob* at, WEFT_GLOBAL u32* layout) {
  u32 n = 0;
  layout[n++] = (u32)sizeof(QueryJob);
#define WEFT_OFFSET(field) \
  layout[n++] = (u32)((WEFT_GLOBAL const u8*)&at->field - (WEFT_GLOBAL const u8*)at);
  WEFT_JOB_FIELDS(WEFT_OFFSET)
#undef WEFT_OFFSET
}
