#include "base/base64.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/seed_test_kit.h"

namespace weft::base {
namespace {

std::string Encode(std::string_view bytes) {
  std::string text(Base64Bytes(bytes.size()), '\0');
  EXPECT_EQ(Base64Encode(bytes, text.data()), text.data() + text.size());
  return text;
}

std::string Decode(std::string_view text) {
  std::string bytes(text.size(), '\0');
  bytes.resize(Base64Decode(text, bytes.data()));
  return bytes;
}

TEST(Base64, EncodesTheExamplesOfTheStandard) {
  EXPECT_EQ(Encode(""), "");
  EXPECT_EQ(Encode("f"), "Zg==");
  EXPECT_EQ(Encode("fo"), "Zm8=");
  EXPECT_EQ(Encode("foo"), "Zm9v");
  EXPECT_EQ(Encode("foob"), "Zm9vYg==");
  EXPECT_EQ(Encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Encode("\xff\xfe\xfd"), "//79");
}

TEST(Base64, DecodesWhatItEncoded) {
  std::mt19937 random(TestSeed(7));
  for (size_t bytes = 1; bytes <= 250; ++bytes) {
    std::string text(bytes, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    EXPECT_EQ(Decode(Encode(text)), text);
  }
}

TEST(Base64, RefusesWhatIsNotBase64) {
  for (const char* text : {"", "Zg", "Zg=", "Zm9", "====", "Z===", "Zg==Zg==", "Z=g=", "Zm9v!mFy",
                           "Zm9v\nmFy", "Zm-v", "Zm_v", "Zm9vY", "=Zg="}) {
    EXPECT_EQ(Decode(text), "") << text;
  }
}

TEST(Base64, IgnoresStrayBitsUnderThePadding) { EXPECT_EQ(Decode("Zh=="), "f"); }

}  // namespace
}  // namespace weft::base
