// processor/mirror/mirror_self_test.h: known answers, for testing a processor that works on a
// mirror.
//
// The test's own store is attached, filled and changed; after each step the processor reads all of
// its keys. It may leave any undone, but its answers must be the store's last word. After a few
// jobs it must answer nearly all. self_test.h is the same for coupled processors.
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
