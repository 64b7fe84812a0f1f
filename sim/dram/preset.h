// sim/dram/preset.h: memories by name: their organization, timing and currents.
//
// Threads   pure.
// Errors    kInvalidArgument: no preset, or no currents, of that name; the message lists them. Or
//           the currents are not of such a memory.
// Source    the simulator's specification, sections 2.1, 2.2 and 2.4; where each figure is from
//           stands beside it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/dram/currents.h"
#include "sim/dram/organization.h"
#include "sim/dram/timing.h"
#include "weft/status.h"

namespace weft::sim {

struct Preset {
  std::string name;
  Organization organization;  // one channel
  Timing timing;
  std::optional<Currents> currents;  // none: no public figures, so no energy
};

inline constexpr std::string_view kDefaultPreset = "ddr3-1333-2gb-x8-sg15";

Result<Preset> FindPreset(std::string_view name);
std::vector<std::string> PresetNames();

// Lets a DDR3-1333 memory draw the currents of another die: sg15-dramsim2, mt41j256m8-2009 or
// mt41j256m8-revM.
Status SetCurrents(std::string_view name, Preset& preset);

}  // namespace weft::sim
