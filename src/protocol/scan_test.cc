#include "protocol/scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/seed_test_kit.h"
#include "protocol/request.h"

namespace weft::protocol {
namespace {

TEST(Scan, FindsTheFirstOfTwoBytesFromAnywhere) {
  std::mt19937 random(base::TestSeed(11));
  for (int round = 0; round < 2000; ++round) {
    // A buffer of the exact size, so that the sanitizer sees a read past it.
    std::vector<char> text(random() % 70, 'x');
    for (char& byte : text) byte = random() % 40 == 0 ? '\n' : random() % 60 == 0 ? '\0' : 'x';
    const Window window{text.data(), text.data() + text.size()};
    for (size_t from = 0; from <= text.size(); ++from) {
      size_t expected = from;
      while (expected < text.size() && text[expected] != '\n' && text[expected] != '\0') ++expected;
      ASSERT_EQ(FindEither(window, window.begin + from, '\n', '\0'), window.begin + expected);
    }
  }
}

TEST(Scan, FindsTheFirstBlankOrControlFromAnywhere) {
  std::mt19937 random(base::TestSeed(13));
  for (int round = 0; round < 2000; ++round) {
    std::vector<char> text(random() % 70);
    for (char& byte : text) {
      byte = random() % 30 == 0 ? static_cast<char>(random() % 33)
                                : static_cast<char>(33 + random() % 223);
    }
    const Window window{text.data(), text.data() + text.size()};
    for (size_t from = 0; from <= text.size(); ++from) {
      size_t expected = from;
      while (expected < text.size() && static_cast<unsigned char>(text[expected]) > 32) ++expected;
      ASSERT_EQ(FindBlankOrControl(window, window.begin + from), window.begin + expected);
    }
  }
}

TEST(Scan, StopsAtTheEndWhereThereIsNone) {
  const std::string text(100, 'x');
  const Window window{text.data(), text.data() + 37};
  EXPECT_EQ(FindByte(window, window.begin + 36, '\n'), window.end);
  EXPECT_EQ(FindByte(window, window.end, '\n'), window.end);
}

TEST(Scan, FindsNothingBehindTheLimit) {
  std::mt19937 random(base::TestSeed(12));
  for (int round = 0; round < 2000; ++round) {
    std::vector<char> text(random() % 70, 'x');
    for (char& byte : text) byte = random() % 20 == 0 ? ' ' : 'x';
    const Window window{text.data(), text.data() + text.size()};
    for (size_t from = 0; from <= text.size(); ++from) {
      const size_t limit = from + random() % (text.size() - from + 1);
      size_t expected = from;
      while (expected < limit && text[expected] != ' ') ++expected;
      ASSERT_EQ(FindByteBefore(window, window.begin + from, window.begin + limit, ' '),
                window.begin + expected);
    }
  }
}

TEST(NextKey, TakesKeysOffOneByOne) {
  const std::string far(200, 'k');
  const std::string line = "  a bb   " + far + "  ";
  std::string_view keys = line;
  std::string_view key;
  ASSERT_TRUE(NextKey(&keys, &key));
  EXPECT_EQ(key, "a");
  ASSERT_TRUE(NextKey(&keys, &key));
  EXPECT_EQ(key, "bb");
  ASSERT_TRUE(NextKey(&keys, &key));
  EXPECT_EQ(key, far);
  EXPECT_FALSE(NextKey(&keys, &key));
  EXPECT_FALSE(NextKey(&keys, &key));
}

}  // namespace
}  // namespace weft::protocol
