#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::base {
namespace {

TEST(HashBytes, IsXxh3OfEveryLength) {
  std::string bytes;
  for (uint32_t i = 0; i <= 300; i++) {
    EXPECT_EQ(HashBytes(bytes), XXH3_64bits(bytes.data(), bytes.size())) << i;
    bytes.push_back(static_cast<char>(i * 37 + 11));
  }
}

}  // namespace
}  // namespace weft::base
