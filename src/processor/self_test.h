// processor/self_test.h: known answers, asked of a processor before it gets any work.
//
// It runs every task, on its own index and log in the processor's memory, and compares with the
// model of trial.h. It covers keys of every length, tags and whole hashes that collide, stores that
// enter and replace, and deletes. It covers entries that have ended or were flushed, long values
// and more of them than there is room for. It covers displacement, full buckets, and an index that
// grows. It covers tasks as separate stages, sets shared with the CPU, and jobs run again. The CPU
// does what the processor cannot (Description::tasks), as it would in a plan.
//
// Source    hashcat, which starts no device that does not reproduce a known answer.
// Threads   any; one more for a moment.
#pragma once

#include "processor/processor.h"
#include "weft/status.h"

namespace weft::processor {

// Takes some milliseconds of a warm processor, and 10 MiB of its memory. kCorruption: an answer is
// wrong; the message says in which part, of which query and how. Errors of the processor itself are
// passed on, and kNoMemory.
// REQUIRES: the processor's memory is coupled
Status SelfTest(Processor* processor);

}  // namespace weft::processor
