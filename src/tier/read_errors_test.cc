#include "tier/read_errors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::tier {
namespace {

TEST(ReadErrorsTest, TellsAtOnceAndThenOnceASecondAtMost) {
  std::vector<std::string> told;
  ReadErrors errors([&](const Status& why, uint64_t keys) {
    told.push_back(std::to_string(keys) + " " + std::string(why.message()));
  });
  constexpr uint64_t kSecond = 1'000'000'000;
  errors.Note({Code::kCorruption, "a"}, 5 * kSecond);
  errors.Note({Code::kCorruption, "b"}, 5 * kSecond + 1);
  errors.Note({Code::kCorruption, "c"}, 6 * kSecond - 1);
  EXPECT_EQ(told, std::vector<std::string>{"1 a"});
  errors.Note({Code::kCorruption, "d"}, 6 * kSecond);
  EXPECT_EQ(told, (std::vector<std::string>{"1 a", "3 d"}));
  errors.Note({Code::kIoError, "e"}, 60 * kSecond);
  EXPECT_EQ(told.back(), "1 e");
  EXPECT_EQ(errors.total(), 5u);
}

TEST(ReadErrorsTest, CountsWhereNobodyIsTold) {
  ReadErrors errors({});
  errors.Note({Code::kCorruption, "a"}, 1);
  EXPECT_EQ(errors.total(), 1u);
}

}  // namespace
}  // namespace weft::tier
