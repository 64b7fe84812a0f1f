#include "compaction/device/kernel/key_bytes.h"

#include <gtest/gtest.h>

#include "compaction/device/kernel/pack_kernels.h"
#include "table/file_test_kit.h"
#include "table/key_order.h"

namespace weft::compaction::device {
namespace {

Bytes Of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), static_cast<uint32_t>(text.size())};
}
int Sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// Some too short for a trailer, some that differ in it alone.
std::string AnyInternalKey(table::Strings* strings) {
  if (strings->Below(10) == 0) return strings->Bytes(strings->Below(8));
  return table::MakeInternalKey(strings->Key(), strings->Below(3),
                                static_cast<table::ValueType>(strings->Below(2)));
}

TEST(KeyBytes, OrdersKeysAsTheTablesDo) {
  table::Strings strings(table::TestSeed());
  const table::InternalComparator order(BytewiseComparator());
  for (int i = 0; i < 100000; i++) {
    const std::string a = AnyInternalKey(&strings);
    const std::string b = strings.Below(4) == 0 ? a : AnyInternalKey(&strings);
    ASSERT_EQ(Sign(order.Compare(a, b)), CompareInternal(Of(a), Of(b)));
    table::ParsedKey parsed;
    ASSERT_EQ(table::ParseInternalKey(a, &parsed), Parses(Of(a)));
    const uint64_t prefix_a = PrefixOf(Of(a), 0);
    const uint64_t prefix_b = PrefixOf(Of(b), 0);
    if (prefix_a < prefix_b) {
      ASSERT_LT(order.Compare(a, b), 0);
    }
  }
}

TEST(KeyBytes, VarintsAreThoseOfTheFiles) {
  table::Strings strings(table::TestSeed());
  for (int i = 0; i < 10000; i++) {
    const uint64_t value = strings.Below(~uint64_t{0}) >> strings.Below(64);
    uint8_t bytes[base::kVarint64BytesMax];
    uint8_t* const end = PutVarint(bytes, value);
    std::string expected;
    base::PutVarint64(&expected, value);
    ASSERT_EQ(expected, std::string(bytes, end));
    ASSERT_EQ(expected.size(), VarintBytes(value));
    uint32_t taken = 0;
    const uint8_t* const behind = TakeVarint32(bytes, end, &taken);
    if (value <= ~uint32_t{0}) {
      ASSERT_EQ(end, behind);
      ASSERT_EQ(value, taken);
    }
    ASSERT_EQ(nullptr, TakeVarint32(bytes, end - 1, &taken));
  }
}

std::string Text(const Separator& separator) {
  std::string text(reinterpret_cast<const char*>(separator.key.at), separator.key.size);
  if (separator.is_shortened == 0) return text;
  text.back()++;
  return table::MakeInternalKey(text, table::kSequenceMax, table::kTypeForSeek);
}

TEST(KeyBytes, SeparatorsAreThoseOfTheTables) {
  table::Strings strings(table::TestSeed());
  const table::InternalComparator order(BytewiseComparator());
  int shortened = 0;
  for (int i = 0; i < 100000; i++) {
    std::string a = AnyInternalKey(&strings);
    std::string b = AnyInternalKey(&strings);
    if (order.Compare(a, b) > 0) std::swap(a, b);
    const Separator between = SeparatorBetween(Of(a), Of(b));
    const Separator behind = SuccessorOf(Of(b));
    std::string expected = a;
    order.FindShortestSeparator(&expected, b);
    ASSERT_EQ(expected, Text(between));
    ASSERT_EQ(expected.size(), between.size());
    expected = b;
    order.FindShortSuccessor(&expected);
    ASSERT_EQ(expected, Text(behind));
    shortened += static_cast<int>(between.is_shortened);
  }
  EXPECT_LT(1000, shortened);
}

}  // namespace
}  // namespace weft::compaction::device
