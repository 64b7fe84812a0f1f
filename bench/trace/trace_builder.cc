#include "bench/trace/trace_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace weft::bench {
namespace {

static_assert(sizeof(TraceRequest) == 20, "as trace.h says");
static_assert(kTraceKeyBytesMax <= UINT8_MAX, "a key's length is a byte");

uint32_t Within(uint64_t bytes, uint32_t least, uint32_t most) {
  return static_cast<uint32_t>(std::clamp<uint64_t>(bytes, least, most));
}

// 0 stays: the trace says it.
uint32_t WithinUnlessZero(uint32_t bytes, uint32_t least, uint32_t most) {
  return bytes == 0 ? 0 : Within(bytes, least, most);
}

}  // namespace

TraceBuilder::TraceBuilder(std::string name, const TraceOptions& options)
    : value_bytes_(WithinUnlessZero(options.value_bytes, kTraceValueBytesMin, kTraceValueBytesMax)),
      key_bytes_(WithinUnlessZero(options.key_bytes, kTraceKeyBytesMin, kTraceKeyBytesMax)) {
  trace_.name = std::move(name);
}

std::string TraceBuilder::NoteTime(uint64_t time_s) {
  if (trace_.requests.empty()) first_time_s_ = last_time_s_ = time_s;
  if (time_s < last_time_s_ && last_time_s_ - time_s > kFallSecondsMax) {
    return fmt::format("its time {} is {} s before the previous request's", time_s,
                       last_time_s_ - time_s);
  }
  if (time_s > first_time_s_ && time_s - first_time_s_ > UINT32_MAX) {
    return fmt::format("its time {} is more than {} s after the first request's, {}", time_s,
                       UINT32_MAX, first_time_s_);
  }
  last_time_s_ = std::max(last_time_s_, time_s);
  return "";
}

uint32_t TraceBuilder::RecordOf(const ReadRequest& request) {
  const auto [at, is_new] = record_of_key_.try_emplace(request.key, trace_.records());
  if (is_new) {
    const uint32_t said = request.key_bytes != 0 ? request.key_bytes : kKeyBytes;
    const uint32_t bytes =
        key_bytes_ != 0 ? key_bytes_ : Within(said, kTraceKeyBytesMin, kTraceKeyBytesMax);
    trace_.key_bytes.push_back(static_cast<uint8_t>(bytes));
    known_.push_back({.value_bytes = kValueBytes, .ttl_s = 0});
  }
  return at->second;
}

uint32_t TraceBuilder::ValueBytesOf(const ReadRequest& request, Known* known) const {
  if (value_bytes_ != 0) return value_bytes_;
  if (request.value_bytes) {
    known->value_bytes = Within(*request.value_bytes, kTraceValueBytesMin, kTraceValueBytesMax);
  }
  return known->value_bytes;
}

uint32_t TraceBuilder::TtlOf(const ReadRequest& request, Known* known) {
  if (request.operation == TraceOperation::kDelete) return 0;  // stores nothing
  const bool is_said = request.operation == TraceOperation::kSet || request.ttl_s != 0;
  if (is_said) known->ttl_s = request.ttl_s;
  return known->ttl_s;
}

std::string TraceBuilder::Add(const ReadRequest& request) {
  std::string wrong = NoteTime(request.time_s);
  if (!wrong.empty()) return wrong;
  const uint32_t record = RecordOf(request);
  if (trace_.records() == UINT32_MAX) return "the trace has too many keys";
  Known* known = &known_[record];
  TraceRequest added{.record = record,
                     .value_bytes = ValueBytesOf(request, known),
                     .time_s = static_cast<uint32_t>(last_time_s_ - first_time_s_),
                     .ttl_s = TtlOf(request, known),
                     .operation = request.operation};
  trace_.has_ttls |= added.ttl_s != 0;
  trace_.requests.push_back(added);
  return "";
}

Trace TraceBuilder::Take() {
  trace_.requests.shrink_to_fit();
  trace_.key_bytes.shrink_to_fit();
  return std::move(trace_);
}

}  // namespace weft::bench
