#include "cache/number.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "base/seed_test_kit.h"

namespace weft::cache {
namespace {

// memcached's safe_strtoull, for which a value ends at its first NUL.
bool Reference(const std::string& value, uint64_t* number) {
  errno = 0;
  char* stop = nullptr;
  const unsigned long long read = std::strtoull(value.c_str(), &stop, 10);
  if (errno == ERANGE || stop == value.c_str()) return false;
  if (*stop != '\0' && std::strchr(" \t\n\v\f\r", *stop) == nullptr) return false;
  if (static_cast<long long>(read) < 0 && std::strchr(value.c_str(), '-') != nullptr) return false;
  *number = read;
  return true;
}

void ExpectAsMemcached(const std::string& value) {
  uint64_t expected = 7, number = 7;
  size_t read_bytes = 0;
  ASSERT_EQ(ParseNumber(value, &number, &read_bytes), Reference(value, &expected)) << value;
  ASSERT_EQ(number, expected) << value;
  ASSERT_LE(read_bytes, value.size()) << value;
}

TEST(CountedNumber, IsReadAsMemcachedReadsIt) {
  using std::string_literals::operator""s;
  for (const std::string& value :
       {""s, "\0"s, "-\0001"s, "5\0"s, "5\0x"s, "5 \0x"s, "5x\0"s, "9223372036854775808 -"s,
        "9223372036854775808 \0-"s, "9223372036854775808\0-"s, "9223372036854775807 -"s,
        "-9223372036854775809\0"s, "18446744073709551616\0"s, "-18446744073709551616"s})
    ExpectAsMemcached(value);
  constexpr std::string_view kLetters("0123456789019 \t\n\v\f\r+-x\0\0", 25);
  const std::string edges[] = {"9223372036854775807", "9223372036854775808", "18446744073709551615",
                               "18446744073709551616", ""};
  std::mt19937 random(base::TestSeed(20240607));
  for (int i = 0; i < 200'000; i++) {
    const auto some = [&](uint32_t most) {
      std::string text(random() % (most + 1), '0');
      for (char& letter : text) letter = kLetters[random() % kLetters.size()];
      return text;
    };
    ExpectAsMemcached(some(3) + edges[random() % std::size(edges)] + some(6));
  }
}

// A value may be long, and whoever counts it is told early that it is no number.
TEST(CountedNumber, IsNotLookedAtBehindTheByteThatDecides) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const pages =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  char* const behind = static_cast<char*>(pages) + page;
  ASSERT_EQ(mprotect(behind, page, PROT_NONE), 0);
  for (const std::string_view begin : {"x", "12x", " -x", "12 ", "99999999999999999999"}) {
    char* const text = behind - begin.size();
    std::memcpy(text, begin.data(), begin.size());
    uint64_t number = 0;
    size_t read_bytes = 0;
    EXPECT_EQ(ParseNumber({text, page}, &number, &read_bytes), begin == "12 ") << begin;
    EXPECT_EQ(read_bytes, begin.size()) << begin;
  }
  munmap(pages, 2 * page);
}

}  // namespace
}  // namespace weft::cache
