// sim/dram/memory_file.h: a memory from a user's text file: what a data sheet says of its shape,
// its timing and its currents.
//
//     # a comment, also behind a value
//     name = my-ddr5                   may be left out: the file's path is its name then
//     [shape]                          of one channel; all are counts
//     ranks = 1                        1 to 16, a power of two, as all counts here but devices
//     bank_groups = 8                  of a rank; 1 where the memory has none
//     banks_per_group = 4              64 banks a rank at most
//     rows = 65536                     of a bank
//     columns = 1024                   of a row, each as wide as the channel
//     channel_bits = 32
//     burst_length = 16                a burst is 8 to 64 bytes: burst_length x channel_bits / 8
//     data_per_clock = 2               may be left out; 4 for HBM3, whose clock is a quarter
//     devices = 4                      of a rank: as many draw the currents
//     column_bus = no                  may be left out; yes: column commands have a bus (HBM)
//     [timing]
//     tCK = 0.416 ns                   in picoseconds, whole
//     CL, CWL, tRP, tRAS, tRC, tFAW, tWR, tRTP, tRFC, tREFI
//     tRCD                             or tRCD_RD and tRCD_WR
//     tRRD, tWTR, tCCD                 or _S and _L of each, where there are bank groups
//     tCCD_L_WR, tRTRS                 may be left out: tCCD_L, and 1 clock
//     tXP and tCKE                     may be left out: then there is no --power-down
//     tRFCpb and tRREFD                may be left out: then there is no --refresh bank
//     [currents]                       may be left out: then there is no energy
//     VDD = 1.1 V
//     IDD0, IDD2P, IDD2N, IDD3N, IDD4R, IDD4W, IDD5           of a device
//     VPP, IPP0, IPP2P, IPP2N, IPP3N, IPP4R, IPP4W, IPP5      may be left out, all together
//
// A time is a number of clocks (`36`, `36 nCK`), or of ns or us (`15 ns`), or the larger of two:
// `max(8, 5 ns)`. ns and us are rounded up to clocks; but down if a tCK that is 0.001 ns longer
// makes them fit. Data sheets cut tCK off after three digits, and 15 ns are 36 clocks of 0.416 ns.
// The current of VPP's pump counts as VDD's, as IPP x VPP / VDD: the energy is of both. See
// timing.h, organization.h and currents.h for the names.
//
// Each value must be possible, and so must all of them together: rules are beside their messages.
//
// Units     as the file's; in it, V and mA may stand behind a number, and ns or us must.
// Threads   pure, except for the file.
// Errors    kInvalidArgument: "file:line: key: what is wrong", or "file: [section] key: ..." of
//           what is missing. kIoError: the file can't be read.
#pragma once

#include <istream>
#include <string>

#include "sim/dram/preset.h"
#include "weft/status.h"

namespace weft::sim {

// `path`: of a regular file.
Result<Preset> ReadMemoryFile(const std::string& path);
// `name` is the text's in messages.
Result<Preset> ReadMemory(std::istream& in, const std::string& name);

// The memory as such a text, which reads back the same. All times are in clocks.
std::string ToMemoryText(const Preset& preset);

}  // namespace weft::sim
