// processor/mirror/plain_mirror.h: a mirror in memory of this process, where nobody else looks.
//
// What a discrete GPU is to the pipeline, without one: it runs the reads of a plan on a mirror
// (mirror.h) of the store in memory that nobody else sees. Tests hold the mirroring to the
// one-stage plan by it, under the sanitizers, too.
//
// Threads   as Processor.
#pragma once

#include <memory>

#include "processor/mirror/mirror_device.h"

namespace weft::processor {

// `segments_max`: room in its memory for so many segments of the log.
std::unique_ptr<Processor> NewMirrorProcessor(uint32_t segments_max = UINT32_MAX);
// What that drives. Its device is the thread that asks it: a group is run when it is launched.
std::unique_ptr<MirrorDevice> NewPlainMirror(uint32_t segments_max = UINT32_MAX);

}  // namespace weft::processor
