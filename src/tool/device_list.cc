#include "tool/device_list.h"

#include <algorithm>

#include "processor/devices.h"

namespace weft::tool {

Result<std::vector<std::unique_ptr<processor::Guard>>> OpenDeviceList(const std::string& list) {
  std::vector<std::unique_ptr<processor::Guard>> guards;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    auto device = processor::OpenDevice(list.substr(begin, end - begin));
    if (!device) return device.error();
    if (*device != nullptr)
      guards.push_back(std::make_unique<processor::Guard>(std::move(*device)));
    begin = end + 1;
  }
  return guards;
}

}  // namespace weft::tool
