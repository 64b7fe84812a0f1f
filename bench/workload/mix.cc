#include "bench/workload/mix.h"

#include <cmath>

#include <fmt/format.h>

namespace weft::bench {
namespace {

constexpr uint32_t kScanLengthMax = 1u << 20;

std::optional<MixFault> FaultOfShares(const OperationMix& mix) {
  double sum = 0;
  for (int i = 0; i < kOperationKinds; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    const double share = mix.ShareOf(kind);
    if (!(share >= 0 && share <= 1))
      return MixFault{fmt::format("operations.{}", NameOf(kind)),
                      fmt::format("{} is not a share from 0 to 1", share)};
    sum += share;
  }
  if (std::abs(sum - 1) > kSharesTolerance)
    return MixFault{"operations", fmt::format("the shares sum to {}, not to 1", sum)};
  return std::nullopt;
}

std::optional<MixFault> FaultOfSizes(const OperationMix& mix) {
  // One field at a time, so that the fault can be told of the right one.
  RecordOptions keys;
  keys.key_bytes = mix.record.key_bytes;
  keys.ordered = mix.record.ordered;
  Status status = RecordFormat::Check(keys);
  if (!status.ok()) return MixFault{"key_bytes", std::string(status.message())};
  RecordOptions values;
  values.value_bytes = mix.record.value_bytes;
  status = RecordFormat::Check(values);
  if (!status.ok()) return MixFault{"value_bytes", std::string(status.message())};
  if (mix.scan_length.min() < 1 || mix.scan_length.max() > kScanLengthMax)
    return MixFault{"scan_length", fmt::format("a scan must have 1 to {} records", kScanLengthMax)};
  return std::nullopt;
}

}  // namespace

std::optional<MixFault> FaultOf(const OperationMix& mix) {
  if (mix.name.empty()) return MixFault{"name", "it is missing"};
  if (auto fault = FaultOfShares(mix)) return fault;
  if (auto fault = FaultOfSizes(mix)) return fault;
  if (mix.records < 1 || mix.records > kRecordsMax)
    return MixFault{"records", fmt::format("a mix must have 1 to {} records", kRecordsMax)};
  if (mix.fills && mix.ShareOf(OperationKind::kInsert) != 1)
    return MixFault{"operations", "a mix that fills a store must have only inserts"};
  return std::nullopt;
}

OperationMix FillOf(const OperationMix& mix) {
  OperationMix fill;
  fill.name = mix.fill_name.empty() ? mix.name + "-load" : mix.fill_name;
  fill.SetShare(OperationKind::kInsert, 1);
  fill.keys.law = KeyLaw::kSequential;
  fill.record = mix.record;
  fill.records = mix.records;
  fill.fills = true;
  return fill;
}

nlohmann::json ToJson(const OperationMix& mix) {
  nlohmann::json json = {{"name", mix.name},
                         {"operations", nlohmann::json::object()},
                         {"keys", mix.keys.ToText()},
                         {"records", mix.records},
                         {"key_bytes", mix.record.key_bytes.ToText()},
                         {"value_bytes", mix.record.value_bytes.ToText()}};
  for (int i = 0; i < kOperationKinds; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    if (mix.ShareOf(kind) > 0) json["operations"][NameOf(kind)] = mix.ShareOf(kind);
  }
  if (mix.ShareOf(OperationKind::kScan) > 0) json["scan_length"] = mix.scan_length.ToText();
  if (mix.record.ordered) json["ordered"] = true;
  if (mix.rate) json["rate"] = mix.rate->ToText();
  return json;
}

}  // namespace weft::bench
