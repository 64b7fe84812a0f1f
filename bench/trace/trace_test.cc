// What all formats have in common: which one it is, names, times, sizes, limits.
#include "bench/trace/trace.h"

#include <string>

#include <gmock/gmock.h>

#include "bench/trace/trace_builder.h"
#include "bench/trace/trace_test_kit.h"

namespace weft::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ReadTraceTest : public TraceTest {
 protected:
  // A trace whose k-th request has time times[k].
  static std::string WithTimes(std::initializer_list<uint64_t> times) {
    std::string text = "time,key\n";
    for (const uint64_t time_s : times) text += std::to_string(time_s) + ",a\n";
    return text;
  }
};

// Bytes of each format, and how many requests they have.
struct Example {
  std::string format, bytes, file;
  size_t requests;
};
std::vector<Example> Examples() {
  return {{"be32", std::string("\0\0\0\1\0\0\0\2", 8), "a.trace", 2},
          {"numbers", "1\n2\n\n3\n\n", "a.trace", 3},
          {"numbers", "\n\r\n 1", "a", 1},
          {"cloudphysics", "version,time,op,size,lbn\n1,2,2a,512,9\n", "a.csv", 1},
          {"oracle-general", OracleRecord(1, 2, 3, -1), "w.oracleGeneral.bin", 1},
          {"csv", "obj_size;obj_id\n10;1\n", "a.csv", 1},
          {"twitter", "1,k,k,9,9,1,get,0\n", "cluster052", 1}};
}

TEST_F(ReadTraceTest, ItTellsTheFormat) {
  for (const Example& example : Examples()) {
    SCOPED_TRACE(example.format + ": " + example.bytes);
    const Trace told = Read(example.bytes, {}, example.file);
    const Trace said = Read(example.bytes, {.format = example.format}, example.file);
    EXPECT_EQ(told.requests.size(), example.requests);
    EXPECT_EQ(Records(told), Records(said));
    EXPECT_EQ(Sizes(told), Sizes(said));
  }
}

TEST_F(ReadTraceTest, ItTellsTheFormatOfWhatIsCompressed) {
  for (const Compression kind : KnownCompressions()) {
    for (const Example& example : Examples()) {
      SCOPED_TRACE(example.format);
      const Trace trace = Read(Compressed(kind, example.bytes), {}, example.file);
      EXPECT_EQ(trace.requests.size(), example.requests);
    }
    EXPECT_THAT(Wrong(Compressed(kind, std::string("\0\0\0\0\0", 5))),
                StartsWith("invalid argument: its format cannot be recognized"));
  }
}

TEST_F(ReadTraceTest, AFormatThatCannotBeToldIsTheCallersToName) {
  const std::string wrong =
      "invalid argument: its format cannot be recognized by its start; name one of be32, "
      "numbers, cloudphysics, oracle-general, csv, twitter";
  EXPECT_EQ(Wrong(std::string("\0\0\0\1\0", 5)), wrong);
  EXPECT_EQ(Wrong("some text of 24 letters."), wrong);
  EXPECT_EQ(Wrong("1,k,9,9,1,look,0\n"), wrong);
  EXPECT_EQ(Wrong("12 34\n"), wrong);
  EXPECT_EQ(Wrong("\n\n"), wrong);
  EXPECT_EQ(Wrong("1\n", {.format = "cvs"}),
            "invalid argument: 'cvs' is not a trace format; the formats are be32, numbers, "
            "cloudphysics, oracle-general, csv, twitter");
  EXPECT_EQ(Wrong("1\n", {.format = "numbers", .columns = "key=1"}),
            "invalid argument: the format numbers has fixed columns; only csv has a choice");
}

TEST_F(ReadTraceTest, OnlyTheNameOfTheFileSaysOracleGeneral) {
  std::filesystem::create_directory(folder_ / "oracleGeneral");
  EXPECT_EQ(Read("1\n2\n", {}, "oracleGeneral/a").requests.size(), 2u);
}

TEST_F(ReadTraceTest, ALineMayBreakAfterWhatIsLookedAt) {
  EXPECT_THAT(Wrong(std::string(400'000, '1')), StartsWith("invalid argument: "));
  EXPECT_THAT(Wrong(std::string(400'000, '1') + "\n", {.format = "numbers"}),
              StartsWith("corruption: line 1: it has more than"));
}

TEST_F(ReadTraceTest, EveryFormatHasANameAndWords) {
  for (const TraceFormat& format : TraceFormats()) {
    EXPECT_FALSE(format.name.empty());
    EXPECT_FALSE(format.meaning.empty());
  }
  EXPECT_EQ(TraceFormats().size(), 6u);
}

TEST_F(ReadTraceTest, WithoutARequestItIsDamaged) {
  EXPECT_EQ(Wrong(""), "corruption: it is empty");
  for (const Compression kind : KnownCompressions()) {
    EXPECT_EQ(Wrong(Compressed(kind, "")), "corruption: it is empty");
  }
  for (const TraceFormat& format : TraceFormats()) {
    EXPECT_EQ(Wrong("", {.format = format.name}), "corruption: it has no request");
  }
  EXPECT_EQ(Wrong("version,time,op,size,lbn\n"), "corruption: it has no request");
  EXPECT_EQ(Wrong("\n\n", {.format = "numbers"}), "corruption: it has no request");
}

TEST_F(ReadTraceTest, AFileThatIsNotThereIsNotFound) {
  EXPECT_EQ(ReadTrace(folder_ / "none", {}).error().code(), Code::kNotFound);
  EXPECT_EQ(ReadTrace(folder_.path(), {}).error().code(), Code::kIoError);
}

TEST_F(ReadTraceTest, ItsNameIsTheFiles) {
  for (const auto& [file, name] : {std::pair("web07.trace.xz", "web07"),
                                   {"io.csv.gz", "io"},
                                   {"w106.oracleGeneral.bin.zst", "w106"},
                                   {"cluster052.sort.zst", "cluster052"},
                                   {"orm-busy", "orm-busy"},
                                   {"a.b", "a.b"},
                                   {".csv", ".csv"},
                                   {"x.csv.csv", "x"}}) {
    EXPECT_EQ(Read("1\n", {.format = "numbers"}, file).name, name);
  }
}

TEST_F(ReadTraceTest, ALimitEndsItEarly) {
  const std::string text = "1\n2\n1\nx\n";
  for (uint64_t limit = 1; limit <= 3; ++limit) {
    EXPECT_EQ(Read(text, {.limit = limit}).requests.size(), limit);
  }
  EXPECT_EQ(Read(text, {.limit = 1}).records(), 1u);
  EXPECT_THAT(Wrong(text, {.limit = 4}), StartsWith("corruption: line 4: "));
  EXPECT_EQ(Read("1\n2\n", {.limit = 9}).requests.size(), 2u);
}

TEST_F(ReadTraceTest, BehindALimitNothingIsJudged) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 100'000) + "\n";
  for (const Compression kind : KnownCompressions()) {
    std::string bytes = Compressed(kind, text);
    bytes.resize(bytes.size() - 1);
    EXPECT_EQ(Read(bytes, {.limit = 1000}).requests.size(), 1000u);
    EXPECT_THAT(Wrong(bytes), HasSubstr("end early"));
  }
}

TEST_F(ReadTraceTest, SizesAreMovedToTheLimits) {
  const Trace trace = Read("key,size\na,1\nb,8\nc,1000000\nd,1000001\ne,18446744073709551615\n");
  EXPECT_THAT(Sizes(trace), ElementsAre(8, 8, 1'000'000, 1'000'000, 1'000'000));
}

TEST_F(ReadTraceTest, OptionsGiveAllOneSize) {
  const std::string text = "1,k,9,50,1,set,0\n1,long,99,0,1,get,0\n";
  const Trace trace = Read(text, {.value_bytes = 77, .key_bytes = 33});
  EXPECT_THAT(Sizes(trace), ElementsAre(77, 77));
  EXPECT_THAT(trace.key_bytes, ElementsAre(33, 33));
  const Trace least = Read(text, {.value_bytes = 1, .key_bytes = 1});
  EXPECT_THAT(Sizes(least), ElementsAre(8, 8));
  EXPECT_THAT(least.key_bytes, ElementsAre(8, 8));
  const Trace most = Read(text, {.value_bytes = 2'000'000, .key_bytes = 2'000'000});
  EXPECT_THAT(Sizes(most), ElementsAre(1'000'000, 1'000'000));
  EXPECT_THAT(most.key_bytes, ElementsAre(250, 250));
}

TEST_F(ReadTraceTest, TimesCountFromTheFirst) {
  EXPECT_THAT(Times(Read(WithTimes({1'700'000'000, 1'700'000'005}))), ElementsAre(0, 5));
  EXPECT_THAT(Times(Read(WithTimes({7, 7 + uint64_t{UINT32_MAX}}))), ElementsAre(0, UINT32_MAX));
  EXPECT_EQ(Wrong(WithTimes({7, 8 + uint64_t{UINT32_MAX}})),
            "corruption: line 3: its time 4294967303 is more than 4294967295 s after the first "
            "request's, 7");
}

TEST_F(ReadTraceTest, ATimeThatFallsALittleIsHeld) {
  EXPECT_THAT(Times(Read(WithTimes({100, 200, 140, 170, 201, 141}))),
              ElementsAre(0, 100, 100, 100, 101, 101));
  EXPECT_THAT(Times(Read(WithTimes({100, 90, 101}))), ElementsAre(0, 0, 1));
  EXPECT_EQ(Wrong(WithTimes({100, 200, 139})),
            "corruption: line 4: its time 139 is 61 s before the previous request's");
  EXPECT_EQ(
      Wrong(OracleRecord(100, 1, 1, -1) + OracleRecord(1, 1, 1, -1), {.format = "oracle-general"}),
      "corruption: record 2: its time 1 is 99 s before the previous request's");
}

}  // namespace
}  // namespace weft::bench
