// Devices by name: what is listed can be opened or says why not, and a wrong name lists the others.
#include "processor/devices.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace weft::processor {
namespace {

TEST(Devices, TheCpuIsAlwaysThere) {
  const std::vector<DeviceInfo> list = ListDevices();
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list[0].description.name, "cpu");
  EXPECT_EQ(list[0].unusable, "");
  auto cpu = OpenDevice("cpu");
  ASSERT_TRUE(cpu) << cpu.error().ToString();
  EXPECT_EQ((*cpu)->description().name, "cpu");
}

TEST(Devices, NoneIsNone) {
  auto none = OpenDevice("none");
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
}

TEST(Devices, AutoIsAGpuOrNone) {
  const std::vector<DeviceInfo> list = ListDevices();
  std::vector<std::string> notes;
  auto found = OpenDevice("auto", &notes);
  ASSERT_TRUE(found) << found.error().ToString();
  size_t gpus = 0;
  for (const DeviceInfo& info : list) {
    if (info.type != DeviceType::kGpu) continue;
    gpus++;
    const bool is_it = *found != nullptr && (*found)->description().name == info.description.name;
    EXPECT_FALSE(is_it && !info.unusable.empty());
  }
  // Either one of them was taken, or each was passed over with a reason.
  if (*found == nullptr) {
    EXPECT_EQ(notes.size(), gpus);
  } else {
    EXPECT_LT(notes.size(), gpus);
  }
}

TEST(Devices, WithoutItsModuleACudaDeviceSaysSo) {
  setenv("WEFT_CUDA_MODULE", "/nonexistent/libweft_cuda.so", 1);
  const auto missing = OpenDevice("cuda:0");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::kUnsupported);
  EXPECT_NE(missing.error().message().find("/nonexistent/libweft_cuda.so"), std::string::npos);
  // A library, but no module of ours.
  setenv("WEFT_CUDA_MODULE", "libm.so.6", 1);
  const auto strange = OpenDevice("cuda:0");
  ASSERT_FALSE(strange);
  EXPECT_EQ(strange.error().code(), Code::kUnsupported);
  EXPECT_NE(strange.error().message().find("libm.so.6"), std::string::npos);
  // And "auto" goes on with what else there is.
  EXPECT_TRUE(OpenDevice("auto").has_value());
  unsetenv("WEFT_CUDA_MODULE");
}

TEST(Devices, AWrongNameListsThoseThatAreThere) {
  for (const char* name : {"", "gpu", "opencl", "opencl:", "opencl:x", "opencl:0x", "opencl:-1",
                           "opencl:4000000000", "opencl:99999999999", "cuda", "cuda:x", "CPU"}) {
    const auto opened = OpenDevice(name);
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code(), Code::kInvalidArgument) << name;
    const std::string message(opened.error().message());
    EXPECT_NE(message.find(std::string("'") + name + "'"), std::string::npos) << message;
    for (const DeviceInfo& info : ListDevices())
      EXPECT_NE(message.find(info.description.name), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace weft::processor
