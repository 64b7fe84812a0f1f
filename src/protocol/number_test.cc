#include "protocol/number.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "base/seed_test_kit.h"

namespace weft::protocol {
namespace {

// The rules as memcached's helpers apply them over the C library.
bool ReferenceU64(const std::string& token, uint64_t* number) {
  errno = 0;
  char* stop = nullptr;
  const unsigned long long value = std::strtoull(token.c_str(), &stop, 10);
  if (errno == ERANGE || stop == token.c_str()) return false;
  if (*stop != '\0' && std::strchr(" \t\n\v\f\r", *stop) == nullptr) return false;
  if (static_cast<long long>(value) < 0 && token.find('-') != std::string::npos) return false;
  *number = value;
  return true;
}

bool ReferenceI32(const std::string& token, int32_t* number) {
  errno = 0;
  char* stop = nullptr;
  const long value = std::strtol(token.c_str(), &stop, 10);
  if (errno == ERANGE || stop == token.c_str()) return false;
  if (*stop != '\0' && std::strchr(" \t\n\v\f\r", *stop) == nullptr) return false;
  *number = static_cast<int32_t>(value);
  return true;
}

void ExpectAsTheCLibrary(const std::string& token) {
  SCOPED_TRACE("token \"" + token + '"');
  uint64_t expected = 0;
  uint64_t number = 0;
  ASSERT_EQ(ParseU64(token, &number), ReferenceU64(token, &expected));
  ASSERT_EQ(number, expected);
  uint32_t low = 0;
  ASSERT_EQ(ParseU32(token, &low), ReferenceU64(token, &expected));
  ASSERT_EQ(low, static_cast<uint32_t>(expected));
  int32_t expected_signed = 0;
  int32_t number_signed = 0;
  ASSERT_EQ(ParseI32(token, &number_signed), ReferenceI32(token, &expected_signed));
  ASSERT_EQ(number_signed, expected_signed);
}

TEST(Number, ReadsTheEdgesOfEachRangeAsTheCLibraryDoes) {
  for (const char* token : {"",
                            "0",
                            "-0",
                            "+0",
                            "7",
                            "007",
                            "-1",
                            "+1",
                            "+",
                            "-",
                            "--1",
                            "+-1",
                            "1-",
                            "1 ",
                            "1\t-",
                            " 1",
                            "999999999",
                            "1000000000",
                            "\v\f1",
                            "1x",
                            "x1",
                            "0x10",
                            "1.5",
                            "1e3",
                            "2147483647",
                            "2147483648",
                            "-2147483648",
                            "-2147483649",
                            "4294967295",
                            "4294967296",
                            "9223372036854775807",
                            "9223372036854775808",
                            "-9223372036854775808",
                            "-9223372036854775809",
                            "18446744073709551615",
                            "18446744073709551616",
                            "-18446744073709551615",
                            "-18446744073709551616",
                            "99999999999999999999",
                            "00000000000000000000000000001"}) {
    ExpectAsTheCLibrary(token);
  }
}

TEST(Number, ReadsRandomTokensAsTheCLibraryDoes) {
  constexpr std::string_view kLetters = "0123456789019 \t+-x";
  std::mt19937 random(base::TestSeed(20231114));
  for (int i = 0; i < 200'000; ++i) {
    std::string token(random() % 23, '0');
    for (char& letter : token) letter = kLetters[random() % kLetters.size()];
    ExpectAsTheCLibrary(token);
  }
}

TEST(Number, LeavesTheNumberAloneWhereThereIsNone) {
  uint64_t wide = 5;
  int32_t narrow = 6;
  EXPECT_FALSE(ParseU64("x", &wide));
  EXPECT_FALSE(ParseI32("", &narrow));
  EXPECT_EQ(wide, 5u);
  EXPECT_EQ(narrow, 6);
}

}  // namespace
}  // namespace weft::protocol
