// processor/device_info.h: what is known of a processor before it is opened.
#pragma once

#include <cstdint>
#include <string>

#include "processor/processor.h"

namespace weft::processor {

enum class DeviceType : uint8_t { kCpu, kGpu, kOther };

struct DeviceInfo {
  Description description;
  DeviceType type = DeviceType::kOther;
  std::string unusable;  // why it cannot be opened; empty: it can
};

}  // namespace weft::processor
