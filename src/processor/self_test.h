// processor/self_test.h: known answers, asked of a processor before it is given any work.
//
// Every task, on an index and log of the test's own in the processor's memory, against the model of
// trial.h: keys of every length, tags and whole hashes that collide, stores that enter and replace,
// deletes, entries that have ended or were flushed, long values and more of them than there is room
// for, displacement, full buckets, an index that grows, tasks in stages of their own, sets shared
// with the CPU, jobs run again. What the processor cannot run by itself (Description::tasks) the
// CPU does, as it would in a plan.
//
// Source    hashcat, which starts no device that does not reproduce a known answer.
// Threads   any; one more for a moment.
#pragma once

#include "processor/processor.h"
#include "weft/status.h"

namespace weft::processor {

// Takes some milliseconds of a processor that is warm, and 10 MiB of its memory.
// kCorruption: an answer is wrong; the message says in which part, of which query and how. What the
// processor itself says is passed on, and kNoMemory.
// REQUIRES: the processor's memory is coupled
Status SelfTest(Processor* processor);

}  // namespace weft::processor
