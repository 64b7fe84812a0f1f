// Any bytes as the file of a trace: the first byte says of which format, or that it must be found,
// the second how it is read. What is read keeps what trace.h promises and is the same when it is
// read again; an error names the file and can be shown.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/folder_test_kit.h"
#include "bench/trace/trace.h"

namespace weft::bench {
namespace {

// Few bytes decompress to many requests.
constexpr uint64_t kFuzzRequestsMax = 20'000;
constexpr size_t kFuzzMessageBytesMax = 400;
constexpr const char* kFuzzColumns[] = {"", "key=1", "time=1,key=2,size=3,op=4,ttl=5",
                                        "key=2,size"};

TraceOptions FuzzOptions(uint8_t format, uint8_t choice) {
  TraceOptions options;
  const size_t number = format % (TraceFormats().size() + 1);
  if (number != 0) options.format = TraceFormats()[number - 1].name;
  options.columns = kFuzzColumns[choice % 4];
  options.limit = (choice & 4) != 0 ? 3 : kFuzzRequestsMax;
  options.value_bytes = (choice & 8) != 0 ? 5'000'000 : 0;
  options.key_bytes = (choice & 16) != 0 ? 1 : 0;
  return options;
}

void CheckFuzzError(const Status& error, const std::string& path) {
  WEFT_CHECK(error.code() == Code::kCorruption || error.code() == Code::kInvalidArgument ||
             error.code() == Code::kUnsupported || error.code() == Code::kNoMemory);
  const std::string_view message = error.message();
  WEFT_CHECK(error.code() == Code::kInvalidArgument || message.starts_with(path + ": "));
  WEFT_CHECK(message.size() <= kFuzzMessageBytesMax);
  WEFT_CHECK(
      std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

void CheckFuzzTrace(const Trace& trace, uint64_t limit) {
  WEFT_CHECK(!trace.requests.empty() && trace.requests.size() <= limit);
  uint32_t records = 0, time_s = 0;
  bool has_ttls = false;
  for (const TraceRequest& request : trace.requests) {
    WEFT_CHECK(request.record <= records);
    records = std::max(records, request.record + 1);
    WEFT_CHECK(request.time_s >= time_s);
    time_s = request.time_s;
    WEFT_CHECK(request.value_bytes >= kTraceValueBytesMin);
    WEFT_CHECK(request.value_bytes <= kTraceValueBytesMax);
    WEFT_CHECK(request.operation <= TraceOperation::kDelete);
    has_ttls |= request.ttl_s != 0;
  }
  WEFT_CHECK(trace.requests[0].time_s == 0);
  WEFT_CHECK(records == trace.records() && has_ttls == trace.has_ttls);
  for (const uint8_t bytes : trace.key_bytes) {
    WEFT_CHECK(bytes >= kTraceKeyBytesMin && bytes <= kTraceKeyBytesMax);
  }
}

bool AreSameRequests(const Trace& one, const Trace& other, size_t requests) {
  return std::equal(one.requests.begin(), one.requests.begin() + static_cast<ptrdiff_t>(requests),
                    other.requests.begin(), [](const TraceRequest& a, const TraceRequest& b) {
                      return a.record == b.record && a.value_bytes == b.value_bytes &&
                             a.time_s == b.time_s && a.ttl_s == b.ttl_s &&
                             a.operation == b.operation;
                    });
}

void Run(TraceOptions options, std::string_view bytes, bool is_oracle) {
  static const base::TestFolder folder;
  const std::string path = folder / (is_oracle ? "a.oracleGeneral" : "a");
  std::ofstream(path, std::ios::binary) << bytes;
  auto trace = ReadTrace(path, options);
  auto again = ReadTrace(path, options);
  WEFT_CHECK(trace.has_value() == again.has_value());
  if (!trace) {
    CheckFuzzError(trace.error(), path);
    WEFT_CHECK(trace.error().ToString() == again.error().ToString());
    return;
  }
  CheckFuzzTrace(*trace, options.limit);
  const size_t requests = trace->requests.size();
  WEFT_CHECK(again->requests.size() == requests && AreSameRequests(*trace, *again, requests));
  WEFT_CHECK(again->key_bytes == trace->key_bytes);
  // A limit leaves the beginning as it is.
  options.limit = (requests + 1) / 2;
  auto half = ReadTrace(path, options);
  WEFT_CHECK(half.has_value() && half->requests.size() == options.limit);
  WEFT_CHECK(AreSameRequests(*half, *trace, options.limit));
}

}  // namespace
}  // namespace weft::bench

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes < 2) return 0;
  weft::bench::Run(weft::bench::FuzzOptions(data[0], data[1]),
                   {reinterpret_cast<const char*>(data) + 2, bytes - 2}, (data[1] & 32) != 0);
  return 0;
}
