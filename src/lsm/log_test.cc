// The writer and the reader of logs, with each other and with damage of all kinds.
//
// Threads   one.
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "lsm/log_reader.h"
#include "lsm/log_writer.h"
#include "lsm/string_file_test_kit.h"

namespace weft::lsm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Dropped {
  uint64_t offset;
  uint64_t bytes;
  std::string reason;
};

class Collector final : public LogReader::Reporter {
 public:
  void Dropped(uint64_t offset, uint64_t bytes, std::string_view reason) override {
    all.push_back({offset, bytes, std::string(reason)});
  }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const auto& each : all) sum += each.bytes;
    return sum;
  }
  std::vector<struct Dropped> all;
};

struct Outcome {
  std::vector<std::string> records;
  LogEnd end = LogEnd::kNotYet;
  uint64_t valid_bytes = 0;
  uint64_t dropped_bytes = 0;
  std::vector<struct Dropped> dropped;
};

Outcome ReadAll(std::string_view log, LogReader::Mode mode = LogReader::Mode::kStop) {
  StringSource file(log);
  Collector collector;
  LogReader reader(&file, &collector, mode);
  Outcome outcome;
  std::string_view record;
  while (reader.Read(&record)) outcome.records.emplace_back(record);
  EXPECT_FALSE(reader.Read(&record)) << "the end stays the end";
  EXPECT_TRUE(reader.status().ok());
  EXPECT_EQ(reader.file_bytes(), log.size());
  outcome.end = reader.end();
  outcome.valid_bytes = reader.valid_bytes();
  outcome.dropped_bytes = collector.bytes();
  outcome.dropped = collector.all;
  EXPECT_LE(outcome.dropped_bytes, log.size());
  return outcome;
}

std::string WriteLog(const std::vector<std::string>& records) {
  std::string log;
  StringSink file(&log);
  LogWriter writer(&file);
  for (const std::string& record : records) EXPECT_TRUE(writer.AddRecord(record).ok());
  EXPECT_EQ(writer.offset(), log.size());
  return log;
}

bool IsPrefixOf(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

// Text of so many bytes that no two offsets show alike.
std::string Text(size_t bytes, uint32_t seed) {
  std::mt19937 random(base::TestSeed(seed));
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  return text;
}

TEST(Log, GivesBackWhatWasWritten) {
  const std::vector<std::string> records = {
      "one",           "", Text(1000, 1), Text(4096, 2), Text(4097, 3), Text(kLogBlockBytes, 4),
      Text(300000, 5), "", "last"};
  const Outcome outcome = ReadAll(WriteLog(records));
  EXPECT_EQ(outcome.records, records);
  EXPECT_EQ(outcome.end, LogEnd::kClean);
  EXPECT_THAT(outcome.dropped, IsEmpty());
}

TEST(Log, AnEmptyFileIsAnEmptyLog) {
  const Outcome outcome = ReadAll("");
  EXPECT_EQ(outcome.end, LogEnd::kClean);
  EXPECT_THAT(outcome.records, IsEmpty());
}

TEST(Log, FillsABlockThatHasNoRoomForAHeader) {
  for (size_t left = 0; left <= 16; ++left) {
    const std::string first(kLogBlockBytes - kLogHeaderBytes - left, 'a');
    const std::string log = WriteLog({first, "second"});
    const Outcome outcome = ReadAll(log);
    EXPECT_THAT(outcome.records, ElementsAre(first, "second")) << left;
    EXPECT_EQ(outcome.end, LogEnd::kClean);
    if (left == kLogHeaderBytes) {
      EXPECT_EQ(log[kLogBlockBytes - 1], static_cast<char>(FragmentType::kFirst));
      EXPECT_EQ(log[kLogBlockBytes - 3], 0) << "exactly seven bytes hold an empty first fragment";
    }
  }
}

TEST(Log, GoesOnBehindWhatAFileHolds) {
  for (size_t bytes : {size_t{5}, size_t{1000}, kLogBlockBytes - 10, 2 * kLogBlockBytes}) {
    std::string log = WriteLog({std::string(bytes, 'x')});
    StringSink file(&log);
    LogWriter writer(&file, log.size());
    ASSERT_TRUE(writer.AddRecord("more").ok());
    EXPECT_THAT(ReadAll(log).records, ElementsAre(std::string(bytes, 'x'), "more"));
  }
}

TEST(Log, CutAnywhereItHoldsTheRecordsBeforeTheCut) {
  const std::vector<std::string> records = {"a", "bcd", "", Text(100, 1), Text(40000, 2), "end"};
  const std::string log = WriteLog(records);
  std::vector<size_t> ends = {0};
  for (size_t i = 1; i <= records.size(); ++i) {
    ends.push_back(WriteLog({records.begin(), records.begin() + static_cast<long>(i)}).size());
  }
  for (size_t length = 0; length <= log.size(); length += length < 200 ? 1 : 211) {
    const Outcome outcome = ReadAll(std::string_view(log).substr(0, length));
    size_t whole = 0;
    while (whole < records.size() && ends[whole + 1] <= length) ++whole;
    ASSERT_EQ(outcome.records.size(), whole) << length;
    ASSERT_TRUE(IsPrefixOf(outcome.records, records));
    ASSERT_EQ(outcome.valid_bytes, ends[whole]);
    // A few bytes of a header can be zeros, which nobody misses.
    ASSERT_TRUE(outcome.end == (length == ends[whole] ? LogEnd::kClean : LogEnd::kTorn) ||
                outcome.dropped_bytes == 0)
        << length;
    ASSERT_NE(outcome.end, LogEnd::kDamaged) << length;
  }
}

TEST(Log, AFlippedByteEndsItThereAndSaysWhetherRecordsFollow) {
  const std::vector<std::string> records = {"first", Text(50, 1), Text(300, 2), "", "the last one"};
  const std::string log = WriteLog(records);
  const size_t last = log.size() - kLogHeaderBytes - records.back().size();
  for (size_t at = 0; at < log.size(); ++at) {
    for (const char mask : {'\x01', '\x80', '\xff'}) {
      std::string bad = log;
      bad[at] = static_cast<char>(bad[at] ^ mask);
      const Outcome outcome = ReadAll(bad);
      ASSERT_TRUE(IsPrefixOf(outcome.records, records)) << at;
      ASSERT_LT(outcome.records.size(), records.size()) << at;
      ASSERT_EQ(outcome.end, at < last ? LogEnd::kDamaged : LogEnd::kTorn) << at;
      ASSERT_EQ(outcome.dropped.size(), 1u);
      ASSERT_EQ(outcome.dropped[0].offset, outcome.valid_bytes);
      ASSERT_EQ(outcome.dropped_bytes, log.size() - outcome.valid_bytes);
    }
  }
}

TEST(Log, SalvageLosesOnlyTheRecordThatIsWrong) {
  const std::vector<std::string> records = {"first", Text(50, 1), Text(300, 2), "xyz", "last"};
  const std::string log = WriteLog(records);
  size_t begin = 0;
  for (size_t hurt = 0; hurt < records.size(); ++hurt) {
    for (size_t i = 0; i < records[hurt].size(); ++i) {
      std::string bad = log;
      bad[begin + kLogHeaderBytes + i] ^= 0x10;
      std::vector<std::string> expected = records;
      expected.erase(expected.begin() + static_cast<long>(hurt));
      const Outcome outcome = ReadAll(bad, LogReader::Mode::kSalvage);
      ASSERT_EQ(outcome.records, expected);
      ASSERT_EQ(outcome.end, hurt + 1 == records.size() ? LogEnd::kTorn : LogEnd::kDamaged);
      ASSERT_EQ(outcome.dropped_bytes, kLogHeaderBytes + records[hurt].size());
    }
    begin += kLogHeaderBytes + records[hurt].size();
  }
}

TEST(Log, SalvageKeepsARecordOfWhichTheHeaderAloneIsWrong) {
  const std::vector<std::string> records = {"first", Text(50, 1),    Text(20000, 2), Text(20000, 3),
                                            "xyz",   Text(80000, 4), "last but one", "last"};
  const std::string log = WriteLog(records);
  for (size_t count = 0; count < records.size(); ++count) {
    const size_t header =
        WriteLog({records.begin(), records.begin() + static_cast<long>(count)}).size();
    for (size_t bit = 0; bit < 24; ++bit) {
      for (const size_t zeros : {size_t{0}, size_t{100'000}}) {
        std::string bad = log + std::string(zeros, '\0');
        bad[header + 4 + bit / 8] ^= static_cast<char>(1 << bit % 8);
        ASSERT_EQ(ReadAll(bad, LogReader::Mode::kSalvage).records, records) << count << " " << bit;
        ASSERT_EQ(ReadAll(bad).records.size(), count);
      }
    }
  }
}

TEST(Log, SalvageFindsTheNextRecordWhereAHeaderIsGone) {
  std::vector<std::string> records;
  for (uint32_t i = 0; i < 40; ++i) records.push_back(Text(i % 9 == 8 ? 30000 : 20 + i * 7, i));
  const std::string log = WriteLog(records);
  for (size_t hurt = 0; hurt + 1 < records.size(); ++hurt) {
    const size_t header =
        WriteLog({records.begin(), records.begin() + static_cast<long>(hurt)}).size();
    for (const char wrong : {'\xee', '\x01', '\0'}) {
      std::string bad = log;
      std::fill_n(bad.begin() + static_cast<long>(header), 15, wrong);
      std::vector<std::string> expected = records;
      expected.erase(expected.begin() + static_cast<long>(hurt));
      ASSERT_EQ(ReadAll(bad, LogReader::Mode::kSalvage).records, expected) << hurt;
      ASSERT_EQ(ReadAll(bad + std::string(50'000, '\0'), LogReader::Mode::kSalvage).records,
                expected)
          << hurt;
      // A record that was not written to its end, behind it, hides none.
      const std::string last = records.back();
      if (expected.back() == last) expected.pop_back();
      bad.resize(bad.size() - 3);
      ASSERT_EQ(ReadAll(bad, LogReader::Mode::kSalvage).records, expected) << hurt;
    }
  }
}

TEST(Log, SalvageTakesNoRecordOutOfAValue) {
  const std::string inner = WriteLog({"not a record", "nor this", Text(30, 1)});
  const std::string log = WriteLog({"a", "[" + inner + "]", "b"});
  for (size_t at = 8; at < 8 + 7 + 5; ++at) {
    std::string bad = log;
    std::fill_n(bad.begin() + 8, at - 7, '\xee');
    EXPECT_THAT(ReadAll(bad, LogReader::Mode::kSalvage).records, ElementsAre("a", "b")) << at;
  }
}

TEST(Log, SalvageDropsAWholeRecordOfWhichOneFragmentIsWrong) {
  const std::vector<std::string> records = {"first", Text(100000, 1), "last"};
  const std::string log = WriteLog(records);
  for (size_t at = 100; at + 100 < log.size(); at += 4999) {
    std::string bad = log;
    bad[at] ^= 0x01;
    EXPECT_THAT(ReadAll(bad, LogReader::Mode::kSalvage).records, ElementsAre("first", "last"))
        << at;
    EXPECT_THAT(ReadAll(bad).records, ElementsAre("first"));
    EXPECT_EQ(ReadAll(bad).end, LogEnd::kDamaged);
  }
}

TEST(Log, ZerosBehindTheLastRecordAreRoomThatWasNotUsed) {
  for (const size_t zeros : {size_t{1}, size_t{6}, size_t{7}, size_t{100}, 3 * kLogBlockBytes}) {
    std::string log = WriteLog({"a", "b"});
    const size_t bytes = log.size();
    log.append(zeros, '\0');
    for (const LogReader::Mode mode : {LogReader::Mode::kStop, LogReader::Mode::kSalvage}) {
      const Outcome outcome = ReadAll(log, mode);
      EXPECT_THAT(outcome.records, ElementsAre("a", "b"));
      EXPECT_EQ(outcome.valid_bytes, bytes);
      EXPECT_EQ(outcome.dropped_bytes, 0u);
      if (mode == LogReader::Mode::kStop) {
        EXPECT_EQ(outcome.end, LogEnd::kClean) << zeros;
      }
    }
  }
}

TEST(Log, HalfARecordBeforeZerosIsTorn) {
  std::string log = WriteLog({"a", Text(40000, 1)});
  const std::string end(log.size() - 36000, '\0');
  log.replace(36000, end.size(), end);
  const Outcome outcome = ReadAll(log);
  EXPECT_THAT(outcome.records, ElementsAre("a"));
  EXPECT_EQ(outcome.end, LogEnd::kTorn);
  EXPECT_EQ(outcome.valid_bytes, kLogHeaderBytes + 1);
}

TEST(Log, ZerosBeforeARecordAreAHole) {
  std::string log = WriteLog({"a", Text(40000, 1), "b"});
  std::fill(log.begin() + 8, log.begin() + kLogBlockBytes, '\0');
  EXPECT_THAT(ReadAll(log).records, ElementsAre("a"));
  EXPECT_EQ(ReadAll(log).end, LogEnd::kDamaged);
  EXPECT_THAT(ReadAll(log, LogReader::Mode::kSalvage).records, ElementsAre("a", "b"));
}

TEST(Log, ARecordThatItsWriterGaveUpIsPassedOver) {
  const std::string big = Text(50000, 1);
  std::string log = WriteLog({"a", big}).substr(0, kLogBlockBytes);
  StringSink file(&log);
  LogWriter writer(&file, log.size());
  ASSERT_TRUE(writer.AddRecord("next").ok());
  const Outcome outcome = ReadAll(log);
  EXPECT_THAT(outcome.records, ElementsAre("a", "next"));
  EXPECT_EQ(outcome.end, LogEnd::kClean);
  EXPECT_EQ(outcome.dropped_bytes, kLogBlockBytes - 8);
}

TEST(Log, AFileThatCannotBeReadIsNoTornLog) {
  const std::string log = WriteLog({Text(20000, 1), Text(20000, 2), Text(20000, 3)});
  StringSource file(log, 40000);
  LogReader reader(&file, nullptr, LogReader::Mode::kStop);
  std::string_view record;
  ASSERT_TRUE(reader.Read(&record));
  ASSERT_FALSE(reader.Read(&record));
  EXPECT_EQ(reader.end(), LogEnd::kReadError);
  EXPECT_EQ(reader.status().code(), Code::kIoError);
}

}  // namespace
}  // namespace weft::lsm
