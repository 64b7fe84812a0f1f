#include "compaction/drop_rule.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "compaction/job_test_kit.h"

namespace weft::compaction {
namespace {

TEST(DropRule, OlderVersionsThatNoSnapshotSeesGo) {
  JobKit kit;
  kit.job().oldest_snapshot = 5;
  DropRule rule(kit.job());
  EXPECT_FALSE(rule.Drops(Put("a", 9).key));
  EXPECT_FALSE(rule.Drops(Put("a", 7).key));
  EXPECT_FALSE(rule.Drops(Put("a", 5).key));  // what the snapshot sees
  EXPECT_TRUE(rule.Drops(Put("a", 4).key));
  EXPECT_TRUE(rule.Drops(Put("a", 1).key));
  EXPECT_FALSE(rule.Drops(Put("b", 1).key));
}

TEST(DropRule, ADeletionHidesWhatIsBelowItEvenWhenItGoes) {
  JobKit kit;
  DropRule rule(kit.job());
  EXPECT_TRUE(rule.Drops(Deletion("a", 9).key));
  EXPECT_TRUE(rule.Drops(Put("a", 7).key));
}

TEST(DropRule, ADeletionStaysWhereASnapshotOrADeeperLevelNeedsIt) {
  JobKit kit;
  kit.job().oldest_snapshot = 5;
  kit.job().deeper = {{{"c", "e"}, {"g", "g"}}, {{"f", "f"}}};
  DropRule rule(kit.job());
  EXPECT_FALSE(rule.Drops(Deletion("a", 6).key));
  EXPECT_TRUE(rule.Drops(Deletion("b", 5).key));
  EXPECT_FALSE(rule.Drops(Deletion("c", 5).key));
  EXPECT_FALSE(rule.Drops(Deletion("d", 5).key));
  EXPECT_FALSE(rule.Drops(Deletion("e", 5).key));
  EXPECT_TRUE(rule.Drops(Deletion("ee", 5).key));
  EXPECT_FALSE(rule.Drops(Deletion("f", 5).key));
  EXPECT_FALSE(rule.Drops(Deletion("g", 5).key));
  EXPECT_TRUE(rule.Drops(Deletion("g\x80", 5).key));
}

TEST(DropRule, KeysThatAreNoneStayAndBeginAnew) {
  JobKit kit;
  DropRule rule(kit.job());
  EXPECT_FALSE(rule.Drops("short"));
  EXPECT_FALSE(rule.Drops(Put("a", 9).key));
  std::string odd = Put("a", 8).key;
  odd[1] = 2;
  EXPECT_FALSE(rule.Drops(odd));
  EXPECT_FALSE(rule.Drops(Put("a", 7).key));
  EXPECT_TRUE(rule.Drops(Put("a", 6).key));
  EXPECT_EQ(rule.unparsed(), 2u);
}

TEST(DropRule, ARepeatedEntryGoes) {
  JobKit kit;
  kit.job().oldest_snapshot = 0;
  DropRule rule(kit.job());
  EXPECT_FALSE(rule.Drops(Put("a", 9).key));
  EXPECT_TRUE(rule.Drops(Put("a", 9).key));
  EXPECT_FALSE(rule.Drops(Deletion("a", 9).key));
  EXPECT_FALSE(rule.Drops(Put("a", 8).key));
}

// A value with its expiry at byte 4 and its generation at byte 0.
std::string Mortal(uint32_t expiry, uint32_t generation = 1) {
  std::string value(8, '\0');
  base::EncodeFixed32(value.data(), generation);
  base::EncodeFixed32(value.data() + 4, expiry);
  return value + "rest";
}
constexpr LifetimeRule kRule{
    .expiry_offset = 4, .generation_offset = 0, .now_s = 100, .generation_floor = 1};

TEST(DropRule, ValuesEndByTheirExpiryOrGeneration) {
  const auto has_ended = [](const TestEntry& entry) {
    return DropRule::HasEnded(kRule, entry.key, entry.value);
  };
  EXPECT_FALSE(has_ended(Put("a", 1, Mortal(0))));
  EXPECT_FALSE(has_ended(Put("a", 1, Mortal(101))));
  EXPECT_TRUE(has_ended(Put("a", 1, Mortal(100))));
  EXPECT_TRUE(has_ended(Put("a", 1, Mortal(1))));
  EXPECT_TRUE(has_ended(Put("a", 1, Mortal(0, 0))));
  EXPECT_FALSE(has_ended(Put("a", 1, Mortal(0, 0xffffffff))));
  EXPECT_FALSE(has_ended(Put("a", 1, Mortal(1).substr(0, 7)))) << "too short";
  EXPECT_FALSE(has_ended(Put("a", 1, "")));
  EXPECT_FALSE(has_ended(Deletion("a", 1)));
  EXPECT_FALSE(has_ended({"short", Mortal(1)}));
}

TEST(DropRule, AnEndedEntryIsADeletion) {
  JobKit kit;
  kit.job().oldest_snapshot = 5;
  kit.job().deeper = {{{"c", "e"}}};
  DropRule rule(kit.job());
  std::string deletion;
  // No deeper level has it and no snapshot is older: it goes, and what it hid goes with it.
  EXPECT_FALSE(rule.Drops(Put("a", 4, Mortal(1)).key));
  EXPECT_TRUE(rule.DropsEnded(Put("a", 4, Mortal(1)).key, &deletion));
  EXPECT_TRUE(rule.Drops(Put("a", 3).key));
  // A snapshot may see what is below it.
  EXPECT_FALSE(rule.Drops(Put("b", 9, Mortal(1)).key));
  EXPECT_FALSE(rule.DropsEnded(Put("b", 9, Mortal(1)).key, &deletion));
  EXPECT_EQ(deletion, Deletion("b", 9).key);
  EXPECT_FALSE(rule.Drops(Put("b", 4).key));
  // A deeper level may hold an older version, which must not come back.
  EXPECT_FALSE(rule.Drops(Put("d", 4, Mortal(1)).key));
  EXPECT_FALSE(rule.DropsEnded(Put("d", 4, Mortal(1)).key, &deletion));
  EXPECT_EQ(deletion, Deletion("d", 4).key);
  EXPECT_TRUE(rule.Drops(Put("d", 3).key));
}

// A store that was repaired can have an entry twice. Its twin goes, whichever of both it is as.
TEST(DropRule, TwinsOfAnEndedEntryGo) {
  JobKit kit;
  kit.job().oldest_snapshot = 1;
  DropRule rule(kit.job());
  std::string deletion;
  EXPECT_FALSE(rule.Drops(Put("a", 5, Mortal(1)).key));
  EXPECT_FALSE(rule.DropsEnded(Put("a", 5, Mortal(1)).key, &deletion));
  EXPECT_TRUE(rule.Drops(Put("a", 5, Mortal(1)).key));
  EXPECT_TRUE(rule.Drops(Put("a", 5, Mortal(1)).key));
  EXPECT_TRUE(rule.Drops(Deletion("a", 5).key));
  EXPECT_FALSE(rule.Drops(Put("a", 4).key));
  EXPECT_FALSE(rule.Drops(Put("b", 5).key));
}

// An offset may be any number; what follows it must not be reckoned with.
TEST(DropRule, ValuesThatEndBeforeTheirNumbersNeverEnd) {
  constexpr LifetimeRule kAll{0, 4, 100, 5};
  const std::string value = Mortal(1);
  for (const size_t offset : {size_t{SIZE_MAX}, SIZE_MAX - 1, SIZE_MAX - 3, SIZE_MAX - 4,
                              SIZE_MAX / 2, value.size(), value.size() - 3}) {
    LifetimeRule rule = kAll;
    rule.generation_offset = offset;
    EXPECT_FALSE(DropRule::HasEnded(rule, Put("a", 1).key, value)) << offset;
    rule = kAll;
    rule.expiry_offset = offset;
    rule.generation_offset = 0;
    EXPECT_FALSE(DropRule::HasEnded(rule, Put("a", 1).key, value)) << offset;
  }
  for (const size_t bytes : {0u, 1u, 3u, 7u}) {
    EXPECT_FALSE(
        DropRule::HasEnded(kAll, Put("a", 1).key, std::string_view(value).substr(0, bytes)));
  }
  EXPECT_TRUE(DropRule::HasEnded(kAll, Put("a", 1).key, value));
}

TEST(DropRule, UserKeysAreTheSameWhereTheComparatorSaysSo) {
  // Only the first byte counts.
  class FirstByte final : public Comparator {
   public:
    int Compare(std::string_view a, std::string_view b) const override {
      return a.substr(0, 1).compare(b.substr(0, 1));
    }
    const char* Name() const override { return "test.FirstByte"; }
    void FindShortestSeparator(std::string*, std::string_view) const override {}
    void FindShortSuccessor(std::string*) const override {}
  };
  const FirstByte first_byte;
  JobKit kit(&first_byte);
  DropRule rule(kit.job());
  EXPECT_FALSE(rule.Drops(Put("ax", 9).key));
  EXPECT_TRUE(rule.Drops(Put("ay", 8).key));
  EXPECT_FALSE(rule.Drops(Put("bx", 8).key));
}

}  // namespace
}  // namespace weft::compaction
