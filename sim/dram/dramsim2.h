// sim/dram/dramsim2.h: makes a memory and its controller do as DRAMSim2, which paper 004 ran.
//
// What changes:
//   - CWL is CL - 1, 9 for the default preset: DRAMSim2 derives it so. JEDEC's is 7.
//   - A rank's command queue has room for 16 requests: DRAMSim2's 32 entries are two a request, ACT
//     and the column command.
//   - A due refresh waits for column commands to open rows (refresh_drain).
// Already the same: BL/2 + tRTRS between writes of different ranks (DRAMsim3 has BL/2); reads and
// writes in one queue by age; four requests of a row before others may close it. Still different:
//   - DRAMSim2's open page closes a row as soon as no queued request is for it and no other command
//     goes; that is PagePolicy::kClosed here, for the caller to choose. Its closed page has
//     auto-precharge.
//   - It closes rows for other requests only if nothing else can go in the channel; here a PRE's
//     turn comes by its request's age.
//   - It keeps requests for one row of a bank in order; here only those for one line are.
//   - It drains and closes a refreshed rank's banks one after the other; here all at once, and the
//     drain ends after a tREFI.
//
// Threads   pure.
// Source    the simulator's specification, sections 1.1, 2.1 and 3.2; DRAMSim2's CommandQueue.cpp.
#pragma once

#include "sim/dram/controller.h"
#include "sim/dram/preset.h"

namespace weft::sim {

void BeLikeDramsim2(Preset& preset, ControllerOptions& options);

}  // namespace weft::sim
