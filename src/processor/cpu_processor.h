// processor/cpu_processor.h: the tasks on their own thread, with prefetch between them.
//
// A coupled processor like any other. A plan calls it "cpu" in a stage that the worker does not
// carry out itself. Tests put it in a device's place, because sanitizers see into it.
#pragma once

#include <memory>

#include "processor/processor.h"

namespace weft::processor {

// Jobs run one after the other. The destructor waits for those it has taken. `prefetch_bytes`: of
// an object, as task::Search has it; 0: none.
std::unique_ptr<Processor> NewCpuProcessor(uint32_t prefetch_bytes = 128);

}  // namespace weft::processor
