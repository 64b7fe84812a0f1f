#include "bench/workload/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::bench {
namespace {

using testing::HasSubstr;

OperationMix HalfAndHalf() {
  OperationMix mix;
  mix.name = "half";
  mix.SetShare(OperationKind::kRead, 0.5);
  mix.SetShare(OperationKind::kUpdate, 0.5);
  return mix;
}

TEST(OperationMix, IsPrintedAsResultFilesHaveIt) {
  OperationMix mix = HalfAndHalf();
  EXPECT_EQ(ToJson(mix), nlohmann::json::parse(R"({
      "name": "half", "operations": {"read": 0.5, "update": 0.5}, "keys": "uniform",
      "records": 1000000, "key_bytes": "24", "value_bytes": "1000"})"));
  mix.shares = {};
  mix.SetShare(OperationKind::kScan, 1);
  mix.record.ordered = true;
  mix.rate = *RateSchedule::Parse("10 for 1s, 20");
  EXPECT_EQ(ToJson(mix), nlohmann::json::parse(R"({
      "name": "half", "operations": {"scan": 1.0}, "keys": "uniform", "records": 1000000,
      "key_bytes": "24", "value_bytes": "1000", "scan_length": "uniform 1 100", "ordered": true,
      "rate": "10 for 1s, 20"})"));
}

TEST(OperationMix, FaultsNameTheirField) {
  EXPECT_FALSE(FaultOf(HalfAndHalf()));
  const auto field = [](auto change) {
    OperationMix mix = HalfAndHalf();
    change(&mix);
    const auto fault = FaultOf(mix);
    return fault ? fault->field : "none";
  };
  using M = OperationMix*;
  EXPECT_EQ(field([](M mix) { mix->name.clear(); }), "name");
  EXPECT_EQ(field([](M mix) { mix->SetShare(OperationKind::kScan, -0.1); }), "operations.scan");
  EXPECT_EQ(field([](M mix) { mix->SetShare(OperationKind::kScan, 2e-6); }), "operations");
  EXPECT_EQ(field([](M mix) { mix->SetShare(OperationKind::kScan, 0.9e-6); }), "none");
  EXPECT_EQ(field([](M mix) { mix->record.key_bytes = SizeDistribution::Fixed(7); }), "key_bytes");
  EXPECT_EQ(field([](M mix) { mix->record.value_bytes = SizeDistribution::Fixed(7); }),
            "value_bytes");
  EXPECT_EQ(field([](M mix) {
              mix->record.ordered = true;
              mix->record.key_bytes = SizeDistribution::Uniform(16, 20);
            }),
            "key_bytes");
  EXPECT_EQ(field([](M mix) { mix->scan_length = SizeDistribution::Uniform(0, 5); }),
            "scan_length");
  EXPECT_EQ(field([](M mix) { mix->records = 0; }), "records");
  EXPECT_EQ(field([](M mix) { mix->records = kRecordsMax + 1; }), "records");
  EXPECT_EQ(field([](M mix) { mix->fills = true; }), "operations");
}

TEST(OperationMix, AFillStoresTheSameRecords) {
  OperationMix mix = HalfAndHalf();
  mix.record.value_bytes = SizeDistribution::Fixed(77);
  mix.records = 1234;
  const OperationMix fill = FillOf(mix);
  EXPECT_EQ(fill.name, "half-load");
  EXPECT_TRUE(fill.fills);
  EXPECT_FALSE(FaultOf(fill));
  EXPECT_EQ(fill.records, 1234u);
  EXPECT_EQ(fill.record.value_bytes.ToText(), "77");
  EXPECT_EQ(fill.ShareOf(OperationKind::kInsert), 1);
}

}  // namespace
}  // namespace weft::bench
