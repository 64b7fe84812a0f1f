#include "sim/dram/address_map.h"

#include <gtest/gtest.h>

#include "sim/dram/dram_test_kit.h"

namespace weft::sim {
namespace {

constexpr Interleave kAll[] = {Interleave::kRank, Interleave::kScheme2, Interleave::kRow,
                               Interleave::kXorBank};

Organization TwoChannels() {
  Organization organization = PresetNamed(kDefaultPreset).organization;
  organization.channels = 2;
  return organization;
}

TEST(AddressMap, PaperMemoryHas16Gigabytes) {
  EXPECT_EQ(TwoChannels().lines() * kLineBytes, uint64_t{16} << 30);
}

TEST(AddressMap, NeighboursGoWhereTheNameSays) {
  const Organization organization = TwoChannels();
  const uint64_t top = organization.lines() / 2;
  const AddressMap rank(Interleave::kRank, organization);
  EXPECT_EQ(rank.PlaceOf(1), (Place{.channel = 1}));
  EXPECT_EQ(rank.PlaceOf(2), (Place{.rank = 1}));
  EXPECT_EQ(rank.PlaceOf(8), (Place{.bank = 1}));
  EXPECT_EQ(rank.PlaceOf(64), (Place{.column = 1}));
  EXPECT_EQ(rank.PlaceOf(8192), (Place{.row = 1}));
  const AddressMap scheme2(Interleave::kScheme2, organization);
  EXPECT_EQ(scheme2.PlaceOf(1), (Place{.rank = 1}));
  EXPECT_EQ(scheme2.PlaceOf(4), (Place{.bank = 1}));
  EXPECT_EQ(scheme2.PlaceOf(32), (Place{.column = 1}));
  EXPECT_EQ(scheme2.PlaceOf(4096), (Place{.row = 1}));
  EXPECT_EQ(scheme2.PlaceOf(top), (Place{.channel = 1}));
  const AddressMap row(Interleave::kRow, organization);
  EXPECT_EQ(row.PlaceOf(127), (Place{.column = 127}));
  EXPECT_EQ(row.PlaceOf(128), (Place{.bank = 1}));
  EXPECT_EQ(row.PlaceOf(1024), (Place{.rank = 1}));
  EXPECT_EQ(row.PlaceOf(4096), (Place{.channel = 1}));
  EXPECT_EQ(row.PlaceOf(8192), (Place{.row = 1}));
  const AddressMap xor_bank(Interleave::kXorBank, organization);
  EXPECT_EQ(xor_bank.PlaceOf(8192 * 13), (Place{.bank = 5, .row = 13}));
}

TEST(AddressMap, EveryLineHasAPlaceOfItsOwn) {
  std::mt19937_64 random(TestSeed());
  for (const std::string& name : PresetNames()) {
    const Organization organization = PresetNamed(name).organization;
    for (const Interleave interleave : kAll) {
      const AddressMap map(interleave, organization);
      for (int i = 0; i < 1000; ++i) {
        const uint64_t line = i == 0 ? map.lines() - 1 : random() % map.lines();
        const Place place = map.PlaceOf(line);
        ASSERT_EQ(map.LineOf(place), line);
        ASSERT_LT(place.bank, organization.banks());
        ASSERT_LT(place.rank, organization.ranks);
        ASSERT_LT(place.row, organization.rows);
        ASSERT_LT(place.column, organization.lines_per_row());
      }
    }
  }
}

TEST(AddressMap, NamesAreKnown) {
  EXPECT_EQ(ParseInterleave("xor-bank").value(), Interleave::kXorBank);
  EXPECT_EQ(ParseInterleave("rank").error().code(), Code::kInvalidArgument);
}

TEST(Preset, AllAreValidAndOthersAreNot) {
  for (const std::string& name : PresetNames()) {
    EXPECT_TRUE(Validate(PresetNamed(name).organization).ok()) << name;
  }
  const auto none = FindPreset("ddr2");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("hbm3-6400"), std::string_view::npos);
  Organization odd = TwoChannels();
  odd.ranks = 3;
  EXPECT_EQ(Validate(odd).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace weft::sim
