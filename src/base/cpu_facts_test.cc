#include "base/cpu_facts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/folder_test_kit.h"

namespace weft::base {
namespace {

std::string ModelIn(const std::string& text) {
  const TestFolder folder;
  std::ofstream(folder.path() + "/cpuinfo") << text;
  return CpuModel(folder.path() + "/cpuinfo");
}

TEST(CpuFacts, ModelsOfX86HaveNames) {
  EXPECT_EQ("AMD EPYC 7B13", ModelIn("processor\t: 0\nvendor_id\t: AuthenticAMD\n"
                                     "model\t\t: 1\nmodel name\t: AMD EPYC 7B13\n\n"));
}

TEST(CpuFacts, ModelsOfArmHaveNumbers) {
  EXPECT_EQ("ARM implementer 0x41 part 0xd0c",
            ModelIn("processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\n"
                    "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"
                    "CPU revision\t: 1\n\nprocessor\t: 1\nCPU implementer\t: 0x41\n"
                    "CPU part\t: 0xd05\n"));
}

TEST(CpuFacts, NothingSaidIsNoModel) {
  EXPECT_EQ("", ModelIn(""));
  EXPECT_EQ("", ModelIn("processor\t: 0\nCPU part\n"));
  EXPECT_EQ("", CpuModel("/nowhere"));
}

TEST(CpuFacts, TheLastCacheIsTheOneOfTheHighestLevel) {
  const TestFolder folder;
  EXPECT_EQ(0u, LastCacheBytesIn(folder.path()));
  int index = 0;
  for (const auto& [level, size] :
       {std::pair{"1", "64K"}, {"1", "64K"}, {"2", "1024K"}, {"3", "32768K"}, {"3", ""}}) {
    const std::string one = folder.path() + "/index" + std::to_string(index++);
    std::filesystem::create_directory(one);
    std::ofstream(one + "/level") << level << "\n";
    std::ofstream(one + "/size") << size << "\n";
  }
  EXPECT_EQ(32u << 20, LastCacheBytesIn(folder.path()));
}

}  // namespace
}  // namespace weft::base
