// Threads   one.
#include "bench/workload/record.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;

SizeDistribution Sizes(const char* text) { return *SizeDistribution::Parse(text); }

RecordFormat Format(const char* key_bytes, const char* value_bytes, bool ordered = false) {
  auto format = RecordFormat::Make({Sizes(key_bytes), Sizes(value_bytes), ordered});
  EXPECT_TRUE(format) << format.error().ToString();
  return *format;
}

std::string KeyOf(const RecordFormat& format, uint64_t record) {
  char room[kRecordKeyBytesMax];
  return std::string(format.WriteKey(record, room));
}

std::string ValueOf(const RecordFormat& format, uint64_t record, uint32_t version) {
  std::string value(format.ValueBytes(record, version), '\0');
  format.WriteValue(record, version, value.data());
  return value;
}

// The first, the last, and some between.
std::vector<uint64_t> SomeRecords() {
  std::vector<uint64_t> records = {0, 1, 2, 255, 65536, 1u << 31, kRecordsMax - 2, kRecordsMax - 1};
  base::Random random(base::TestSeed(2));
  for (int i = 0; i < 5000; ++i) records.push_back(random.Below(kRecordsMax));
  return records;
}

constexpr const char* kKeySizes[] = {"8",  "9",  "11",  "15",           "16",
                                     "17", "24", "250", "uniform 8 40", "8:1 16:1 24:1"};

TEST(Record, KeysLeadBackToTheirRecords) {
  for (const char* key_bytes : kKeySizes)
    for (const bool ordered : {false, true}) {
      if (ordered && !Sizes(key_bytes).is_fixed()) continue;
      const RecordFormat format = Format(key_bytes, "100", ordered);
      for (const uint64_t record : SomeRecords()) {
        const std::string key = KeyOf(format, record);
        ASSERT_EQ(key.size(), format.KeyBytes(record));
        ASSERT_EQ(format.RecordOf(key), record) << key_bytes << " " << key;
      }
    }
}

TEST(Record, KeysDifferAndAreText) {
  for (const char* key_bytes : kKeySizes) {
    const RecordFormat format = Format(key_bytes, "100");
    std::set<std::string> keys;
    for (uint64_t record = 0; record < 20'000; ++record) keys.insert(KeyOf(format, record));
    EXPECT_EQ(keys.size(), 20'000u) << key_bytes;
    for (const std::string& key : keys)
      for (const char c : key) ASSERT_TRUE(c > ' ' && c < 127) << key;
  }
}

TEST(Record, KeysHaveThisForm) {
  EXPECT_EQ(KeyOf(Format("24", "100", true), 0xabc), "user----0000000000000abc");
  EXPECT_EQ(KeyOf(Format("17", "100", true), 0x1234567), "u0000000001234567");
  EXPECT_EQ(KeyOf(Format("8", "100", true), 0xfedcba98), "fedcba98");
  EXPECT_EQ(KeyOf(Format("13", "100", true), 0x9a), "user-0000009a");
}

TEST(Record, OtherKeysHaveNoRecord) {
  for (const char* key_bytes : kKeySizes) {
    const RecordFormat format = Format(key_bytes, "100");
    for (const uint64_t record : {uint64_t{0}, uint64_t{77}, kRecordsMax - 1}) {
      const std::string key = KeyOf(format, record);
      EXPECT_FALSE(format.RecordOf(key.substr(1)) == record);
      EXPECT_FALSE(format.RecordOf(key + "0") == record);
      for (size_t i = 0; i < key.size(); ++i)
        for (const char c : {'\0', ' ', 'A', 'g', '-'}) {
          std::string other = key;
          if (other[i] == c) continue;
          other[i] = c;
          EXPECT_FALSE(format.RecordOf(other) == record) << other;
        }
    }
  }
  EXPECT_FALSE(Format("16", "100", true).RecordOf("0000000100000000"));  // beyond the last
  EXPECT_FALSE(Format("16", "100").RecordOf(""));
}

TEST(Record, OrderedKeysAreInOrderAndOthersAreNot) {
  for (const char* key_bytes : {"8", "12", "16", "30"}) {
    const RecordFormat ordered = Format(key_bytes, "100", true);
    const RecordFormat scattered = Format(key_bytes, "100");
    std::vector<uint64_t> records = SomeRecords();
    std::sort(records.begin(), records.end());
    int rising = 0;
    for (size_t i = 1; i < records.size(); ++i) {
      if (records[i] == records[i - 1]) continue;
      ASSERT_LT(KeyOf(ordered, records[i - 1]), KeyOf(ordered, records[i]));
      rising += KeyOf(scattered, records[i - 1]) < KeyOf(scattered, records[i]);
    }
    EXPECT_NEAR(rising, 2500, 300) << key_bytes;
  }
}

TEST(Record, MakeRefusesSizesThatCannotBe) {
  const auto why = [](const char* key_bytes, const char* value_bytes, bool ordered) {
    auto format = RecordFormat::Make({Sizes(key_bytes), Sizes(value_bytes), ordered});
    return format ? std::string() : format.error().ToString();
  };
  EXPECT_THAT(why("7", "100", false), HasSubstr("keys have 8 to 250 bytes, not 7"));
  EXPECT_THAT(why("uniform 16 251", "100", false), HasSubstr("keys have 8 to"));
  EXPECT_THAT(why("16", "7", false), HasSubstr("values have 8 to 1048576 bytes, not 7"));
  EXPECT_THAT(why("16", "uniform 100 1048577", false), HasSubstr("values have"));
  EXPECT_THAT(why("uniform 16 20", "100", true), HasSubstr("ordered keys must have one size"));
  EXPECT_EQ(why("uniform 16 20", "100", false), "");
  EXPECT_EQ(why("uniform 20 20", "8", true), "");
}

constexpr const char* kValueSizes[] = {"8", "9", "64", "1000", "uniform 8 300"};

TEST(Record, ValuesAreTheirRecordsAndVersions) {
  for (const char* value_bytes : kValueSizes) {
    const RecordFormat format = Format("24", value_bytes);
    for (const uint64_t record : {uint64_t{0}, uint64_t{1}, uint64_t{123456}, kRecordsMax - 1})
      for (const uint32_t version : {0u, 1u, 2u, 77u, UINT32_MAX}) {
        const std::string value = ValueOf(format, record, version);
        EXPECT_EQ(format.Verify(record, value), version) << value_bytes;
        EXPECT_FALSE(format.Verify(record ^ 1, value));
        EXPECT_FALSE(format.Verify(record ^ 1u << 31, value));
      }
  }
}

TEST(Record, NoSpoiledByteIsAccepted) {
  for (const char* value_bytes : kValueSizes) {
    const RecordFormat format = Format("24", value_bytes);
    for (const uint32_t version : {0u, 5u, UINT32_MAX}) {
      const std::string value = ValueOf(format, 99, version);
      for (size_t i = 0; i < value.size(); ++i)
        for (int flip = 1; flip < 256; ++flip) {
          std::string other = value;
          other[i] = static_cast<char>(other[i] ^ flip);
          ASSERT_FALSE(format.Verify(99, other)) << value_bytes << " byte " << i;
        }
    }
  }
}

TEST(Record, VersionsMayBeSizesAndKeysMayHaveTheirs) {
  RecordOptions options;
  options.value_bytes = SizeDistribution::Uniform(8, 5000);
  options.version_is_size = true;
  options.key_bytes_of = std::make_shared<const std::vector<uint8_t>>(std::vector<uint8_t>{8, 250});
  const auto made = RecordFormat::Make(options);
  ASSERT_TRUE(made);
  const RecordFormat& format = made.value();
  char key[kRecordKeyBytesMax];
  EXPECT_EQ(format.WriteKey(0, key).size(), 8u);
  EXPECT_EQ(format.WriteKey(1, key).size(), 250u);
  for (const uint32_t bytes : {8u, 9u, 5000u}) {
    std::string value(bytes, '\0');
    format.WriteValue(1, bytes, value.data());
    EXPECT_EQ(format.Verify(1, value), bytes);
    EXPECT_EQ(format.Verify(0, value), std::nullopt);
    EXPECT_EQ(format.Verify(1, value + "x"), std::nullopt);
  }
  std::string huge(8, '\0');  // a size that no pool has
  RecordFormat::WriteHead(1, 0xffffffff, huge.data());
  EXPECT_EQ(format.Verify(1, huge), std::nullopt);
  // What another run has stored may be sound, and longer than this one's pool.
  options.value_bytes = SizeDistribution::Uniform(8, 6000);
  std::string longer(6000, '\0');
  RecordFormat::Make(options).value().WriteValue(1, 6000, longer.data());
  EXPECT_EQ(RecordFormat::Make(options).value().Verify(1, longer), 6000u);
  EXPECT_EQ(format.Verify(1, longer), std::nullopt);
  // And keys may be of records that have no size here.
  EXPECT_EQ(format.RecordOf(KeyOf(format, 0)), 0u);
  EXPECT_EQ(format.RecordOf(KeyOf(Format("8", "100"), 2)), std::nullopt);
  EXPECT_EQ(format.RecordOf(KeyOf(Format("8", "100"), kRecordsMax - 1)), std::nullopt);
  options.key_bytes_of = std::make_shared<const std::vector<uint8_t>>(std::vector<uint8_t>{7});
  EXPECT_FALSE(RecordFormat::Make(options));
}

TEST(Record, NoOtherLengthIsAccepted) {
  for (const char* value_bytes : kValueSizes) {
    const RecordFormat format = Format("24", value_bytes);
    const std::string value = ValueOf(format, 99, 3);
    for (size_t bytes = 0; bytes < value.size(); ++bytes)
      EXPECT_FALSE(format.Verify(99, value.substr(0, bytes))) << bytes;
    EXPECT_FALSE(format.Verify(99, value + '\0'));
    EXPECT_FALSE(format.Verify(99, value + value));
  }
}

TEST(Record, AHeadNamesItsRecordAndVersion) {
  const RecordFormat format = RecordFormat::OfSizes(16, 100, true);
  std::string value = ValueOf(format, 99, 3);
  EXPECT_EQ(format.VersionOf(99, value), 3u);
  EXPECT_FALSE(format.VersionOf(98, value));
  EXPECT_FALSE(format.VersionOf(99, value.substr(0, 99)));
  value.back() ^= 1;  // a whole check sees it
  EXPECT_EQ(format.VersionOf(99, value), 3u);
  EXPECT_FALSE(format.Verify(99, value));
  EXPECT_EQ(std::string(RecordKey(format, 10)), "000000000000000a");
}

TEST(Record, BodiesChangeWithTheVersion) {
  const RecordFormat format = Format("24", "1000");
  int same = 0;
  for (uint32_t version = 0; version < 1000; ++version)
    same += format.Body(7, version) == format.Body(7, version + 1);
  EXPECT_LE(same, 1);
}

}  // namespace
}  // namespace weft::bench
