#include "sim/trace/text_trace.h"

#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_test_kit.h"
#include "base/seed_test_kit.h"
#include "sim/base/text_test_kit.h"
#include "sim/generator/ramcloud_source.h"
#include "sim/trace/file_trace.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

class TextTraceTest : public testing::Test {
 protected:
  std::string FileOf(const std::string& text) const {
    std::ofstream(folder_ / "trace") << text;
    return folder_ / "trace";
  }
  static std::vector<Record> Records(TraceSource& source) {
    std::vector<Record> records;
    for (Record record; source.Next(0, &record).value();) records.push_back(record);
    return records;
  }
  // Without operations.
  std::vector<Record> Accesses(const std::string& text, TextFormat format,
                               const TextOptions& options = {}) const {
    const auto source = ReadTextTrace(FileOf(text), format, options);
    EXPECT_TRUE(source) << source.error().ToString();
    std::vector<Record> records = Records(*source.value());
    std::erase_if(records, [](const Record& record) { return !record.IsAccess(); });
    return records;
  }
  std::string ErrorOf(const std::string& text, TextFormat format) const {
    const auto source = ReadTextTrace(FileOf(text), format, {.memory_bytes = 1 << 20});
    EXPECT_FALSE(source) << text;
    if (source) return "";
    EXPECT_EQ(source.error().code(), Code::kInvalidArgument);
    return source.error().ToString();
  }

  const base::TestFolder folder_;
};

Record Access(uint64_t addr, uint32_t gap, uint16_t size = 64, bool is_write = false) {
  return {.addr = addr,
          .gap = gap,
          .size = size,
          .kind = is_write ? RecordKind::kWrite : RecordKind::kRead};
}

TEST_F(TextTraceTest, ReadsDramsim3) {
  // Two of a clock are two instructions; the third comes 10 clocks after the first.
  EXPECT_EQ(Accesses("0x1f44 READ 100\n0x40 WRITE 100\n0x80 READ 110\n", TextFormat::kDramsim3),
            (std::vector<Record>{Access(0x1f40, 0), Access(0x40, 0, 64, true),
                                 Access(0x80, 10 * 24 - 2)}));
}

TEST_F(TextTraceTest, ReadsRamulator2) {
  EXPECT_EQ(Accesses("12 8000 8069\n3 64\n", TextFormat::kRamulator2O3),
            (std::vector<Record>{Access(8000, 12), Access(8064, 0, 64, true), Access(64, 3)}));
  EXPECT_EQ(Accesses("LD 0x1f40\nST 70\n", TextFormat::kRamulator2LoadStore),
            (std::vector<Record>{Access(0x1f40, 0), Access(64, 0, 64, true)}));
}

TEST_F(TextTraceTest, ReadsThePapersTable) {
  const std::string lines =
      "15767034, 0x45a4f0, R, 0x7fa0, 64\n15767695, 45a5a1, R, 0x7fa0, 8\n"
      "15767715,0x45a5a1,W,0x7fa8,8\r\n";
  const std::vector<Record> expected = {Access(0x7fa0, 0), Access(0x7fa0, 660, 8),
                                        Access(0x7fa8, 19, 8, true)};
  EXPECT_EQ(Accesses(lines, TextFormat::kCsv), expected);
  EXPECT_EQ(
      Accesses("Inst. Count,Inst. Addr,Type,Mem. Addr,Req. Size\n\n" + lines, TextFormat::kCsv),
      expected);
}

TEST_F(TextTraceTest, MakesOperationsOfAccesses) {
  const auto source = ReadTextTrace(FileOf("LD 0\nLD 64\nST 128\n"),
                                    TextFormat::kRamulator2LoadStore, {.op_accesses = 2});
  ASSERT_TRUE(source);
  const Record begin{.kind = RecordKind::kOpBegin};
  const Record end{.kind = RecordKind::kOpEnd};
  EXPECT_EQ(Records(*source.value()), (std::vector<Record>{begin, Access(0, 0), Access(64, 0), end,
                                                           begin, Access(128, 0, 64, true), end}));
}

TEST_F(TextTraceTest, NamesTheLineThatIsWrong) {
  const std::tuple<TextFormat, const char*, const char*> cases[] = {
      {TextFormat::kDramsim3, "0x0 READ 5\n0x40 READ 4\n", "trace:2: clock 4 is before"},
      {TextFormat::kDramsim3, "0x0 READ 5\n\n0x100000 READ 6\n", "trace:3: address 0x100000"},
      {TextFormat::kDramsim3, "0x0 LOAD 5\n", "trace:1: 'LOAD'"},
      {TextFormat::kDramsim3, "0x0 READ 1\n0x0 READ 1000000000\n", "trace:2: 239999"},
      {TextFormat::kDramsim3, "\n0x0 READ 9000000000000000000\n", "trace:2: clock 9"},
      {TextFormat::kRamulator2O3, "1 64\n2\n", "trace:2: a line must be"},
      {TextFormat::kRamulator2O3, "1 64 128 192\n", "trace:1: a line must be"},
      {TextFormat::kRamulator2O3, "x 64\n", "trace:1: 'x' is not a number"},
      {TextFormat::kRamulator2O3, "1 0x40\n", "trace:1: '0x40' is not a decimal"},
      {TextFormat::kRamulator2O3, "1 64 1048576\n", "trace:1: 64 bytes at 0x100000 are beyond"},
      {TextFormat::kRamulator2O3, "5000000000 64\n", "trace:1: 5000000000 instructions"},
      {TextFormat::kRamulator2LoadStore, "LD\n", "trace:1: a line must be"},
      {TextFormat::kRamulator2LoadStore, "LD 0 1\n", "trace:1: a line must be"},
      {TextFormat::kRamulator2LoadStore, "LD 0\nRD 0\n", "trace:2: 'RD' is neither"},
      {TextFormat::kRamulator2LoadStore, "LD 0xg\n", "trace:1: '0xg' is not an address"},
      {TextFormat::kCsv, "1,0,R,0\n", "trace:1: a line must be"},
      {TextFormat::kCsv, "1,0,R,0,8,9\n", "trace:1: a line must be"},
      {TextFormat::kCsv, "1,0,R,0 1,8\n", "trace:1: field 4 has more"},
      {TextFormat::kCsv, "x,0,R,0,8\n", "trace:1: 'x' is not a number"},
      {TextFormat::kCsv, "1,x,R,0,8\n", "trace:1: 'x' is not a hex"},
      {TextFormat::kCsv, "1,0,R,,8\n", "trace:1: '' is not a hex"},
      {TextFormat::kCsv, "1,0,L,0,8\n", "trace:1: 'L' is neither"},
      {TextFormat::kCsv, "1,0,R,0,-8\n", "trace:1: '-8' is not a size"},
      {TextFormat::kCsv, "1,0,R,0,0\n", "trace:1: an access of 0 bytes"},
      {TextFormat::kCsv, "1,0,R,0,65536\n", "trace:1: an access of 65536 bytes"},
      {TextFormat::kCsv, "2,0,R,0,8\n1,0,R,0,8\n", "trace:2: instruction 1 is before"},
      {TextFormat::kCsv, "2,0,R,fffffffffffffff9,8\n", "trace:1: 8 bytes at"},
      {TextFormat::kCsv, "2,0,R,0,8\nInst. Count,,,,\n", "trace:2: "},
  };
  for (const auto& [format, text, what] : cases) {
    EXPECT_THAT(ErrorOf(text, format), HasSubstr(what)) << text;
  }
  for (const TextFormat format : {TextFormat::kDramsim3, TextFormat::kRamulator2O3,
                                  TextFormat::kRamulator2LoadStore, TextFormat::kCsv}) {
    EXPECT_THAT(ErrorOf("\n" + std::string(5000, ' ') + "\n", format),
                HasSubstr("trace:2: a line has more than 4096 bytes"));
    EXPECT_EQ(Accesses("\n" + std::string(4096, ' ') + "\n", format), std::vector<Record>());
  }
  // A word is no more than its beginning, and nothing that a terminal would act on.
  EXPECT_THAT(
      ErrorOf("LD 0\n\x1b[2J" + std::string(4000, 'x') + " 0", TextFormat::kRamulator2LoadStore),
      HasSubstr("trace:2: '?[2J" + std::string(36, 'x') + "...' is neither LD nor ST"));
  const auto none = ReadTextTrace(folder_ / "none", TextFormat::kCsv, {});
  EXPECT_EQ(none.error().code(), Code::kIoError);
  const auto folder = ReadTextTrace(folder_.path(), TextFormat::kCsv, {});
  EXPECT_THAT(folder.error().ToString(), HasSubstr("Is a directory"));
  EXPECT_FALSE(Validate(TextOptions{.instructions_per_clock = 0}).ok());
  EXPECT_FALSE(Validate(TextOptions{.op_accesses = 0}).ok());
  EXPECT_TRUE(Validate(TextOptions{}).ok());
  EXPECT_FALSE(ParseTextFormat("ramulator"));
}

RamcloudOptions SmallOptions() {
  RamcloudOptions options;
  options.store.seed = base::TestSeed();
  options.store.cores = 2;
  options.store.mix = Mix::Find("12").value();
  options.store.utilization = ParseUtilization("poisson:6").value();
  options.store.buckets = 256;
  options.ops = 500;
  return options;
}

// An access of each line, without gaps.
std::vector<Record> LinesOf(const std::vector<Record>& records) {
  std::vector<Record> lines;
  for (const Record& record : records) {
    if (!record.IsAccess()) continue;
    for (uint64_t line = record.addr / 64; line <= (record.addr + record.size - 1) / 64; ++line) {
      lines.push_back(Access(line * 64, 0, 64, record.kind == RecordKind::kWrite));
    }
  }
  return lines;
}
uint64_t InstructionsOf(const std::vector<Record>& records) {
  uint64_t instructions = 0;
  for (const Record& record : records) instructions += record.gap + record.IsAccess();
  return instructions;
}

// What each format keeps of a generated trace comes back.
TEST_F(TextTraceTest, ReadsWhatWasWritten) {
  const auto source = RamcloudSource::Make(SmallOptions());
  const std::vector<Record> records = Records(*source.value());
  const std::vector<Record> expected = LinesOf(records);
  for (const char* name : {"dramsim3", "ramulator2-ls", "ramulator2-o3", "csv"}) {
    const TextFormat format = ParseTextFormat(name).value();
    const auto again = RamcloudSource::Make(SmallOptions());
    const Status status = WriteTextTrace(*again.value(), 0, folder_ / "out", format, {});
    ASSERT_TRUE(status.ok()) << status.ToString();
    const std::vector<Record> read = Accesses(TextOf(folder_ / "out"), format);
    size_t next = 0;
    for (const Record& line : LinesOf(read)) {
      ASSERT_LT(next, expected.size()) << name;
      // A write that has no read of its own got one.
      if (format == TextFormat::kRamulator2O3 && expected[next] != line) {
        ASSERT_EQ(expected[next].kind, RecordKind::kWrite) << next;
        ASSERT_EQ(expected[next].addr, line.addr) << next;
        continue;
      }
      ASSERT_EQ(expected[next], line) << name << " " << next;
      ++next;
    }
    EXPECT_EQ(next, expected.size()) << name;
    // But for those before the first access and after the last one.
    if (format == TextFormat::kDramsim3 || format == TextFormat::kCsv) {
      EXPECT_NEAR(static_cast<double>(InstructionsOf(read)),
                  static_cast<double>(InstructionsOf(records)), 1000)
          << name;
    }
  }
}

TEST_F(TextTraceTest, AFolderKeepsAGeneratedTrace) {
  const auto source = RamcloudSource::Make(SmallOptions());
  ASSERT_TRUE(WriteTrace(*source.value(), folder_.path(), UINT64_MAX).ok());
  const auto read = FileTrace::Open(folder_.path(), uint64_t{16} << 30);
  ASSERT_TRUE(read) << read.error().ToString();
  const auto again = RamcloudSource::Make(SmallOptions());
  EXPECT_EQ(read.value()->shape(), again.value()->shape());
  EXPECT_EQ(read.value()->InitialTable(), again.value()->InitialTable());
  for (int core = 0; core < 2; ++core) {
    Record record;
    Record expected;
    while (again.value()->Next(core, &expected).value()) {
      ASSERT_TRUE(read.value()->Next(core, &record).value());
      ASSERT_EQ(record, expected);
    }
    EXPECT_FALSE(read.value()->Next(core, &record).value());
  }
}

}  // namespace
}  // namespace weft::sim
