#include "sim/dram/dramsim2.h"

namespace weft::sim {

void BeLikeDramsim2(Preset& preset, ControllerOptions& options) {
  preset.timing.cwl = preset.timing.cl - 1;
  options.commands_max = 16;
  options.refresh_drain = true;
}

}  // namespace weft::sim
