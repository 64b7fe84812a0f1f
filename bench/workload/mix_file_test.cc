#include "bench/workload/mix_file.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class MixFile : public testing::Test {
 protected:
  void SetUp() override {
    if (MixFilesAreSupported()) return;
    EXPECT_EQ(ParseMixText("", "x").error().code(), Code::kUnsupported);
    EXPECT_EQ(ParseMixFile("x").error().code(), Code::kUnsupported);
    GTEST_SKIP() << "built without toml++";
  }
};

constexpr const char* kWhole = R"([[workload]]
name = "sessions"
operations = { read = 0.6, update = 0.2, insert = 0.1, scan = 0.1 }
keys = "hotspot 0.2 0.8"
records = 5000
key_bytes = 32
value_bytes = "pareto 214.476 0.348238 8 1048576"
ordered = true
scan_length = 7
rate = "poisson 1000 for 10s, 5000 for 5s"

[[workload]]
name = "least"
operations.read = 1
)";

TEST_F(MixFile, TheExampleIsOne) {
  auto mixes = ParseMixFile(WEFT_SOURCE_DIR "/bench/workload/example.toml");
  ASSERT_TRUE(mixes) << mixes.error().ToString();
  ASSERT_EQ(mixes->size(), 2u);
  const OperationMix& sessions = mixes->front();
  EXPECT_EQ(sessions.name, "sessions");
  EXPECT_EQ(sessions.records, 5'000'000u);
  EXPECT_EQ(sessions.ShareOf(OperationKind::kRead), 0.7);
  EXPECT_FALSE(sessions.rate);
  const OperationMix& feed = mixes->back();
  EXPECT_TRUE(feed.record.ordered);
  ASSERT_TRUE(feed.rate);
  EXPECT_EQ(feed.rate->RateAt(12), 5000);
  // What it calls the defaults.
  const OperationMix plain;
  EXPECT_EQ(feed.keys.ToText(), plain.keys.ToText());
  EXPECT_EQ(plain.records, 1'000'000u);
  EXPECT_EQ(plain.record.key_bytes.ToText(), "24");
  EXPECT_EQ(plain.record.value_bytes.ToText(), "1000");
  EXPECT_EQ(feed.scan_length.ToText(), plain.scan_length.ToText());
}

TEST_F(MixFile, HasAllOfAWorkload) {
  auto mixes = ParseMixText(kWhole, "mix.toml");
  ASSERT_TRUE(mixes) << mixes.error().ToString();
  ASSERT_EQ(mixes->size(), 2u);
  EXPECT_EQ(ToJson(mixes.value()[0]), nlohmann::json::parse(R"({
      "name": "sessions", "operations": {"read": 0.6, "update": 0.2, "insert": 0.1,
      "scan": 0.1}, "scan_length": "7", "keys": "hotspot 0.2 0.8", "records": 5000,
      "key_bytes": "32", "value_bytes": "pareto 214.476 0.348238 8 1048576", "ordered": true,
      "rate": "poisson 1000 for 10s, 5000 for 5s"})"));
  EXPECT_EQ(mixes.value()[0].scan_length.ToText(), "7");
  EXPECT_EQ(ToJson(mixes.value()[1]), nlohmann::json::parse(R"({
      "name": "least", "operations": {"read": 1.0}, "keys": "uniform", "records": 1000000,
      "key_bytes": "24", "value_bytes": "1000"})"));
}

TEST_F(MixFile, IsReadFromDisk) {
  const base::TestFolder folder;
  const std::string path = folder.path() + "/mix.toml";
  std::ofstream(path) << kWhole;
  auto mixes = ParseMixFile(path);
  ASSERT_TRUE(mixes) << mixes.error().ToString();
  EXPECT_EQ(mixes->size(), 2u);
  auto none = ParseMixFile(path + ".none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::kIoError);
  EXPECT_THAT(none.error().ToString(), HasSubstr("No such file"));
}

// A workload with one more line; the complaint about it.
std::string WhyNot(const std::string& line) {
  auto mixes = ParseMixText("[[workload]]\nname = \"a\"\noperations.read = 1\n" + line, "f.toml");
  if (mixes) return "nothing";
  EXPECT_EQ(mixes.error().code(), Code::kInvalidArgument);
  return std::string(mixes.error().message());
}

TEST_F(MixFile, MistakesNameFileLineAndField) {
  EXPECT_EQ(WhyNot(""), "nothing");
  const std::pair<const char*, const char*> cases[] = {
      {"colour = 1", "f.toml:4: workload.colour: unknown field; the fields are: name,"},
      {"keys = \"zipfian 1\"",
       "f.toml:4: workload.keys: keys 'zipfian 1': it must begin with one of"},
      {"keys = true", "f.toml:4: workload.keys: it must be text in quotes, not boolean"},
      {"records = 0", "f.toml:4: workload.records: it must be a whole number of at least 1"},
      {"records = 1.5", "f.toml:4: workload.records: it must be a whole number"},
      {"records = 5000000000",
       "f.toml:4: workload.records: a mix must have 1 to 4294967296 records"},
      {"key_bytes = 7", "f.toml:4: workload.key_bytes: keys have 8 to 250 bytes, not 7"},
      {"key_bytes = -7", "f.toml:4: workload.key_bytes: size '-7'"},
      {"key_bytes = [8]", "f.toml:4: workload.key_bytes: it must be text in quotes, not array"},
      {"value_bytes = \"uniform 1 2\"", "f.toml:4: workload.value_bytes: values have 8 to"},
      {"key_bytes = \"uniform 16 20\"\nordered = true", "f.toml:4: workload.key_bytes: ordered"},
      {"ordered = 1", "f.toml:4: workload.ordered: it must be true or false"},
      {"scan_length = 5", "f.toml:4: workload.scan_length: none of its operations scans"},
      {"scan_length = 0", "f.toml:4: workload.scan_length: a scan must have 1 to"},
      {"rate = \"fast\"", "f.toml:4: workload.rate: rate 'fast'"},
      {"operations.reads = 0",
       "f.toml:4: workload.operations.reads: unknown operation; the operations are: "
       "read, update, insert, read-modify-write, scan, delete"},
      {"operations.update = \"x\"",
       "f.toml:4: workload.operations.update: a share must be a number"},
      {"operations.update = -1", "f.toml:4: workload.operations.update: -1 is not a share"},
      {"operations.update = 0.1", "f.toml:3: workload.operations: the shares sum to 1.1, not to 1"},
      {"\n[[workload]]\noperations.read = 1", "f.toml:5: workload.name: it is missing"},
      {"\n[[workload]]\nname = 1", "f.toml:6: workload.name: it must be text in quotes"},
      {"[[workload]]\nname = \"b\"\noperations = 1",
       "f.toml:6: workload.operations: it must be a table"},
      {"[[workload]]\nname = \"b\"", "f.toml:4: workload.operations: the shares sum to 0"},
      {"[[workload]]\nname = \"a\"\noperations.read = 1",
       "f.toml:5: workload.name: 'a' is given tw"},
      {"[[workload]]\nname = \"ycsb-a\"\noperations.read = 1",
       "f.toml:5: workload.name: 'ycsb-a' is the name of a built-in workload"},
      {"[other]", "f.toml:4: other: only [[workload]] is allowed here"},
      {"records = ", "f.toml:4: "},
  };
  for (const auto& [line, what] : cases) EXPECT_THAT(WhyNot(line), StartsWith(what)) << line;
}

TEST_F(MixFile, WorkloadsBeginWithTheirBrackets) {
  EXPECT_THAT(ParseMixText("", "f").error().ToString(), HasSubstr("it has no [[workload]]"));
  EXPECT_THAT(ParseMixText("[workload]\nname = \"a\"", "f").error().ToString(),
              HasSubstr("f:1: a workload must begin with [[workload]]"));
}

}  // namespace
}  // namespace weft::bench
