// How jobs are divided into pieces.
#include <gtest/gtest.h>

#include "compaction/device/device_executor.h"
#include "compaction/job_test_kit.h"

namespace weft::compaction::device {
namespace {

TEST(PieceBytes, OfSmallJobsAreFew) {
  JobKit kit;
  kit.AddRun({Put("a", 5)});
  JobTable& table = kit.job().runs[0][0];
  table.bytes = 100u << 20;
  kit.job().runs.push_back(kit.job().runs[0]);
  EXPECT_EQ(50u << 20, PieceBytesOf(kit.job(), 64u << 20));
  kit.job().runs[1][0].bytes = 1u << 30;
  EXPECT_EQ(64u << 20, PieceBytesOf(kit.job(), 64u << 20));
  kit.job().runs.pop_back();
  kit.job().runs[0][0].bytes = 1u << 20;
  EXPECT_EQ(8u << 20, PieceBytesOf(kit.job(), 64u << 20));
  EXPECT_EQ(1u, PieceBytesOf(kit.job(), 1)) << "as tests ask for";
}

}  // namespace
}  // namespace weft::compaction::device
