// Version edits: their bytes, and bytes that are none.
#include "lsm/version_edit.h"

#include <string>

#include <gtest/gtest.h>

#include "base/coding.h"

namespace weft::lsm {
namespace {

using table::MakeInternalKey;
using table::ValueType;

VersionEdit Sample() {
  VersionEdit edit;
  edit.comparator = "leveldb.BytewiseComparator";
  edit.log_number = 4;
  edit.prev_log_number = 0;
  edit.next_file_number = uint64_t{1} << 50;
  edit.last_sequence = table::kSequenceMax;
  edit.compact_pointers.emplace_back(2, MakeInternalKey("x\xff", 900, ValueType::kValue));
  edit.RemoveFile(3, 700);
  edit.RemoveFile(0, uint64_t{1} << 40);
  edit.AddFile(6, 300, 400, MakeInternalKey("", 500, ValueType::kValue),
               MakeInternalKey("zoo", 600, ValueType::kDeletion));
  edit.AddFile(0, 301, 0, MakeInternalKey("a", 2, ValueType::kValue),
               MakeInternalKey("a", 1, ValueType::kValue));
  return edit;
}

std::string Encoded(const VersionEdit& edit) {
  std::string bytes;
  edit.EncodeTo(&bytes);
  return bytes;
}

TEST(VersionEdit, IsReadBackAsItWas) {
  const VersionEdit edit = Sample();
  VersionEdit read;
  read.RemoveFile(1, 1);
  ASSERT_TRUE(read.DecodeFrom(Encoded(edit)).ok());
  EXPECT_EQ(read, edit);
  EXPECT_EQ(Encoded(read), Encoded(edit));
  ASSERT_TRUE(read.DecodeFrom("").ok());
  EXPECT_EQ(read, VersionEdit());
}

TEST(VersionEdit, HasLevelDbsBytes) {
  VersionEdit edit;
  edit.comparator = "c";
  edit.log_number = 300;
  edit.prev_log_number = 0;
  edit.next_file_number = 7;
  edit.last_sequence = 9;
  edit.compact_pointers.emplace_back(1, MakeInternalKey("p", 1, ValueType::kValue));
  edit.RemoveFile(2, 8);
  edit.AddFile(3, 9, 10, MakeInternalKey("a", 2, ValueType::kValue),
               MakeInternalKey("b", 3, ValueType::kDeletion));
  const std::string expected(
      "\x01\x01"
      "c"
      "\x02\xac\x02"
      "\x09\x00"
      "\x03\x07"
      "\x04\x09"
      "\x05\x01\x09p\x01\x01\0\0\0\0\0\0"
      "\x06\x02\x08"
      "\x07\x03\x09\x0a\x09"
      "a\x01\x02\0\0\0\0\0\0\x09"
      "b\x00\x03\0\0\0\0\0\0",
      51);
  EXPECT_EQ(Encoded(edit), expected);
}

TEST(VersionEdit, CutBytesAreRefused) {
  const std::string bytes = Encoded(Sample());
  size_t whole = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    VersionEdit edit;
    const Status status = edit.DecodeFrom(std::string_view(bytes).substr(0, length));
    if (status.ok()) {
      ++whole;  // cut between two fields
      EXPECT_EQ(Encoded(edit), bytes.substr(0, length));
    } else {
      EXPECT_EQ(status.code(), Code::kCorruption);
      EXPECT_EQ(edit, VersionEdit()) << "nothing half read is left";
    }
  }
  EXPECT_EQ(whole, 10u) << "as many as there are fields";
}

TEST(VersionEdit, FieldsThatNobodyWritesAreRefused) {
  const auto refused = [](std::string_view bytes) {
    VersionEdit edit;
    return edit.DecodeFrom(bytes).code() == Code::kCorruption;
  };
  const std::string key = MakeInternalKey("k", 1, ValueType::kValue);
  EXPECT_TRUE(refused(std::string("\x08\x01", 2))) << "tag 8 is not used any more";
  EXPECT_TRUE(refused(std::string("\x00\x01", 2)));
  EXPECT_TRUE(refused("\x0a\x01"));
  EXPECT_TRUE(refused("\x06\x07\x01")) << "there is no level 7";
  EXPECT_TRUE(refused("\x05\x07\x09" + key));
  EXPECT_FALSE(refused("\x05\x06\x09" + key));
  EXPECT_TRUE(refused("\x05\x06\x07" + key.substr(0, 7))) << "shorter than a trailer";
  EXPECT_TRUE(refused(std::string("\x05\x06\x08\x02\0\0\0\0\0\0\0", 11))) << "no kind of entry";
  std::string sequence = "\x04";
  base::PutVarint64(&sequence, table::kSequenceMax + 1);
  EXPECT_TRUE(refused(sequence));
}

TEST(VersionEdit, IsReadableForPeople) {
  const std::string text = Sample().DebugString();
  EXPECT_NE(text.find("add 300 to level 6: 400 bytes, '' @ 500 : value .. 'zoo' @ 600 : deletion"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("'x\\xff' @ 900"), std::string::npos);
}

TEST(VersionEdit, TextHidesQuotesWithinKeys) {
  VersionEdit edit;
  const std::string key = table::MakeInternalKey("a' @ 1\\", 7, table::ValueType::kValue);
  edit.compact_pointers.emplace_back(1, key);
  const std::string text = edit.DebugString();
  EXPECT_NE(text.find("'a\\x27 @ 1\\x5c' @ 7 : value"), std::string::npos) << text;
}

// LevelDB takes the last of two numbers of a kind.
TEST(VersionEdit, AnIdentityIsANumberThatIsTakenBack) {
  VersionEdit edit;
  edit.comparator = "c";
  edit.identity = 0x123456789abcd;
  std::string record;
  edit.EncodeTo(&record);
  VersionEdit read;
  ASSERT_TRUE(read.DecodeFrom(record).ok());
  EXPECT_EQ(read.identity, edit.identity);
  EXPECT_EQ(read.prev_log_number, 0u);
  edit.identity.reset();
  edit.prev_log_number = 7;
  record.clear();
  edit.EncodeTo(&record);
  ASSERT_TRUE(read.DecodeFrom(record).ok());
  EXPECT_FALSE(read.identity);
  EXPECT_EQ(read.prev_log_number, 7u);
}

}  // namespace
}  // namespace weft::lsm
