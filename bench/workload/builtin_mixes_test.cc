#include "bench/workload/builtin_mixes.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

nlohmann::json JsonOf(const std::string& name) { return ToJson(*BuiltinMix(name)); }

TEST(BuiltinMixes, AreThereUnderTheirNamesAndHaveNoFault) {
  const std::vector<std::string> names = BuiltinMixNames();
  EXPECT_EQ(names.size(), 7u + 24 + 8);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) {
    auto mix = BuiltinMix(name);
    ASSERT_TRUE(mix) << mix.error().ToString();
    EXPECT_EQ(mix->name, name);
    EXPECT_FALSE(FaultOf(*mix)) << name;
    EXPECT_TRUE(RecordFormat::Make(mix->record)) << name;
    EXPECT_EQ(mix->fills, name.find("load") != std::string::npos);
  }
}

TEST(BuiltinMixes, UnknownNamesAreTold) {
  auto mix = BuiltinMix("ycsb-g");
  ASSERT_FALSE(mix);
  EXPECT_EQ(mix.error().code(), Code::kNotFound);
  EXPECT_THAT(mix.error().ToString(), HasSubstr("'ycsb-g'; the workloads are: ycsb-load, ycsb-a"));
  EXPECT_FALSE(BuiltinMix(kClearStep));
}

TEST(BuiltinMixes, YcsbIsAsItsPaperHasIt) {
  const auto operations = [](const char* name) { return JsonOf(name)["operations"].dump(); };
  EXPECT_EQ(operations("ycsb-load"), R"({"insert":1.0})");
  EXPECT_EQ(operations("ycsb-a"), R"({"read":0.5,"update":0.5})");
  EXPECT_EQ(operations("ycsb-c"), R"({"read":1.0})");
  EXPECT_EQ(operations("ycsb-f"), R"({"read":0.5,"read-modify-write":0.5})");
  for (const char* name : {"ycsb-b", "ycsb-d", "ycsb-e"}) {
    const OperationMix mix = *BuiltinMix(name);
    const OperationKind most = name[5] == 'e' ? OperationKind::kScan : OperationKind::kRead;
    const OperationKind other = name[5] == 'b' ? OperationKind::kUpdate : OperationKind::kInsert;
    EXPECT_EQ(mix.ShareOf(most), 0.95);
    EXPECT_EQ(mix.ShareOf(other), 0.05);
  }
  for (const char* name : {"ycsb-a", "ycsb-b", "ycsb-c", "ycsb-e", "ycsb-f"})
    EXPECT_EQ(JsonOf(name)["keys"], "scrambled-zipf 0.99");
  EXPECT_EQ(JsonOf("ycsb-d")["keys"], "latest 0.99");
  EXPECT_EQ(JsonOf("ycsb-e")["scan_length"], "uniform 1 100");
  EXPECT_EQ(JsonOf("ycsb-a")["records"], 1'000'000);
}

TEST(BuiltinMixes, TheTwentyFourAreAsTheirPaperHasThem) {
  const nlohmann::json k8 = JsonOf("K8-G50-U");
  EXPECT_EQ(k8["key_bytes"], "8");
  EXPECT_EQ(k8["value_bytes"], "8");
  EXPECT_EQ(k8["keys"], "uniform");
  EXPECT_EQ(k8["operations"].dump(), R"({"read":0.5,"update":0.5})");
  EXPECT_EQ(k8["records"], 1'908'000'000 / 80);
  const nlohmann::json k128 = JsonOf("K128-G100-S");
  EXPECT_EQ(k128["key_bytes"], "128");
  EXPECT_EQ(k128["value_bytes"], "1024");
  EXPECT_EQ(k128["keys"], "permuted-zipf 0.99");
  EXPECT_EQ(k128["operations"].dump(), R"({"read":1.0})");
  EXPECT_EQ(JsonOf("K16-G95-S")["value_bytes"], "64");
  EXPECT_EQ(JsonOf("K32-G95-S")["value_bytes"], "256");
  EXPECT_EQ(FillOf(*BuiltinMix("K16-G95-S")).name, "K16-load");
}

TEST(BuiltinMixes, CompactionIsYcsbAWithSmallKeys) {
  const nlohmann::json json = JsonOf("compaction-512");
  EXPECT_EQ(json["key_bytes"], "16");
  EXPECT_EQ(json["value_bytes"], "512");
  EXPECT_EQ(json["records"], 10'000'000);
  EXPECT_EQ(json["operations"], JsonOf("ycsb-a")["operations"]);
  EXPECT_EQ(JsonOf("compaction-512-load")["value_bytes"], "512");
}

TEST(BuiltinMixes, OrdersBeginWithALoad) {
  EXPECT_THAT(YcsbOrder(), ElementsAre("ycsb-load", "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-f",
                                       "ycsb-d", "clear", "ycsb-load", "ycsb-e"));
  for (const std::string& step : YcsbOrder())
    EXPECT_TRUE(step == kClearStep || BuiltinMix(step)) << step;
}

}  // namespace
}  // namespace weft::bench
