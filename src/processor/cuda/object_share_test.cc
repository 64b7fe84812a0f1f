#include "processor/cuda/object_share.h"

#include <gtest/gtest.h>

namespace weft::processor {
namespace {

TEST(ObjectShare, IsANumberOfMebibytesOrNothing) {
  EXPECT_EQ(AllowedObjectBytes(nullptr).value(), UINT64_MAX);
  EXPECT_EQ(AllowedObjectBytes("0").value(), 0u);
  EXPECT_EQ(AllowedObjectBytes("40000").value(), 40'000ull << 20);
  EXPECT_EQ(AllowedObjectBytes("17592186044415").value(), 17'592'186'044'415ull << 20);
}

TEST(ObjectShare, BadTextIsAnErrorThatNamesIt) {
  for (const char* const text :
       {"", "8G", "-1", " 8", "8 ", "lots", "17592186044416", "99999999999999999999999"}) {
    const auto allowed = AllowedObjectBytes(text);
    ASSERT_FALSE(allowed.has_value()) << text;
    EXPECT_EQ(allowed.error().code(), Code::kInvalidArgument);
    const std::string message(allowed.error().message());
    EXPECT_NE(message.find("WEFT_CUDA_OBJECTS_MB"), std::string::npos) << message;
    EXPECT_NE(message.find("'" + std::string(text) + "'"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace weft::processor
