// Built where zlib is not installed.
#include <gtest/gtest.h>

#include <filesystem>

#include "bench/drive/hdr_log.h"

namespace weft::bench {
namespace {

TEST(HdrLog, NeedsZlib) {
  const std::string path = testing::TempDir() + "weft-no-zlib.hlog";
  const auto log = HdrLog::Open(path, 0);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code(), Code::kUnsupported);
  EXPECT_NE(log.error().message().find("zlib1g-dev"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace weft::bench
