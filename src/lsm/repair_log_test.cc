// What a repair takes of a log whose values are logs themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "base/seed_test_kit.h"
#include "lsm/checked_options.h"
#include "lsm/file_names.h"
#include "lsm/log_format.h"
#include "lsm/log_writer.h"
#include "lsm/repair.h"
#include "lsm/string_file_test_kit.h"
#include "lsm/write_batch_internal.h"
#include "weft/db.h"

namespace weft::lsm {
namespace {

std::string KeyOfPlace(int i) { return std::to_string(1000 + i); }

// A log that holds `values`, numbered from `first` on, under the keys of their places.
std::string LogOf(table::SequenceNumber first, const std::vector<std::string>& values,
                  const std::string& prefix, std::vector<size_t>* begins = nullptr) {
  std::string log;
  StringSink file(&log);
  LogWriter writer(&file);
  for (size_t i = 0; i < values.size(); i++) {
    WriteBatch batch;
    batch.Put(prefix + KeyOfPlace(static_cast<int>(i)), values[i]);
    WriteBatchInternal::SetSequence(&batch, first + i);
    if (begins != nullptr) begins->push_back(log.size());
    EXPECT_TRUE(writer.AddRecord(batch.contents()).ok());
  }
  return log;
}

std::string OnlyLog(base::MemoryFileSystem& files) {
  for (const std::string& path : files.AllFiles()) {
    if (path.ends_with(".log")) return path;
  }
  return {};
}

std::vector<std::string> Keys(const DbOptions& options) {
  std::vector<std::string> keys;
  auto db = Db::Open(options, "/db");
  EXPECT_TRUE(db.has_value()) << db.error().ToString();
  if (!db) return keys;
  const auto iterator = (*db)->NewIterator({});
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    keys.emplace_back(iterator->key());
  }
  return keys;
}

// Of the record whose value ends in them the header is lost: the next record follows them directly.
TEST(RepairLog, AValuesRecordsHideNoneOfTheLogs) {
  base::MemoryFileSystem files;
  DbOptions options;
  options.create_if_missing = true;
  options.file_system = &files;
  ASSERT_TRUE(Db::Open(options, "/db").has_value());
  const std::string path = OnlyLog(files);
  base::MemoryFileSystem fresh;
  fresh.Restore(files);
  for (const size_t records : {20, 120}) {
    for (const table::SequenceNumber first : {1'000'000'000ULL, 1ULL << 55}) {
      for (const size_t zeros : {0, 20}) {
        const std::string inner =
            LogOf(first, std::vector<std::string>(3, "f"), "foreign") + std::string(zeros, '\0');
        for (size_t hurt = 0; hurt < records; hurt += 1 + hurt / 10) {
          std::vector<std::string> values(records, std::string(600, 'v'));
          values[hurt] = std::string(900, 'v') + inner;
          std::vector<size_t> begins;
          std::string log = LogOf(1, values, "", &begins);
          log.replace(begins[hurt], 300, std::string(300, '\xff'));
          ASSERT_TRUE(files.SetContents(path, log).ok());
          ASSERT_TRUE(Repair(*CheckedOptions(options), "/db", nullptr).Run().ok());
          const std::vector<std::string> keys = Keys(options);
          EXPECT_EQ(keys.size(), records - 1) << first << " " << zeros << " " << hurt;
          EXPECT_FALSE(std::ranges::binary_search(keys, "foreign" + KeyOfPlace(0)))
              << first << " " << zeros << " " << hurt;
          files.Restore(fresh);
        }
      }
    }
  }
}

// A store with the keys old1000 to old1019 in a table, and an empty log.
class CutLog : public testing::Test {
 protected:
  void SetUp() override {
    options_.create_if_missing = true;
    options_.file_system = &files_;
    auto db = Db::Open(options_, "/db");
    ASSERT_TRUE(db.has_value());
    for (int i = 0; i < kOld; i++) ASSERT_TRUE((*db)->Put({}, "old" + KeyOfPlace(i), "v").ok());
    ASSERT_TRUE((*db)->CompactRange(nullptr, nullptr).ok());
    db->reset();
    ASSERT_TRUE(files_.RemoveFile("/db/CLOSED").ok());
    path_ = OnlyLog(files_);
  }
  // Copies of a log: every second record deletes an old key, the others put new ones.
  static std::string Inner(table::SequenceNumber first) {
    std::string log;
    StringSink file(&log);
    LogWriter writer(&file);
    for (int i = 0; i < 10; i++) {
      WriteBatch batch;
      if (i % 2 == 0) batch.Put("ghost" + KeyOfPlace(i), "g");
      if (i % 2 != 0) batch.Delete("old" + KeyOfPlace(i));
      WriteBatchInternal::SetSequence(&batch, first + static_cast<uint64_t>(i));
      EXPECT_TRUE(writer.AddRecord(batch.contents()).ok());
    }
    return log;
  }
  // What the store holds as it is opened, and as it is opened behind a repair.
  void ExpectRepairChangesNothing(const std::string& log, const std::string& what) {
    base::MemoryFileSystem before;
    before.Restore(files_);
    ASSERT_TRUE(files_.SetContents(path_, log).ok());
    base::MemoryFileSystem cut;
    cut.Restore(files_);
    const std::vector<std::string> opened = Keys(options_);
    EXPECT_GE(opened.size(), kOld) << what;
    files_.Restore(cut);
    ASSERT_TRUE(Repair(*CheckedOptions(options_), "/db", nullptr).Run().ok());
    EXPECT_EQ(Keys(options_), opened) << what;
    files_.Restore(before);
  }

  static constexpr int kOld = 20;
  base::MemoryFileSystem files_;
  DbOptions options_;
  std::string path_;
};

TEST_F(CutLog, NothingIsTakenOfAWriteThatWasCut) {
  for (const table::SequenceNumber ahead : {1ULL, 30ULL, 1ULL << 40}) {
    for (const size_t records_before : {0, 1, 3}) {
      for (const size_t value_bytes : {0, 200, 40'000}) {
        std::vector<std::string> values(records_before, "v");
        const table::SequenceNumber first = kOld + 1;
        values.push_back(std::string(value_bytes, 'v') + Inner(first + records_before + ahead) +
                         std::string(300, 'x'));
        std::vector<size_t> begins;
        const std::string log = LogOf(first, values, "", &begins);
        for (const size_t lost : {1, 100, 301, 350}) {
          const std::string cut = log.substr(0, log.size() - lost);
          const std::string what = std::to_string(ahead) + " " + std::to_string(records_before) +
                                   " " + std::to_string(value_bytes) + " " + std::to_string(lost);
          ExpectRepairChangesNothing(cut, what);
          // Room of the log that was not used yet.
          ExpectRepairChangesNothing(cut + std::string(50'000, '\0'), what + ", and zeros");
          // The first bytes of the run were not visible yet.
          std::string hidden = cut;
          const size_t last_block = cut.size() / kLogBlockBytes * kLogBlockBytes;
          hidden.replace(std::max(begins.back(), last_block), 8, std::string(8, '\0'));
          ExpectRepairChangesNothing(hidden, what + ", its head hidden");
        }
      }
    }
  }
}

// The numbers of what is found are no higher than the bytes before them had room for.
TEST_F(CutLog, OfALogWithoutASureRecordNumbersFollowTheManifests) {
  std::string log = LogOf(kOld + 1, {Inner(1'000'000'000)}, "");
  log.replace(0, 30, std::string(30, '\xff'));
  ASSERT_TRUE(files_.SetContents(path_, log).ok());
  ASSERT_TRUE(Repair(*CheckedOptions(options_), "/db", nullptr).Run().ok());
  const std::vector<std::string> keys = Keys(options_);
  EXPECT_EQ(keys.size(), kOld);
  EXPECT_FALSE(std::ranges::binary_search(keys, "ghost" + KeyOfPlace(0)));
}

// Behind a copy of a log in a value stands what could pass for the header of a record that was cut.
TEST_F(CutLog, AValuesTextIsNoRecordThatWasCut) {
  const auto header = [](size_t bytes, char type) {
    return std::string("crc.") + static_cast<char>(bytes & 0xff) + static_cast<char>(bytes >> 8) +
           type;
  };
  const std::string batch = std::string("\x30\0\0\0\0\0\0\0\x09\0\0\0", 12);
  const std::vector<std::string> tails = {std::string("\x01\x03k14\xe0\x03", 7),
                                          header(57'000, 3),
                                          header(40'000, 1),
                                          header(20'000, 1),
                                          header(20'000, 2),
                                          header(20'000, 3),
                                          header(20'000, 4),
                                          header(40'000, 1) + batch,
                                          header(20'000, 2) + batch,
                                          header(20'000, 4) + batch,
                                          header(20'000, 1) + batch + std::string("\x05", 1),
                                          std::string(8, '\0') + "text",
                                          std::string(20, '\0') + "text"};
  for (size_t tail = 0; tail < tails.size(); tail++) {
    std::string inner;
    StringSink file(&inner);
    WriteBatch ghost;
    ghost.Put("ghost", "g");
    WriteBatchInternal::SetSequence(&ghost, kOld + 9);
    ASSERT_TRUE(LogWriter(&file).AddRecord(ghost.contents()).ok());
    std::vector<std::string> values(14, std::string(100, 'r'));
    values[1] = inner + tails[tail] + std::string(480, 'v');
    std::vector<size_t> begins;
    std::string log = LogOf(kOld + 1, values, "real", &begins);
    log.replace(begins[2] - 3, 5, std::string(5, '\xff'));
    base::MemoryFileSystem before;
    before.Restore(files_);
    ASSERT_TRUE(files_.SetContents(path_, log).ok());
    ASSERT_TRUE(Repair(*CheckedOptions(options_), "/db", nullptr).Run().ok());
    const std::vector<std::string> keys = Keys(options_);
    EXPECT_FALSE(std::ranges::binary_search(keys, "ghost")) << tail;
    for (int i = 3; i < 14; i++) {
      EXPECT_TRUE(std::ranges::binary_search(keys, "real" + KeyOfPlace(i))) << tail << " " << i;
    }
    files_.Restore(before);
  }
}

// Logs of any values, of which one is a copy of some log, with damage in and around that one's
// record. Everything else is kept, and nothing is taken of the value.
class AnyLog : public CutLog {
 protected:
  enum class Hurt { kHeader, kTwoValues, kValueAndEnd, kHeaderBehindALostLog };
  static constexpr size_t kText = 60;  // what a value begins with at the least

  size_t Below(size_t bound) { return random_() % bound; }
  // Ends in zeros, in text, or in its last record.
  std::string Copy(table::SequenceNumber own) {
    const table::SequenceNumber first = Below(3) == 0   ? 1 + Below(own)
                                        : Below(2) == 0 ? own + 1 + Below(400)
                                                        : 1'000'000'000 + Below(1000);
    return Inner(first) +
           (Below(2) == 0 ? std::string(Below(1500), '\0') : std::string(Below(90), 't'));
  }
  // Makes such a log, and looks at what a repair keeps of it.
  void Run(Hurt hurt) {
    const bool is_alone = hurt == Hurt::kHeaderBehindALostLog;
    const size_t records = 4 + Below(Below(4) == 0 ? 150 : 20);
    const table::SequenceNumber first = kOld + 1 + (is_alone ? 600 + Below(90'000) : 0);
    const size_t at = is_alone ? 0 : hurt == Hurt::kValueAndEnd ? records - 1 : Below(records - 1);
    std::vector<std::string> values(records);
    for (std::string& value : values) value = std::string(kText + Below(500), 'v');
    values[at] = std::string(kText + Below(500), 'x') + Copy(first + at) + "the end";
    std::vector<size_t> begins;
    std::string log = LogOf(first, values, "real", &begins);
    std::vector<size_t> gone = {at};
    const auto flip = [&](size_t record) { log[begins[record] + 40] ^= 1; };
    switch (hurt) {
      case Hurt::kHeader:
      case Hurt::kHeaderBehindALostLog:
        log.replace(begins[at], kLogHeaderBytes, std::string(kLogHeaderBytes, '\xff'));
        break;
      case Hurt::kTwoValues:
        flip(at);
        flip(at + 1);
        gone.push_back(at + 1);
        break;
      case Hurt::kValueAndEnd:
        flip(at - 1);
        gone.push_back(at - 1);
        log.resize(log.size() - 1 - Below(100));
        if (Below(2) == 0) log.resize(log.size() + 70'000);
        break;
    }
    // A header, or what is flipped, that lies in two blocks would be more damage than that.
    for (const size_t record : gone) {
      if (kLogBlockBytes - begins[record] % kLogBlockBytes < kText) return;
    }
    base::MemoryFileSystem before;
    before.Restore(files_);
    if (is_alone) {
      ParsedFileName name;
      ASSERT_TRUE(ParseFileName(path_.substr(path_.rfind('/') + 1), &name));
      ASSERT_TRUE(files_.SetContents(LogFileName("/db", name.number + 1), log).ok());
    } else {
      ASSERT_TRUE(files_.SetContents(path_, log).ok());
    }
    ASSERT_TRUE(Repair(*CheckedOptions(options_), "/db", nullptr).Run().ok());
    std::vector<std::string> expected;
    for (int i = 0; i < kOld; i++) expected.push_back("old" + KeyOfPlace(i));
    for (size_t i = 0; i < records; i++) {
      if (std::ranges::find(gone, i) != gone.end()) continue;
      expected.push_back("real" + KeyOfPlace(static_cast<int>(i)));
    }
    EXPECT_EQ(Keys(options_), expected)
        << static_cast<int>(hurt) << ": " << at << " of " << records << ", " << begins[at];
    files_.Restore(before);
  }

  std::mt19937_64 random_{base::TestSeed(11)};
};

TEST_F(AnyLog, AHeaderThatIsLostOpensNoValue) {
  for (int round = 0; round < 60 && !HasFailure(); round++) Run(Hurt::kHeader);
}

TEST_F(AnyLog, TwoRecordsThatAreWrongAreJudgedEachByItsOwn) {
  for (int round = 0; round < 60 && !HasFailure(); round++) Run(Hurt::kTwoValues);
}

TEST_F(AnyLog, AWriteThatWasCutIsNotSearchedBehindDamage) {
  for (int round = 0; round < 60 && !HasFailure(); round++) Run(Hurt::kValueAndEnd);
}

TEST_F(AnyLog, BehindALogThatIsLostNumbersMayBeAnyhowHigh) {
  for (int round = 0; round < 60 && !HasFailure(); round++) Run(Hurt::kHeaderBehindALostLog);
}

// With the number of the record, too, nothing says where it ends. Behind its value's zeros others
// follow.
TEST_F(CutLog, AValuesRecordsAreHeldAgainstTheNextThatAreSure) {
  for (const size_t records : {10, 200}) {
    for (const size_t hurt : {0, 1, 5}) {
      for (const table::SequenceNumber ahead : {1, 2, 50, 300}) {
        std::vector<std::string> values(records, std::string(500, 'v'));
        values[hurt] =
            std::string(400, 'x') + Inner(kOld + 1 + hurt + ahead) + std::string(600, '\0');
        std::vector<size_t> begins;
        std::string log = LogOf(kOld + 1, values, "real", &begins);
        log.replace(begins[hurt], 40, std::string(40, '\xff'));
        base::MemoryFileSystem before;
        before.Restore(files_);
        ASSERT_TRUE(files_.SetContents(path_, log).ok());
        ASSERT_TRUE(Repair(*CheckedOptions(options_), "/db", nullptr).Run().ok());
        const std::vector<std::string> keys = Keys(options_);
        EXPECT_EQ(keys.size(), kOld + records - 1) << records << " " << hurt << " " << ahead;
        EXPECT_FALSE(keys.empty() || keys.front().starts_with("ghost"))
            << records << " " << hurt << " " << ahead;
        files_.Restore(before);
      }
    }
  }
}

}  // namespace
}  // namespace weft::lsm
