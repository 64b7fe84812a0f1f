#include <string>

#include <gmock/gmock.h>

#include "bench/trace/csv_columns.h"
#include "bench/trace/trace_test_kit.h"

namespace weft::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using CsvTest = TraceTest;

TEST_F(CsvTest, TheFirstLineNamesColumns) {
  const Trace trace = Read(
      "time,obj_id,client,obj_size,op,ttl\n"
      "10,a,x,100,get,0\n11,b,x,200,set,7\n11,b,x,0,get,0\n12,a,x,0,delete,0\n");
  EXPECT_THAT(Records(trace), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(Times(trace), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(Sizes(trace), ElementsAre(100, 200, 200, 100));
  EXPECT_THAT(Ttls(trace), ElementsAre(0, 7, 7, 0));
  EXPECT_EQ(Operations(trace), "gsgd");
  EXPECT_TRUE(trace.has_ttls);
}

TEST_F(CsvTest, NamesMayBeWrittenInSeveralWays) {
  for (const char* names :
       {"time,obj-id,size", "Timestamp, KEY ,Obj-Size", "\"ts\",\"id\",\"bytes\"",
        "clock_time,object_id,value_size", "TIME,obj,object_size"}) {
    SCOPED_TRACE(names);
    const Trace trace = Read(std::string(names) + "\r\n5,a,10\r\n6,a,20\r\n");
    EXPECT_THAT(Times(trace), ElementsAre(0, 1));
    EXPECT_THAT(Records(trace), ElementsAre(0, 0));
    EXPECT_THAT(Sizes(trace), ElementsAre(10, 20));
  }
}

TEST_F(CsvTest, ColumnsAreSeparatedByOneOfThree) {
  for (const std::string delimiter : {",", ";", "\t"}) {
    const std::string line = "1" + delimiter + "k" + delimiter + "50\n";
    EXPECT_THAT(Sizes(Read("time" + delimiter + "key" + delimiter + "size\n" + line)),
                ElementsAre(50));
    EXPECT_THAT(Sizes(Read(line, {.columns = "time=1,key=2,size=3"})), ElementsAre(50));
  }
  // The first column alone is less than the line.
  EXPECT_THAT(Records(Read("k,1\nk,2\n", {.columns = "key=1"})), ElementsAre(0, 0));
  const Trace trace = Read("key\tsize\na,b;c\t50\na,b\t60\n");
  EXPECT_THAT(Records(trace), ElementsAre(0, 1));
}

TEST_F(CsvTest, OnlyTheKeyMustBeThere) {
  const Trace trace = Read("a\nb\na\n", {.columns = "key=1"});
  EXPECT_THAT(Records(trace), ElementsAre(0, 1, 0));
  EXPECT_THAT(Sizes(trace), ElementsAre(1000, 1000, 1000));
  EXPECT_EQ(Operations(trace), "ggg");
  EXPECT_THAT(Records(Read("id\nb\nid\n", {.format = "csv"})), ElementsAre(0, 1));
}

TEST_F(CsvTest, WithOptionsTheFirstLineIsARequestWhereItHasNumbers) {
  const TraceOptions options{.columns = "key=2,size=1"};
  EXPECT_THAT(Sizes(Read("10,key\n20,b\n", options)), ElementsAre(10, 20));
  EXPECT_THAT(Sizes(Read("length,blob\n20,b\n", options)), ElementsAre(20));
  EXPECT_THAT(Records(Read("key,x\nb,x\n", {.columns = "key=1"})), ElementsAre(0));
  EXPECT_EQ(Wrong("x10,key\n", options), "corruption: line 1: the size 'x10' is not a number");
}

TEST_F(CsvTest, TimesMayHaveFractions) {
  const Trace trace = Read("time,key\n1.9,a\n2.1,a\n3,a\n", {.format = "csv"});
  EXPECT_THAT(Times(trace), ElementsAre(0, 1, 2));
  EXPECT_EQ(Wrong("time,key\n1.,a\n"), "corruption: line 2: the time '1.' is not a number");
  EXPECT_EQ(Wrong("time,key\n-1.5,a\n"), "corruption: line 2: the time '-1.5' is not a number");
  EXPECT_EQ(Wrong("time,key\n1e3,a\n"), "corruption: line 2: the time '1e3' is not a number");
}

TEST_F(CsvTest, AKeyThatIsTextHasItsLength) {
  const Trace trace = Read("key\n1234567890123\nfile/0123456789\n\"quoted key\"\nquoted key\nx\n" +
                           std::string(300, 'y') + "\n");
  EXPECT_THAT(Records(trace), ElementsAre(0, 1, 2, 2, 3, 4));
  EXPECT_THAT(trace.key_bytes, ElementsAre(24, 15, 10, 8, 250));
}

TEST_F(CsvTest, OperationsHaveWordsOfOthersToo) {
  EXPECT_EQ(Operations(Read("op,key\nread,a\nWRITE,a\nput,a\nupdate,a\nGet,a\nincr,a\n")),
            "gsssgs");
  EXPECT_EQ(Wrong("op,key\nread,a\nx,a\n"), "corruption: line 3: 'x' is not an operation");
}

TEST_F(CsvTest, AGetMayHaveALifeOfItsOwn) {
  const Trace trace = Read("key,ttl\na,5\na,0\nb,0\na,9\n");
  EXPECT_THAT(Ttls(trace), ElementsAre(5, 5, 0, 9));
}

TEST_F(CsvTest, DamageIsNamed) {
  EXPECT_EQ(Wrong("key,size\na,1\na\n"),
            "corruption: line 3: it has 1 columns, and the first line has 2");
  EXPECT_EQ(Wrong("key,size\n\"a,b\",1\n"),
            "corruption: line 2: it has 3 columns, and the first line has 2");
  EXPECT_EQ(Wrong("key,size\n,1\n"), "corruption: line 2: it has no key");
  EXPECT_EQ(Wrong("key,size\na,-1\n"), "corruption: line 2: the size '-1' is negative");
  EXPECT_EQ(Wrong("key,size\na,\n"), "corruption: line 2: it has no size");
  EXPECT_EQ(Wrong("key,ttl\na,4294967296\n"),
            "corruption: line 2: the time to live '4294967296' is too large: 4294967295 at most");
  EXPECT_EQ(Wrong("key,size\n\n"), "corruption: it has no request");
}

TEST_F(CsvTest, NamesThatSayTooLittleOrTooMuchAreTheCallersToMend) {
  EXPECT_EQ(Wrong("when,what\n1,a\n", {.format = "csv"}),
            "invalid argument: its first line names no column of keys (key, obj_id, ...): name it "
            "by columns");
  EXPECT_EQ(Wrong("id,key\n1,a\n"),
            "invalid argument: its first line has 'id' and 'key' for the same thing: name one by "
            "columns");
  EXPECT_EQ(Wrong("1,a\n", {.columns = "key=2,size=3"}),
            "invalid argument: its first line has fewer than 3 columns");
}

TEST(CsvColumns, AreOneNumberEach) {
  auto columns = ParseCsvColumns("ttl=5, key=2,op=4,time=1,size=3");
  ASSERT_TRUE(columns) << columns.error().ToString();
  EXPECT_EQ(*columns, (CsvColumns{.time = 0, .key = 1, .size = 2, .op = 3, .ttl = 4}));
  for (const char* text : {"", "time=1", "key=0", "key=-1", "key=x", "key", "key=1,", "key=1,key=2",
                           "key=1,when=2", "key=1001", "=1"}) {
    SCOPED_TRACE(text);
    auto wrong = ParseCsvColumns(text);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(std::string(wrong.error().message()), HasSubstr("'" + std::string(text) + "'"));
  }
}

}  // namespace
}  // namespace weft::bench
