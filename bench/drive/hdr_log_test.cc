#include "bench/drive/hdr_log.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/seed_test_kit.h"

namespace weft::bench {
namespace {

using base::Histogram;

// A reader of the format that shares nothing with the writer but base64.
class LogBytes {
 public:
  explicit LogBytes(std::string bytes) : bytes_(std::move(bytes)) {}

  uint64_t Number(int bytes) {
    uint64_t number = 0;
    for (int i = 0; i < bytes; ++i) number = number << 8 | Byte();
    return number;
  }
  int64_t ZigZag() {
    uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const uint64_t byte = Byte();
      const bool is_last = shift == 56 || byte < 0x80;
      number |= (is_last ? byte : byte & 0x7f) << shift;
      if (is_last) break;
    }
    return static_cast<int64_t>(number >> 1 ^ (0 - (number & 1)));
  }
  size_t left() const { return bytes_.size() - at_; }
  std::string Rest() const { return bytes_.substr(at_); }

 private:
  uint64_t Byte() {
    EXPECT_LT(at_, bytes_.size());
    return static_cast<unsigned char>(bytes_.at(at_++));
  }

  std::string bytes_;
  size_t at_ = 0;
};

using Counts = std::map<uint64_t, uint64_t>;  // by the cell's last value

uint64_t LastValueAt(size_t index) {
  if (index < 2048) return index;
  const size_t bucket = index / 1024 - 1;
  return ((index % 1024 + 1024 + 1) << bucket) - 1;
}

Counts DecodePayload(const std::string& payload) {
  LogBytes reader(payload);
  EXPECT_EQ(reader.Number(4), 0x1c849313u);
  const uint64_t bytes = reader.Number(4);
  EXPECT_EQ(reader.Number(4), 0u);
  EXPECT_EQ(reader.Number(4), 3u);
  EXPECT_EQ(reader.Number(8), 1u);
  EXPECT_EQ(reader.Number(8), Histogram::kValueMax);
  EXPECT_EQ(reader.Number(8), 0x3ff0000000000000u);
  EXPECT_EQ(reader.left(), bytes);
  Counts counts;
  size_t index = 0;
  while (reader.left() > 0) {
    const int64_t number = reader.ZigZag();
    if (number > 0) counts[LastValueAt(index)] = static_cast<uint64_t>(number);
    index += number < 0 ? static_cast<size_t>(-number) : 1;
  }
  EXPECT_LE(index, 32'768u);
  return counts;
}

Counts DecodeHistogram(const std::string& text) {
  std::string bytes(text.size(), '\0');
  bytes.resize(base::Base64Decode(text, bytes.data()));
  LogBytes reader(bytes);
  EXPECT_EQ(reader.Number(4), 0x1c849314u);
  const uint64_t length = reader.Number(4);
  const std::string compressed = reader.Rest();
  EXPECT_EQ(compressed.size(), length);
  std::string payload(1 << 20, '\0');
  uLongf size = payload.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(payload.data()), &size,
                       reinterpret_cast<const Bytef*>(compressed.data()), compressed.size()),
            Z_OK);
  return DecodePayload(payload.substr(0, size));
}

void ExpectSame(const Histogram& h, const Counts& counts) {
  auto at = counts.begin();
  h.ForEach([&](uint64_t value, uint64_t times) {
    ASSERT_NE(at, counts.end()) << value;
    EXPECT_EQ(std::min(at->first, h.max()), value);
    EXPECT_EQ(at->second, times) << value;
    ++at;
  });
  EXPECT_EQ(at, counts.end());
}

struct Interval {
  std::string tag, start, length, max;
  Counts counts;
};

struct Log {
  std::vector<std::string> head;
  std::vector<Interval> intervals;
};

Log ReadLog(const std::string& path) {
  Log log;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with('"')) {
      log.head.push_back(line);
      continue;
    }
    Interval interval;
    std::istringstream fields(line);
    std::string text;
    if (line.starts_with("Tag=")) {
      std::getline(fields, interval.tag, ',');
      interval.tag.erase(0, 4);
    }
    std::getline(fields, interval.start, ',');
    std::getline(fields, interval.length, ',');
    std::getline(fields, interval.max, ',');
    std::getline(fields, text);
    interval.counts = DecodeHistogram(text);
    log.intervals.push_back(std::move(interval));
  }
  return log;
}

class HdrLogTest : public testing::Test {
 protected:
  ~HdrLogTest() override { std::filesystem::remove(path_); }

  HdrLog Open() { return std::move(HdrLog::Open(path_, 1'764'021'600.25).value()); }
  // What one line makes of it.
  Interval Through(const Histogram& h) {
    HdrLog log = Open();
    EXPECT_TRUE(log.Add("", 0, 1, h).ok());
    return ReadLog(path_).intervals.at(0);
  }

  const std::string path_ = testing::TempDir() + "weft-" + std::to_string(getpid()) + ".hlog";
};

TEST_F(HdrLogTest, BeginsAsVersion13Does) {
  { const HdrLog log = Open(); }
  EXPECT_EQ(ReadLog(path_).head,
            (std::vector<std::string>{
                "#[Logged with weft-bench]",
                "#[Histogram log format version 1.3]",
                "#[StartTime: 1764021600.250 (seconds since epoch), 2025-11-24T22:00:00Z]",
                "#[BaseTime: 1764021600.250 (seconds since epoch)]",
                "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
                "\"Interval_Compressed_Histogram\"",
            }));
}

TEST_F(HdrLogTest, EmptyHasNoCounts) {
  const Interval interval = Through(Histogram());
  EXPECT_EQ(interval.max, "0.000");
  EXPECT_EQ(interval.counts, Counts{});
}

TEST_F(HdrLogTest, OneValue) {
  Histogram h;
  h.Record(123'456'789);  // cells of 65,536 there
  const Interval interval = Through(h);
  EXPECT_EQ(interval.max, "123.457");
  EXPECT_EQ(interval.counts, (Counts{{123'469'823, 1}}));
  ExpectSame(h, interval.counts);
}

TEST_F(HdrLogTest, EndsOfTheRange) {
  Histogram h;
  h.Record(0, 5);
  h.Record(UINT64_MAX);
  const Interval interval = Through(h);
  EXPECT_EQ(interval.max, "2199023.256");
  EXPECT_EQ(interval.counts, (Counts{{0, 5}, {Histogram::kValueMax, 1}}));
}

TEST_F(HdrLogTest, MillionsOfCounts) {
  std::mt19937_64 random(base::TestSeed(3));
  std::lognormal_distribution<double> shape(12, 2);
  Histogram h;
  for (int i = 0; i < 3'000'000; ++i) h.Record(static_cast<uint64_t>(shape(random)));
  h.Record(77'000, uint64_t{1} << 62);
  const Interval interval = Through(h);
  EXPECT_GT(interval.counts.size(), 10'000u);
  ExpectSame(h, interval.counts);
}

TEST_F(HdrLogTest, EveryCell) {
  Histogram h;
  for (size_t i = 0; i < 32'768; ++i) h.Record(LastValueAt(i), i + 1);
  ExpectSame(h, Through(h).counts);
}

TEST_F(HdrLogTest, LinesKeepTagsAndTimes) {
  Histogram reads, updates;
  reads.Record(1'000, 3);
  updates.Record(2'000, 4);
  HdrLog log = Open();
  ASSERT_TRUE(log.Add("", 0, 1, reads).ok());
  ASSERT_TRUE(log.Add("read", 0, 1.0004, reads).ok());
  ASSERT_TRUE(log.Add("update", 0.5, 1, updates).ok());
  ASSERT_TRUE(log.Add("read", 12'345.678, 0.25, updates).ok());
  const std::vector<Interval> lines = ReadLog(path_).intervals;  // while it is open
  ASSERT_EQ(lines.size(), 4u);
  const std::array<std::array<std::string, 4>, 4> expected = {{
      {"", "0.000", "1.000", "0.001"},
      {"read", "0.000", "1.000", "0.001"},
      {"update", "0.500", "1.000", "0.002"},
      {"read", "12345.678", "0.250", "0.002"},
  }};
  for (size_t i = 0; i < lines.size(); ++i) {
    const Interval& line = lines[i];
    EXPECT_EQ((std::array{line.tag, line.start, line.length, line.max}), expected[i]);
    EXPECT_EQ(line.counts, i < 2 ? (Counts{{1'000, 3}}) : (Counts{{2'000, 4}}));
  }
}

TEST_F(HdrLogTest, OpenMakesTheFileAnew) {
  ASSERT_TRUE(Open().Add("", 0, 1, Histogram()).ok());
  { const HdrLog log = Open(); }
  EXPECT_TRUE(ReadLog(path_).intervals.empty());
}

TEST_F(HdrLogTest, RefusesWhatTheFormatCannotSay) {
  HdrLog log = Open();
  for (const char* tag : {"a,b", "a b", "a\nb", "a\rb", "\t"}) {
    EXPECT_EQ(log.Add(tag, 0, 1, Histogram()).code(), Code::kInvalidArgument) << tag;
  }
  for (const double time : {-0.001, std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(log.Add("", time, 1, Histogram()).code(), Code::kInvalidArgument) << time;
    EXPECT_EQ(log.Add("", 0, time, Histogram()).code(), Code::kInvalidArgument) << time;
    EXPECT_EQ(HdrLog::Open(path_ + ".none", time).error().code(), Code::kInvalidArgument) << time;
  }
  EXPECT_EQ(log.Add("a,b", 0, 1, Histogram()).message(),
            path_ + ": tag 'a,b' has a comma or blank");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".none"));
  EXPECT_TRUE(ReadLog(path_).intervals.empty());
}

TEST(HdrLog, SaysWhyItCannotBeWritten) {
  const auto missing = HdrLog::Open("/no/such/folder/x.hlog", 0);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().ToString(),
            "i/o error: open /no/such/folder/x.hlog: No such file or directory");
  const auto full = HdrLog::Open("/dev/full", 0);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().ToString(), "i/o error: write /dev/full: No space left on device");
}

}  // namespace
}  // namespace weft::bench
