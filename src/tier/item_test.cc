#include "tier/item.h"

#include <gtest/gtest.h>

#include "base/coding.h"

namespace weft::tier {
namespace {

TEST(ItemTest, ComesBackAsItWas) {
  const std::string value("\0\xff any", 6);
  Item item{kMarkStale | kMarkBinaryKey, 7, 0xdeadbeef, 1'700'000'000, uint64_t{1} << 40, value};
  std::string bytes = "what was there";
  EncodeItem(item, &bytes);
  EXPECT_EQ(bytes.size(), kItemHeaderBytes + value.size());
  Item read;
  ASSERT_TRUE(DecodeItem(bytes, &read));
  EXPECT_EQ(read.marks, item.marks);
  EXPECT_EQ(read.generation, 7u);
  EXPECT_EQ(read.client_flags, 0xdeadbeef);
  EXPECT_EQ(read.expiry, 1'700'000'000u);
  EXPECT_EQ(read.version, uint64_t{1} << 40);
  EXPECT_EQ(read.value, value);
}

TEST(ItemTest, WhatACompactionReadsLiesWhereItIsSaid) {
  std::string bytes;
  EncodeItem({0, 0x01020304, 0, 0x05060708, 0, ""}, &bytes);
  EXPECT_EQ(base::DecodeFixed32(bytes.data() + kGenerationOffset), 0x01020304u);
  EXPECT_EQ(base::DecodeFixed32(bytes.data() + kExpiryOffset), 0x05060708u);
}

TEST(ItemTest, StateNeverEndsAndIsNeverFlushed) {
  const std::string bytes = EncodeState({99, 5, 3, 12});
  EXPECT_EQ(base::DecodeFixed32(bytes.data() + kGenerationOffset), 0xffffffffu);
  EXPECT_EQ(base::DecodeFixed32(bytes.data() + kExpiryOffset), 0u);
  State state;
  ASSERT_TRUE(DecodeState(bytes, &state));
  EXPECT_EQ(state.version_bound, 99u);
  EXPECT_EQ(state.generation_bound, 5u);
  EXPECT_EQ(state.floor, 3u);
  EXPECT_EQ(state.flush_at_s, 12u);
}

TEST(ItemTest, OtherBytesAreRefused) {
  std::string bytes;
  EncodeItem({0, 0, 0, 0, 1, "value"}, &bytes);
  Item item;
  State state;
  EXPECT_FALSE(DecodeState(bytes, &state));
  EXPECT_FALSE(DecodeItem(EncodeState({}), &item));
  for (size_t n = 0; n < kItemHeaderBytes; n++) EXPECT_FALSE(DecodeItem(bytes.substr(0, n), &item));
  for (int form = 0; form < 16; form++) {
    bytes[0] = static_cast<char>(form);
    EXPECT_EQ(DecodeItem(bytes, &item), form == 1);
  }
}

}  // namespace
}  // namespace weft::tier
