// processor/opencl/device_test_kit.h: an OpenCL device for a test, or the reason why there is none.
//
// The first device that can be used: PoCL, if tools/setup installed it. PoCL's compilations go to a
// folder of the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/folder_test_kit.h"
#include "processor/opencl/opencl.h"

namespace weft::processor {

struct TestDevice {
  uint32_t number = 0;
  std::string lack;  // why the test must be skipped; empty: it runs
};

// Call it before any other call of OpenCL.
inline TestDevice FindTestDevice() {
#ifdef WEFT_SANITIZED
  // The driver's compiler leaks memory, which the address sanitizer counts as ours. Its code is not
  // instrumented, so the thread sanitizer sees false races.
  return {0, "OpenCL drivers do not run under sanitizers"};
#else
  static const base::TestFolder cache;
  setenv("POCL_CACHE_DIR", cache.path().c_str(), 1);
  const std::vector<DeviceInfo> list = ListOpenCl();
  std::string lack = "no OpenCL device is installed (tools/setup test installs one)";
  for (uint32_t i = 0; i < list.size(); i++) {
    if (list[i].unusable.empty()) return {i, ""};
    lack = list[i].description.name + " cannot be used: " + list[i].unusable;
  }
  return {0, lack};
#endif
}

// A test with its own device, `device`.
class OpenClTest : public testing::Test {
 protected:
  void SetUp() override {
    const TestDevice found = FindTestDevice();
    if (!found.lack.empty()) GTEST_SKIP() << found.lack;
    number = found.number;
    device = Open({});
    ASSERT_NE(device, nullptr);
  }
  // Opens another one.
  std::unique_ptr<Processor> Open(const OpenClOptions& options) const {
    auto opened = OpenOpenCl(number, options);
    EXPECT_TRUE(opened) << opened.error().ToString();
    return opened ? std::move(*opened) : nullptr;
  }

  uint32_t number = 0;
  std::unique_ptr<Processor> device;
};

}  // namespace weft::processor
