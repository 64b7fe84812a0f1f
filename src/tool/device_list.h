// tool/device_list.h: the devices that a command's --device names.
//
// Threads   one at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "processor/guard.h"

namespace weft::tool {

// gpu0, gpu1, ...: of "opencl:0,mirror", "auto", "none", tested (processor/devices.h).
Result<std::vector<std::unique_ptr<processor::Guard>>> OpenDeviceList(const std::string& list);

}  // namespace weft::tool
