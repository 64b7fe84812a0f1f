// Threads   one.
#include "bench/store/place.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/folder_test_kit.h"

namespace weft::bench {
namespace {

TEST(Place, LiesInAFolderThatIsThereAndGoesWithItsOwner) {
  const base::TestFolder folder;
  const std::string path = folder.path();
  {
    auto place = Place::Make(path);
    ASSERT_TRUE(place) << place.error().ToString();
    EXPECT_FALSE(std::filesystem::is_empty(path));
  }
  EXPECT_TRUE(std::filesystem::is_empty(path));
}

TEST(Place, MakesNoFolderThatIsNotThere) {
  const base::TestFolder folder;
  const std::string path = folder / "nowhere";
  EXPECT_FALSE(Place::Make(path + "/x"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace weft::bench
