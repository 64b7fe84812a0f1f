// What the replay of logs takes, passes over and refuses, log by log as a crash may leave them.
//
// Threads   one.
#include "lsm/log_replay.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/memory_file_system.h"
#include "base/seed_test_kit.h"
#include "lsm/file_names.h"
#include "lsm/log_writer.h"
#include "lsm/string_file_test_kit.h"
#include "lsm/write_batch_internal.h"

namespace weft::lsm {
namespace {

constexpr uint64_t kA = 4;
constexpr uint64_t kB = 7;

class LogReplayTest : public testing::Test {
 protected:
  LogReplayTest() {
    EXPECT_TRUE(files_.CreateDir("/db").ok());
    SetLog(kA, "");
  }

  void SetLog(uint64_t number, std::string_view contents) {
    EXPECT_TRUE(files_.SetContents(LogFileName("/db", number), contents).ok());
  }

  // One record for each sequence number. No value has a zero in it.
  static std::string Log(table::SequenceNumber first, table::SequenceNumber last,
                         size_t value_bytes = 10) {
    std::string log;
    StringSink file(&log);
    LogWriter writer(&file);
    for (table::SequenceNumber at = first; at <= last; at++) {
      WriteBatch batch;
      batch.Put("key" + std::to_string(at), std::string(value_bytes, 'v'));
      WriteBatchInternal::SetSequence(&batch, at);
      EXPECT_TRUE(writer.AddRecord(batch.contents()).ok());
    }
    return log;
  }

  // Log(1, 5), and a record of several blocks whose values are logs.
  static std::string LogOfLogs() {
    WriteBatch batch;
    batch.Put("first", "1");
    batch.Delete("second");
    batch.Put("a log", Log(3, 30));
    batch.Put("another", Log(2, 4000));
    WriteBatchInternal::SetSequence(&batch, 6);
    const std::string before = Log(1, 5);
    std::string record;
    StringSink file(&record);
    EXPECT_TRUE(LogWriter(&file, before.size()).AddRecord(batch.contents()).ok());
    return before + record;
  }

  // The numbers that were taken, as "1-5", then "; " and what was passed over, or the error.
  std::string Replay(bool paranoid, table::SequenceNumber recorded) {
    std::vector<uint64_t> logs = {kA};
    if (files_.FileExists(LogFileName("/db", kB))) logs.push_back(kB);
    LogReplay replay(&files_, "/db", paranoid ? LogDamage::kRefuse : LogDamage::kPassOver,
                     recorded);
    replay.SetMark(mark_);
    table::SequenceNumber first = 0;
    const Status status = replay.Run(logs, [&](std::string_view contents) {
      if (first == 0) first = WriteBatchInternal::SequenceOf(contents);
      return Status();
    });
    if (!status.ok()) return "error";
    std::string text = std::to_string(first) + "-" + std::to_string(replay.last_sequence());
    for (const LogReplay::Damage& damage : replay.damages()) {
      text += "; " + damage.file.substr(damage.file.rfind('/') + 1);
    }
    return text;
  }

  base::MemoryFileSystem files_;
  std::optional<CloseMark> mark_;
};

TEST_F(LogReplayTest, ALaterLogGoesOnWhereTheOneBeforeEnded) {
  SetLog(kA, Log(1, 5));
  SetLog(kB, Log(6, 9));
  EXPECT_EQ(Replay(true, 0), "1-9");
}

TEST_F(LogReplayTest, ALogThatLostItsTailJustBehindARecordEndsTheReplay) {
  SetLog(kA, Log(1, 5));
  SetLog(kB, Log(9, 12));
  EXPECT_EQ(Replay(false, 0), "1-5; 000007.log");
}

TEST_F(LogReplayTest, ALogThatIsLostWholeEndsTheReplay) {
  SetLog(kB, Log(9, 12));
  EXPECT_EQ(Replay(false, 5), "0-0; 000007.log");
  EXPECT_EQ(Replay(false, 8), "9-12") << "all before is in tables";
}

TEST_F(LogReplayTest, TheFirstLogMayBeginBehindNumbersThatNobodyGot) {
  SetLog(kA, Log(9, 12));
  EXPECT_EQ(Replay(true, 5), "9-12");
}

TEST_F(LogReplayTest, BehindZerosItGoesOnWhereNothingIsMissing) {
  const std::string room(4 * kLogBlockBytes - Log(1, 5).size(), '\0');
  SetLog(kA, Log(1, 5) + room + Log(6, 9));
  EXPECT_EQ(Replay(true, 0), "1-9");
  SetLog(kB, Log(10, 12));
  EXPECT_EQ(Replay(true, 0), "1-12");
  SetLog(kB, Log(11, 12));
  EXPECT_EQ(Replay(true, 0).substr(0, 4), "1-9;");
  EXPECT_TRUE(files_.RemoveFile(LogFileName("/db", kB)).ok());
  // Twice, and torn at last.
  const std::string more = Log(6, 9) + std::string(kLogBlockBytes - Log(6, 9).size(), '\0');
  SetLog(kA, Log(1, 5) + room + more + Log(10, 11) + "torn");
  EXPECT_EQ(Replay(true, 0), "1-11");
  // With one missing.
  SetLog(kA, Log(1, 5) + room + Log(7, 9));
  EXPECT_EQ(Replay(true, 0).substr(0, 4), "1-5;");
  SetLog(kA, Log(1, 5) + room + more + Log(11, 12));
  EXPECT_EQ(Replay(true, 0).substr(0, 4), "1-9;");
  // Of a log that begins with zeros nobody knows what was there.
  SetLog(kA, std::string(kLogBlockBytes, '\0') + Log(1, 5));
  EXPECT_EQ(Replay(true, 0).substr(0, 4), "0-0;");
}

TEST_F(LogReplayTest, NumbersThatNoWriteCanHaveAreDamage) {
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Put("b", "2");
  for (const table::SequenceNumber first :
       {table::kSequenceMax - 1, table::kSequenceMax, ~uint64_t{0}, ~uint64_t{0} - 1}) {
    WriteBatchInternal::SetSequence(&batch, first);
    std::string log;
    StringSink file(&log);
    ASSERT_TRUE(LogWriter(&file).AddRecord(batch.contents()).ok());
    SetLog(kA, log);
    EXPECT_EQ(Replay(false, 0), "0-0; 000004.log") << first;
    EXPECT_EQ(Replay(true, 0), "error") << first;
  }
}

TEST_F(LogReplayTest, WhatAPowerCutMayLeaveIsNoErrorToParanoidReaders) {
  SetLog(kA, Log(1, 5));
  SetLog(kB, Log(9, 12));
  EXPECT_EQ(Replay(true, 0), "1-5; 000007.log");
  const std::string log = Log(1, 40, 100);
  SetLog(kB, Log(41, 45));
  for (size_t length = 0; length < log.size(); length++) {
    SetLog(kA, log.substr(0, length));
    EXPECT_NE(Replay(true, 0), "error") << length;
  }
  std::mt19937_64 random(base::TestSeed(1));
  for (int round = 0; round < 2000; round++) {  // sectors lost from any last sync on
    std::string left = log;
    for (size_t at = random() % log.size(); at < log.size(); at = (at / 512 + 1) * 512) {
      const size_t end = std::min(log.size(), (at / 512 + 1) * 512);
      // Of a record that a sync met half written less may be left; that is taken for damage.
      if (end - at < 8) continue;
      if (random() % 4 == 0) std::fill(left.begin() + at, left.begin() + end, '\0');
    }
    SetLog(kA, left);
    EXPECT_NE(Replay(true, 0), "error") << round;
  }
}

TEST_F(LogReplayTest, WhatNoPowerCutLeavesIsAnErrorToParanoidReaders) {
  const std::string log = Log(1, 5, 1000);
  int errors = 0;
  for (size_t at = 0; at < Log(1, 4, 1000).size(); at++) {
    std::string damaged = log;
    damaged[at] ^= 0x10;
    SetLog(kA, damaged);
    EXPECT_NE(Replay(false, 0), "error") << at;
    errors += Replay(true, 0) == "error";
  }
  // But where the length that is wrong leads to, or what ends in zeros as it is.
  EXPECT_GE(errors, 4000);
  SetLog(kA, Log(5, 8) + Log(2, 4));
  EXPECT_EQ(Replay(false, 0), "5-8; 000004.log") << "numbers that go back";
  EXPECT_EQ(Replay(true, 0), "error");
}

// A crash may leave the end of a log like that, but not before a later log was begun.
TEST_F(LogReplayTest, DamageAtTheEndOfALogThatAnotherFollowsIsNoTornEnd) {
  const std::string whole = Log(1, 5);
  const size_t last = Log(1, 4).size();
  for (size_t at = last; at < whole.size(); at++) {
    std::string damaged = whole;
    damaged[at] ^= 0x11;
    SetLog(kA, damaged);
    SetLog(kB, Log(6, 9));
    EXPECT_EQ(Replay(true, 0), "error") << at;
    EXPECT_EQ(Replay(false, 0), "1-4; 000004.log; 000007.log") << at;
    ASSERT_TRUE(files_.RemoveFile(LogFileName("/db", kB)).ok());
    EXPECT_EQ(Replay(true, 0), "1-4") << at;
  }
}

TEST_F(LogReplayTest, DamageAtTheBeginningOfALongRecordIsNoTornEnd) {
  std::string log = Log(1, 2, 3 * kLogBlockBytes);
  const size_t last = Log(1, 1, 3 * kLogBlockBytes).size();
  for (const size_t at : {last, last + 6, last + 100, last + kLogBlockBytes}) {
    std::string damaged = log;
    damaged[at] ^= 0x40;
    SetLog(kA, damaged);
    EXPECT_EQ(Replay(true, 0), "error") << at;
  }
}

// As a killed process leaves it: room that was made ahead stands behind it.
TEST_F(LogReplayTest, AHeaderThatIsWrongIsDamageWhereverItLeads) {
  const std::string room(300'000, '\0');
  for (const size_t bytes : {10, 300, 1000, 40'000}) {
    const std::string log = Log(1, 9, bytes);
    for (table::SequenceNumber last = 0; last < 9; last++) {
      size_t header = last == 0 ? 0 : Log(1, last, bytes).size();
      if (kLogBlockBytes - header % kLogBlockBytes < kLogHeaderBytes) continue;
      for (const size_t byte : {header + 4, header + 5, header + 6}) {
        for (uint32_t wrong = 1; wrong < 256; wrong += base::Stride(256)) {
          std::string damaged = log;
          damaged[byte] = static_cast<char>(damaged[byte] ^ wrong);
          SetLog(kA, damaged + room);
          if (last < 8) {
            ASSERT_EQ(Replay(true, 0), "error") << bytes << " " << byte << " " << wrong;
          } else if (wrong % 16 == 1) {
            SetLog(kB, Log(10, 12));
            ASSERT_EQ(Replay(true, 0), "error") << bytes << " " << byte << " " << wrong;
            ASSERT_TRUE(files_.RemoveFile(LogFileName("/db", kB)).ok());
          }
        }
      }
    }
  }
}

// Sectors may end in zeros that were written.
TEST_F(LogReplayTest, ZerosInABatchExplainNoHeaderThatIsWrong) {
  std::string log;
  StringSink file(&log);
  LogWriter writer(&file);
  std::vector<size_t> headers;
  for (table::SequenceNumber at = 1; at <= 60; at++) {
    WriteBatch batch;
    batch.Put("key", std::string(at % 8 == 0 ? 2000 : at * 37 % 600, '\0'));
    batch.Put("behind", "value");
    for (const WriteBatch& each : {WriteBatch(), batch}) {
      WriteBatch numbered = each;
      WriteBatchInternal::SetSequence(&numbered, 2 * at);
      headers.push_back(log.size());
      ASSERT_TRUE(writer.AddRecord(numbered.contents()).ok());
    }
  }
  headers.pop_back();
  for (const size_t header : headers) {
    if (kLogBlockBytes - header % kLogBlockBytes < kLogHeaderBytes) continue;
    for (int bit = 0; bit < 24; bit++) {
      std::string damaged = log;
      damaged[header + 4 + bit / 8] ^= static_cast<char>(1 << bit % 8);
      SetLog(kA, damaged + std::string(100'000, '\0'));
      ASSERT_EQ(Replay(true, 0), "error") << header << " " << bit;
    }
  }
}

// Whatever was written, and whichever sectors were not.
TEST_F(LogReplayTest, SectorsThatAPowerCutTookAreNoDamage) {
  std::mt19937_64 random(base::TestSeed(7));
  for (int round = 0; round < 1500; round++) {
    std::string log;
    StringSink file(&log);
    LogWriter writer(&file);
    const size_t most = round % 3 == 0 ? 30'000 : 700;
    for (table::SequenceNumber at = 1; log.size() < 40'000; at += 3) {
      WriteBatch batch;
      batch.Put("a", std::string(random() % most, random() % 2 == 0 ? '\0' : 'v'));
      batch.Delete(std::string(random() % 9, '\0'));
      batch.Put("c", random() % 8 == 0 ? Log(at + 3, at + 9) : std::string(random() % 9, '\0'));
      WriteBatchInternal::SetSequence(&batch, at);
      ASSERT_TRUE(writer.AddRecord(batch.contents()).ok());
    }
    log.resize(log.size() + random() % 3 * 40'000);
    for (size_t at = random() % 40'000; at < log.size(); at = (at / 512 + 1) * 512) {
      const size_t end = std::min(log.size(), (at / 512 + 1) * 512);
      // Of a record that a sync met half written less may be left; that is taken for damage.
      if (end - at < 8) continue;
      if (random() % 4 == 0) std::fill(log.begin() + at, log.begin() + end, '\0');
    }
    SetLog(kA, log);
    ASSERT_NE(Replay(true, 0), "error") << round;
  }
}

// What looks like records in it is a value's.
TEST_F(LogReplayTest, AValueThatIsALogMayBeCutAnywhere) {
  const std::string log = LogOfLogs();
  const size_t step = base::Rounds(1000);
  for (size_t bytes = Log(1, 5).size(); bytes < log.size(); bytes += 1 + bytes / step) {
    SetLog(kA, log.substr(0, bytes));
    ASSERT_EQ(Replay(true, 0), "1-5") << bytes;
    SetLog(kA, log.substr(0, bytes) + std::string(100'000, '\0'));  // in room made ahead
    ASSERT_EQ(Replay(true, 0), "1-5") << bytes;
  }
  // But what was whole once is none of a value.
  for (size_t at = Log(1, 3).size(); at < Log(1, 4).size(); at++) {
    std::string damaged = log;
    damaged[at] ^= 0x11;
    SetLog(kA, damaged);
    ASSERT_EQ(Replay(true, 0), "error") << at;
  }
}

// A writer gave a record up, and the one behind it was cut.
TEST_F(LogReplayTest, AValueThatIsALogMayBeCutBehindARecordWithoutAnEnd) {
  const std::string given_up = LogOfLogs().substr(0, kLogBlockBytes);
  WriteBatch batch;
  batch.Put("a log", Log(2, 2000));
  WriteBatchInternal::SetSequence(&batch, 6);
  std::string record;
  StringSink file(&record);
  ASSERT_TRUE(LogWriter(&file, given_up.size()).AddRecord(batch.contents()).ok());
  for (size_t bytes = 0; bytes < record.size(); bytes += 1 + bytes / base::Rounds(500)) {
    for (const size_t zeros : {0, 100'000}) {
      SetLog(kA, given_up + record.substr(0, bytes) + std::string(zeros, '\0'));
      ASSERT_EQ(Replay(true, 0), "1-5") << bytes << " " << zeros;
    }
  }
}

// The first bytes of what was written last become visible last.
TEST_F(LogReplayTest, AValueThatIsALogMayBeCutWhereItsHeadIsHidden) {
  const std::string log = LogOfLogs();
  const size_t whole = Log(1, 5).size(), step = base::Rounds(1000);
  for (size_t bytes = whole + 8; bytes < log.size(); bytes += 1 + bytes / step) {
    std::string cut = log.substr(0, bytes);
    const size_t run = std::max(whole, (bytes - 1) / kLogBlockBytes * kLogBlockBytes);
    std::fill_n(cut.begin() + run, std::min<size_t>(8, bytes - run), '\0');
    SetLog(kA, cut + std::string(100'000, '\0'));
    ASSERT_EQ(Replay(true, 0), "1-5") << bytes;
  }
  // Nothing was written behind it.
  for (table::SequenceNumber last = 0; last < 5; last++) {
    std::string damaged = log;
    std::fill_n(damaged.begin() + (last == 0 ? 0 : Log(1, last).size()), 8, '\0');
    SetLog(kA, damaged);
    EXPECT_EQ(Replay(true, 0), "error") << last;
  }
  for (size_t block = 0; block + 1 < log.size() / kLogBlockBytes; block++) {
    std::string damaged = log;
    std::fill_n(damaged.begin() + (block == 0 ? whole : block * kLogBlockBytes), 8, '\0');
    SetLog(kA, damaged);
    EXPECT_EQ(Replay(true, 0), "error") << block;
  }
}

// A sync of other writes met the log before the head was visible, and the power went.
TEST_F(LogReplayTest, ARunOfWhichTheHeadWasHiddenIsNoDamage) {
  constexpr size_t kPage = 4096;
  const std::string log = Log(1, 60, 700);
  for (table::SequenceNumber last = 0; last < 60; last++) {
    const size_t head = last == 0 ? 0 : Log(1, last, 700).size();
    if (kLogBlockBytes - head % kLogBlockBytes < kLogHeaderBytes + 1) continue;
    const std::string taken = (last == 0 ? "0-" : "1-") + std::to_string(last);
    for (const size_t copied : {9, 40, 300, 700}) {
      std::string left = log;
      std::fill_n(left.begin() + head, 8, '\0');
      for (size_t at = head + copied; copied < 700 && at % kPage != 0 && at < left.size(); at++) {
        left[at] = '\0';
      }
      left.resize(4 * kLogBlockBytes);
      SetLog(kA, left);
      EXPECT_EQ(Replay(true, 0).substr(0, taken.size()), taken) << last << " " << copied;
      SetLog(kB, Log(61, 65));
      EXPECT_EQ(Replay(true, 0).substr(0, taken.size()), taken) << last << " " << copied;
      ASSERT_TRUE(files_.RemoveFile(LogFileName("/db", kB)).ok());
    }
  }
}

TEST_F(LogReplayTest, AClosedStoreThatIsNotAsItWasIsAnErrorToAll) {
  const std::string a = Log(1, 5);
  const std::string b = Log(6, 9);
  SetLog(kB, b);
  mark_ = CloseMark{kB, b.size(), HeadOfLog(&files_, "/db", kB)};
  for (const bool paranoid : {false, true}) {
    SetLog(kA, a);
    EXPECT_EQ(Replay(paranoid, 0), "1-9");
    SetLog(kA, a.substr(0, a.size() - 3));
    EXPECT_EQ(Replay(paranoid, 0), "error");
    SetLog(kA, Log(1, 3));
    EXPECT_EQ(Replay(paranoid, 0), "error");
    SetLog(kA, "");
    EXPECT_EQ(Replay(paranoid, 0), "error");
    SetLog(kA, a);
    ASSERT_TRUE(files_.RemoveFile(LogFileName("/db", kB)).ok());
    EXPECT_EQ(Replay(paranoid, 0), "error") << "the last one is gone";
    SetLog(kB, b);
  }
}

}  // namespace
}  // namespace weft::lsm
