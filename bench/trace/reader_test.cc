// Each format by itself, but for csv.
#include <string>

#include <gmock/gmock.h>

#include "bench/trace/line_source.h"
#include "bench/trace/trace_test_kit.h"

namespace weft::bench {
namespace {

using testing::ElementsAre;

using FormatTest = TraceTest;

std::string Lines(std::initializer_list<std::string_view> lines) {
  std::string text;
  for (const std::string_view line : lines) text.append(line).append("\n");
  return text;
}

TEST_F(FormatTest, Be32HasTheHighByteFirst) {
  const Trace trace =
      Read(std::string("\0\0\1\0\0\0\0\1\xff\0\0\0\0\0\1\0", 16), {.format = "be32"});
  EXPECT_THAT(Records(trace), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(Sizes(trace), ElementsAre(1000, 1000, 1000, 1000));
  EXPECT_THAT(Times(trace), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(trace.key_bytes, ElementsAre(24, 24, 24));
  EXPECT_EQ(Operations(trace), "gggg");
  EXPECT_FALSE(trace.has_ttls);
}

TEST_F(FormatTest, Be32EndsWithARecord) {
  EXPECT_EQ(Wrong(std::string("\0\0\0\1\0\0", 6), {.format = "be32"}),
            "corruption: record 2: the file ends within it, after 2 of 4 bytes");
}

TEST_F(FormatTest, NumbersAreDecimalOnesALine) {
  const Trace trace = Read("7\n18446744073709551615\r\n\n 0 \n7\n\n", {.format = "numbers"});
  EXPECT_THAT(Records(trace), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(Records(Read("1\n2", {.format = "numbers"})), ElementsAre(0, 1));
}

TEST_F(FormatTest, NumbersThatAreNoneNameTheLine) {
  const TraceOptions numbers{.format = "numbers"};
  EXPECT_EQ(Wrong("1\n\n-5\n", numbers), "corruption: line 3: the key '-5' is negative");
  EXPECT_EQ(Wrong("1\n18446744073709551616\n", numbers),
            "corruption: line 2: the key '18446744073709551616' is too large: "
            "18446744073709551615 at most");
  EXPECT_EQ(Wrong("1\n2 3\n", numbers), "corruption: line 2: the key '2 3' is not a number");
  EXPECT_EQ(Wrong("0x1\n", numbers), "corruption: line 1: the key '0x1' is not a number");
  EXPECT_EQ(Wrong("1\n\x01\xff" + std::string(100, 'a'), numbers),
            "corruption: line 2: the key '??" + std::string(38, 'a') + "...' is not a number");
}

TEST_F(FormatTest, LongLinesAreDamage) {
  const TraceOptions numbers{.format = "numbers"};
  const std::string longest = std::string(LineSource::kBytesMax - 1, ' ') + "1";
  EXPECT_EQ(Read("1\n" + longest + "\n2\n", numbers).requests.size(), 3u);
  EXPECT_EQ(Read("1\n" + longest, numbers).requests.size(), 2u);
  const std::string wrong = "corruption: line 2: it has more than 65535 bytes";
  EXPECT_EQ(Wrong("1\n " + longest + "\n2\n", numbers), wrong);
  EXPECT_EQ(Wrong("1\n " + longest, numbers), wrong);
  EXPECT_EQ(Wrong("1\n" + std::string(300'000, ' ') + "1", numbers), wrong);
}

TEST_F(FormatTest, CloudPhysicsHasGetsOfBlocks) {
  const std::string text = Lines({"version,time,op,size,lbn", "1,100,2a,512,7", "1,100,28,0,8",
                                  "1,103,28,2000000,9", "1,104,2a,4,7"});
  const Trace trace = Read(text, {.format = "cloudphysics"});
  EXPECT_THAT(Records(trace), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(Sizes(trace), ElementsAre(512, 1000, 1'000'000, 8));
  EXPECT_THAT(Times(trace), ElementsAre(0, 0, 3, 4));
  EXPECT_EQ(Operations(trace), "gggg");
  EXPECT_THAT(Records(Read("1,100,2a,512,7\n", {.format = "cloudphysics"})), ElementsAre(0));
}

TEST_F(FormatTest, CloudPhysicsHasFiveColumns) {
  const TraceOptions options{.format = "cloudphysics"};
  EXPECT_EQ(Wrong("1,1,2a,512,7\n1,1,2a,512\n", options),
            "corruption: line 2: it has 4 columns, not the 5 of version,time,op,size,lbn");
  EXPECT_EQ(Wrong("1,1,2a,512,7,7\n", options),
            "corruption: line 1: it has 6 columns, not the 5 of version,time,op,size,lbn");
  EXPECT_EQ(Wrong("v,1,2a,512,7\n", options),
            "corruption: line 1: the version 'v' is not a number");
  EXPECT_EQ(Wrong("1,,2a,512,7\n", options), "corruption: line 1: it has no time");
  EXPECT_EQ(Wrong("1,1,2a,-1,7\n", options), "corruption: line 1: the size '-1' is negative");
  EXPECT_EQ(Wrong("1,1,2a,512,x\n", options), "corruption: line 1: the lbn 'x' is not a number");
  EXPECT_EQ(Wrong("1,9,2a,512,1\nversion,time,op,size,lbn\n", options),
            "corruption: line 2: the version 'version' is not a number");
}

TEST_F(FormatTest, OracleGeneralHasRecordsOf24Bytes) {
  const std::string bytes = OracleRecord(10, UINT64_MAX, 100, 2) + OracleRecord(10, 1, 0, -1) +
                            OracleRecord(12, UINT64_MAX, 0, -1) +
                            OracleRecord(20, 3, UINT32_MAX, -1);
  const Trace trace = Read(bytes, {.format = "oracle-general"});
  EXPECT_THAT(Records(trace), ElementsAre(0, 1, 0, 2));
  EXPECT_THAT(Sizes(trace), ElementsAre(100, 1000, 100, 1'000'000));
  EXPECT_THAT(Times(trace), ElementsAre(0, 0, 2, 10));
  EXPECT_EQ(Wrong(bytes.substr(0, 47), {.format = "oracle-general"}),
            "corruption: record 2: the file ends within it, after 23 of 24 bytes");
}

TEST_F(FormatTest, TwitterHasOperationsSizesAndLives) {
  const std::string text =
      Lines({"5,nz:a,20,0,1,get,0", "5,nz:a,20,300,1,set,60", "6,nz:a,20,300,2,gets,0",
             "7,b,300,40,1,add,0", "8,nz:a,20,0,1,delete,0", "9,nz:a,20,0,1,get,0",
             "9,c,1,0,1,incr,9", "9,c,1,0,1,set,0"});
  const Trace trace = Read(text, {.format = "twitter"});
  EXPECT_THAT(Records(trace), ElementsAre(0, 0, 0, 1, 0, 0, 2, 2));
  EXPECT_EQ(Operations(trace), "gsgsdgss");
  EXPECT_THAT(Sizes(trace), ElementsAre(1000, 300, 300, 40, 300, 300, 1000, 8));
  EXPECT_THAT(Times(trace), ElementsAre(0, 0, 1, 2, 3, 4, 4, 4));
  EXPECT_THAT(Ttls(trace), ElementsAre(0, 60, 60, 0, 0, 60, 9, 0));
  EXPECT_THAT(trace.key_bytes, ElementsAre(20, 250, 8));
  EXPECT_TRUE(trace.has_ttls);
}

TEST_F(FormatTest, TwittersOperationsAreMemcacheds) {
  std::string text;
  for (const char* word : {"get", "gets", "set", "add", "replace", "cas", "append", "prepend",
                           "incr", "decr", "delete"}) {
    text += "1,k,9,9,1," + std::string(word) + ",0\n";
  }
  EXPECT_EQ(Operations(Read(text, {.format = "twitter"})), "ggssssssssd");
}

TEST_F(FormatTest, TwittersKeysMayHoldCommas) {
  const Trace trace = Read(
      "1,a,b,3,9,1,get,0\n1,a,b,3,9,1,get,0\n1,a,3,9,1,get,0\n"
      "1,,,3,9,1,get,0\n1,a b\t,3,9,1,get,0\n",
      {.format = "twitter"});
  EXPECT_THAT(Records(trace), ElementsAre(0, 0, 1, 2, 3));
}

TEST_F(FormatTest, TwittersDamageIsNamed) {
  const TraceOptions options{.format = "twitter"};
  EXPECT_EQ(Wrong("1,k,9,9,1,get,0\n1,k,9,9,get,0\n", options),
            "corruption: line 2: it has fewer than 7 columns");
  EXPECT_EQ(Wrong("1,,9,9,1,get,0\n", options), "corruption: line 1: it has no key");
  EXPECT_EQ(Wrong("1,k,9,9,1,look,0\n", options), "corruption: line 1: 'look' is not an operation");
  EXPECT_EQ(Wrong("1,k,9,9,1,GET,0\n", options), "corruption: line 1: 'GET' is not an operation");
  EXPECT_EQ(Wrong("-1,k,9,9,1,get,0\n", options), "corruption: line 1: the time '-1' is negative");
  EXPECT_EQ(Wrong("1,k,x,9,1,get,0\n", options),
            "corruption: line 1: the key's size 'x' is not a number");
  EXPECT_EQ(Wrong("1,k,9,-9,1,get,0\n", options), "corruption: line 1: the size '-9' is negative");
  EXPECT_EQ(Wrong("1,k,9,9,1,set,4294967296\n", options),
            "corruption: line 1: the time to live '4294967296' is too large: 4294967295 at most");
  EXPECT_EQ(Wrong("1,k,9,9,1,set,\n", options), "corruption: line 1: it has no time to live");
}

}  // namespace
}  // namespace weft::bench
