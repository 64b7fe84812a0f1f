// processor/mirror/mirrored_processor.h: a processor that works on a mirror of the store, in any
// memory.
//
// Its own thread takes waiting jobs, as many as the device runs in one group. It brings the mirror
// up to date once for all of them (Mirror::Advance), and begins them. While groups are under way it
// takes more, as far as the device allows, and finishes the jobs of completed groups. A job for
// which there is no mirror at the moment is left undone, which is no failure: the last stage of its
// plan does it.
//
// It follows the store between jobs, too, every millisecond, up to a second after the last one:
// plans with the device and without it may take turns within milliseconds (src/planner). Then it
// sleeps until there is a job. If copying all that was stored meanwhile takes long, that job and
// all that wait are left undone, too. Then it reports that it is behind (Processor::is_behind),
// until it has caught up, without jobs, or has tried for a second.
//
// Cost      the thread sleeps while there is nothing to do, and spins while the device works.
// Threads   as Processor.
#pragma once

#include <memory>

#include "base/clock.h"
#include "processor/mirror/mirror_device.h"

namespace weft::processor {

// Groups of shared jobs (processor/set_share.h) that the device has at once: two that run side by
// side, and one ahead. The fewer it has, the more is left to take.
inline constexpr uint32_t kSharedGroups = 3;

struct MirroredTimes {
  // The clock by which it follows the store, and by which its mirror's rounds rest.
  uint64_t (*now_ns)() = base::NowNs;
  // For its thread to end once it was given up: it may be about to look at what it was told.
  int given_up_ms_max = 1000;
};

std::unique_ptr<Processor> NewMirroredProcessor(std::unique_ptr<MirrorDevice> device,
                                                MirroredTimes times = {});

}  // namespace weft::processor
