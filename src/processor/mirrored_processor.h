// processor/mirrored_processor.h: a processor that works on a mirror of the store, whatever memory
// the mirror lies in.
//
// A thread of its own takes the jobs that wait, as many together as the device runs in one group,
// brings the mirror up to date once for all of them (Mirror::Advance), and begins them. While
// groups are under way it takes more, as far as the device allows, and tells the jobs of those that
// are done. A job for which there is no mirror just now is left undone, which is no failure: the
// last stage of its plan does it.
//
// It follows the store between jobs, too, every millisecond, up to a second after the last one:
// plans with the device and without it may take turns within milliseconds (src/planner). Then it
// sleeps until there is a job. Where so much was stored meanwhile that copying it takes long, that
// job and all that wait are left undone, too, and it says that it is behind (Processor::is_behind)
// until it has caught up, without jobs, or has tried for a second.
//
// Cost      the thread sleeps while there is nothing to do, and spins while the device works.
// Threads   as Processor.
#pragma once

#include <memory>

#include "processor/mirror_device.h"

namespace weft::processor {

// Groups of jobs that their owners share (processor/set_share.h) which the device has at once: two
// that run side by side, and one ahead of them. The fewer it has, the more is left to take.
inline constexpr uint32_t kSharedGroups = 3;

std::unique_ptr<Processor> NewMirroredProcessor(std::unique_ptr<MirrorDevice> device);

}  // namespace weft::processor
