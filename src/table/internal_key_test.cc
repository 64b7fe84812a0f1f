#include "table/internal_key.h"

#include <gtest/gtest.h>

#include "table/file_test_kit.h"

namespace weft::table {
namespace {

int Sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

std::string Key(std::string_view user_key, SequenceNumber sequence) {
  return MakeInternalKey(user_key, sequence, ValueType::kValue);
}

TEST(InternalComparator, OrdersUserKeysUpAndVersionsDown) {
  const InternalComparator order(BytewiseComparator());
  EXPECT_LT(order.Compare(Key("a", 1), Key("b", 9)), 0);
  EXPECT_LT(order.Compare(Key("a", 9), Key("a", 1)), 0);
  EXPECT_LT(order.Compare(Key("a", 9), Key("aa", 10)), 0);
  EXPECT_LT(order.Compare(Key("a", 9), Key(std::string_view("a\0", 2), 10)), 0);
  EXPECT_LT(order.Compare(Key("a\x7f", 1), Key("a\x80", 1)), 0);
  EXPECT_EQ(order.Compare(Key("a", 9), Key("a", 9)), 0);
  EXPECT_LT(order.Compare(Key("a", 9), MakeInternalKey("a", 9, ValueType::kDeletion)), 0);
  EXPECT_LT(order.Compare(Key("", kSequenceMax), Key("", 0)), 0);
}

TEST(InternalComparator, PutsKeysTooShortForATrailerFirst) {
  const InternalComparator order(BytewiseComparator());
  EXPECT_LT(order.Compare("zzzzzzz", Key("", kSequenceMax)), 0);
  EXPECT_GT(order.Compare(Key("", kSequenceMax), "zzzzzzz"), 0);
  EXPECT_LT(order.Compare("a", "b"), 0);
  EXPECT_EQ(order.Compare("", ""), 0);
}

TEST(InternalComparator, SeparatorLiesBetween) {
  const InternalComparator order(BytewiseComparator());
  std::string start = Key("abcdef", 5);
  order.FindShortestSeparator(&start, Key("abzz", 9));
  EXPECT_EQ(MakeInternalKey("abd", kSequenceMax, kTypeForSeek), start);
  start = Key("abc", 5);  // none shorter
  order.FindShortestSeparator(&start, Key("abd", 9));
  EXPECT_EQ(Key("abc", 5), start);
  order.FindShortestSeparator(&start, Key("abc", 4));
  EXPECT_EQ(Key("abc", 5), start);
  std::string tiny = "tiny";
  order.FindShortestSeparator(&tiny, Key("abc", 4));
  order.FindShortSuccessor(&tiny);
  EXPECT_EQ("tiny", tiny);

  std::string last =
      Key("\xff\xff"
          "abc",
          3);
  order.FindShortSuccessor(&last);
  EXPECT_EQ(MakeInternalKey("\xff\xff"
                            "b",
                            kSequenceMax, kTypeForSeek),
            last);
  last = Key("\xff\xff", 3);
  order.FindShortSuccessor(&last);
  EXPECT_EQ(Key("\xff\xff", 3), last);
}

class Backwards final : public Comparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override { return b.compare(a); }
  const char* Name() const override { return "backwards"; }
  void FindShortestSeparator(std::string*, std::string_view) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST(InternalComparator, FollowsTheUsersOrder) {
  const Backwards backwards;
  const InternalComparator order(&backwards);
  EXPECT_FALSE(order.is_bytewise());
  EXPECT_TRUE(InternalComparator(BytewiseComparator()).is_bytewise());
  Strings strings(TestSeed());
  for (int i = 0; i < 1000; i++) {
    const std::string a = strings.Key();
    const std::string b = strings.Key();
    EXPECT_EQ(Sign(b.compare(a)), Sign(order.Compare(Key(a, 1), Key(b, 1))));
  }
}

TEST(InternalFilterPolicy, HoldsUserKeys) {
  const auto bloom = NewBloomFilterPolicy(10);
  const InternalFilterPolicy policy(bloom);
  const std::string a = Key("a", 1);
  const std::string b = Key("b", 2);
  const std::vector<std::string_view> keys = {a, b, "bad"};
  const std::vector<std::string_view> user_keys = {"a", "b", "bad"};
  std::string filter, user_filter;
  policy.CreateFilter(keys, &filter);
  bloom->CreateFilter(user_keys, &user_filter);
  EXPECT_EQ(user_filter, filter);
  EXPECT_TRUE(policy.KeyMayMatch(Key("a", 77), filter));
  EXPECT_FALSE(policy.KeyMayMatch(Key("nothing", 77), filter));
  EXPECT_STREQ(bloom->Name(), policy.Name());
}

TEST(Bloom, SurvivesDamagedFilters) {
  const auto bloom = NewBloomFilterPolicy(10);
  EXPECT_FALSE(bloom->KeyMayMatch("key", ""));
  EXPECT_FALSE(bloom->KeyMayMatch("key", "\x01"));
  EXPECT_TRUE(bloom->KeyMayMatch("key", std::string(9, '\xff')));
  EXPECT_TRUE(bloom->KeyMayMatch("key", std::string_view("\0\0", 2)));  // no probes
  Strings strings(TestSeed());
  for (int i = 0; i < 10000; i++) bloom->KeyMayMatch(strings.Key(), strings.Bytes(i % 40));
}

TEST(Bloom, PassesFewAbsentKeys) {
  const auto bloom = NewBloomFilterPolicy(10);
  std::vector<std::string> keys;
  for (int i = 0; i < 10000; i++) keys.push_back("present" + std::to_string(i));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::string filter;
  bloom->CreateFilter(views, &filter);
  int passed = 0;
  for (int i = 0; i < 10000; i++)
    passed += bloom->KeyMayMatch("absent" + std::to_string(i), filter);
  EXPECT_LT(passed, 200);
}

}  // namespace
}  // namespace weft::table
