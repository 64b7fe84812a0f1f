// processor/mirror_self_test.h: known answers, asked of a processor that works on a mirror.
//
// A store of the test's own is attached, filled and changed; after each the processor reads all of
// its keys. It may leave any undone, but what it answers must be the store's last word, and
// after a few jobs it must answer nearly all. self_test.h is the same for coupled processors.
//
// Threads   any.
#pragma once

#include "processor/processor.h"
#include "weft/status.h"

namespace weft::processor {

// Takes some milliseconds. kCorruption: an answer is wrong. kUnsupported: it answers too little.
// REQUIRES: no store is attached; none is afterwards
Status MirrorSelfTest(Processor* processor);

}  // namespace weft::processor
