// processor/cpu_processor.h: the tasks on a thread of their own, with prefetch between them.
//
// A coupled processor like any other: what a plan calls "cpu" in a stage that is not carried out by
// the worker itself, and what tests put in a device's place, because the sanitizers see into it.
#pragma once

#include <memory>

#include "processor/processor.h"

namespace weft::processor {

// Jobs run one after the other. Its end waits for those that it has taken.
// `prefetch_bytes`: of an object, as task::Search has it; 0: none.
std::unique_ptr<Processor> NewCpuProcessor(uint32_t prefetch_bytes = 128);

}  // namespace weft::processor
