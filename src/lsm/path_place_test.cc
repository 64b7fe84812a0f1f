#include "lsm/path_place.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/folder_test_kit.h"

namespace weft::lsm {
namespace {

TEST(PathPlaceTest, TellsWhatLiesWithin) {
  EXPECT_TRUE(LiesWithin("/none/a", "/none/a"));
  EXPECT_TRUE(LiesWithin("/none/a/", "/none/a"));
  EXPECT_TRUE(LiesWithin("/none/a/b/c", "/none/a/"));
  EXPECT_TRUE(LiesWithin("/none/a/../a/b", "/none//a"));
  EXPECT_TRUE(LiesWithin("/none", "/"));
  EXPECT_FALSE(LiesWithin("/none/ab", "/none/a"));
  EXPECT_FALSE(LiesWithin("/none/a/../b", "/none/a"));
  EXPECT_FALSE(LiesWithin("/none", "/none/a"));
  EXPECT_TRUE(LiesWithin("here/copy", std::filesystem::current_path().string() + "/here"));
}

TEST(PathPlaceTest, FollowsLinks) {
  const base::TestFolder folder;
  std::filesystem::create_directory(folder / "store");
  std::filesystem::create_symlink("store", folder / "link");
  EXPECT_TRUE(LiesWithin(folder / "link/copy", folder / "store"));
  EXPECT_TRUE(LiesWithin(folder / "store", folder / "link"));
  EXPECT_FALSE(LiesWithin(folder / "linked", folder / "store"));
}

}  // namespace
}  // namespace weft::lsm
