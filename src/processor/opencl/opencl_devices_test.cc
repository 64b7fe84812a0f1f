// OpenCL devices by name, as processor/devices.h gives them out.
#include <gtest/gtest.h>

#include "processor/devices.h"
#include "processor/opencl/device_test_kit.h"

namespace weft::processor {
namespace {

TEST_F(OpenClTest, IsListedAndOpenedByItsName) {
  const std::string name = "opencl:" + std::to_string(number);
  bool listed = false;
  for (const DeviceInfo& info : ListDevices()) {
    if (info.description.name != name) continue;
    listed = true;
    EXPECT_EQ(info.unusable, "");
    EXPECT_EQ(info.description.hardware, device->description().hardware);
    EXPECT_EQ(info.description.memory_bytes, device->description().memory_bytes);
  }
  EXPECT_TRUE(listed);
  const auto opened = OpenDevice(name);
  ASSERT_TRUE(opened) << opened.error().ToString();
  EXPECT_EQ(opened.value()->description().name, name);
}

}  // namespace
}  // namespace weft::processor
