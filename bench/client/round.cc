#include "bench/client/round.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "bench/harness/payload.h"

namespace weft::bench {
namespace {

constexpr std::string_view kValueWord = "VALUE ";
constexpr std::string_view kEnd = "END\r\n";
constexpr std::string_view kStored = "STORED\r\n";
constexpr size_t kReplyLineMax = 2048;

std::string_view View(std::span<const char> bytes) { return {bytes.data(), bytes.size()}; }

// "VALUE <key> 0 <bytes>\r\n" into `out`; its length.
size_t WriteValueLine(uint32_t id, uint32_t key_bytes, uint32_t value_bytes, char* out) {
  char* at = out;
  std::memcpy(at, kValueWord.data(), kValueWord.size());
  at += kValueWord.size();
  WriteKey(id, at, key_bytes);
  at += key_bytes;
  std::memcpy(at, " 0 ", 3);
  at = fmt::format_to(at + 3, "{}", value_bytes);
  std::memcpy(at, "\r\n", 2);
  return static_cast<size_t>(at + 2 - out);
}

}  // namespace

uint32_t PayloadShape::ValueBytes(uint32_t id) const {
  if (value_bytes_min == value_bytes_max) return value_bytes_min;
  const double unit = static_cast<double>(base::Mix(id ^ 0xb5297a4d3f84d5b5u) >> 11) * 0x1p-53;
  const double span = std::log(static_cast<double>(value_bytes_max) / value_bytes_min);
  return static_cast<uint32_t>(value_bytes_min * std::exp(unit * span));
}

void Round::Clear() {
  request_.clear();
  ops_.clear();
  get_ids_.clear();
  get_hits_.clear();
}

void Round::AddGet(std::span<const uint32_t> ids) {
  const size_t start = request_.size();
  request_.resize(start + 3 + ids.size() * (1 + shape_.key_bytes) + 2);
  char* at = request_.data() + start;
  std::memcpy(at, "get", 3);
  at += 3;
  for (const uint32_t id : ids) {
    *at = ' ';
    WriteKey(id, at + 1, shape_.key_bytes);
    at += 1 + shape_.key_bytes;
    get_ids_.push_back(id);
    get_hits_.push_back(0);
  }
  std::memcpy(at, "\r\n", 2);
  ops_.push_back({false, static_cast<uint32_t>(ids.size())});
}

void Round::AddSet(uint32_t id, uint32_t ttl_s) {
  const uint32_t value_bytes = shape_.ValueBytes(id);
  char line[64];
  const char* line_end = fmt::format_to(line, " 0 {} {}\r\n", ttl_s, value_bytes);
  const auto line_bytes = static_cast<size_t>(line_end - line);
  const size_t start = request_.size();
  request_.resize(start + 4 + shape_.key_bytes + line_bytes + value_bytes + 2);
  char* at = request_.data() + start;
  std::memcpy(at, "set ", 4);
  WriteKey(id, at + 4, shape_.key_bytes);
  at += 4 + shape_.key_bytes;
  std::memcpy(at, line, line_bytes);
  at += line_bytes;
  WriteValue(id, at, value_bytes);
  std::memcpy(at + value_bytes, "\r\n", 2);
  ops_.push_back({true, 0});
}

void ReplyCounts::Merge(const ReplyCounts& other) {
  ops += other.ops;
  keys += other.keys;
  hits += other.hits;
  stored += other.stored;
  refused += other.refused;
  errors += other.errors;
  if (first_error.empty()) first_error = other.first_error;
}

void RoundReader::Start(Round* round, ReplyCounts* counts) {
  *this = RoundReader();
  round_ = round;
  counts_ = counts;
}

size_t RoundReader::Consume(std::span<const char> bytes) {
  size_t taken = 0;
  while (!done()) {
    const auto rest = bytes.subspan(taken);
    const size_t step = round_->ops_[op_].is_set ? ConsumeSet(rest) : ConsumeGet(rest);
    if (step == 0) break;
    taken += step;
  }
  return taken;
}

// One value, or the END: whichever is next. 0 when it has not all arrived.
size_t RoundReader::ConsumeGet(std::span<const char> bytes) {
  if (bytes.size() < kEnd.size()) return 0;
  if (bytes[0] == 'V') return ConsumeValue(bytes);
  if (View(bytes.first(kEnd.size())) != kEnd) return Fail(bytes, "neither VALUE nor END");
  get_id_ += round_->ops_[op_].keys - op_keys_;  // keys not named were misses
  FinishOp();
  return kEnd.size();
}

// The value must be of one of the keys still open, in the order of the request.
size_t RoundReader::ConsumeValue(std::span<const char> bytes) {
  const PayloadShape& shape = round_->shape_;
  char line[kValueWord.size() + kPayloadKeyBytesMax + 32];
  for (size_t skipped = 0; op_keys_ + skipped < round_->ops_[op_].keys; ++skipped) {
    const uint32_t id = round_->get_ids_[get_id_ + skipped];
    const uint32_t value_bytes = shape.ValueBytes(id);
    const size_t line_bytes = WriteValueLine(id, shape.key_bytes, value_bytes, line);
    if (bytes.size() < line_bytes + value_bytes + 2 &&
        std::memcmp(bytes.data(), line, std::min(bytes.size(), line_bytes)) == 0)
      return 0;
    if (bytes.size() < line_bytes || std::memcmp(bytes.data(), line, line_bytes) != 0) continue;
    const char* value = bytes.data() + line_bytes;
    if (!ValueMatches(id, value, value_bytes)) return Fail(bytes, "value of another key");
    if (std::memcmp(value + value_bytes, "\r\n", 2) != 0) return Fail(bytes, "value without end");
    round_->get_hits_[get_id_ + skipped] = 1;
    ++counts_->hits;
    get_id_ += skipped + 1;
    op_keys_ += static_cast<uint32_t>(skipped + 1);
    return line_bytes + value_bytes + 2;
  }
  return Fail(bytes, "unexpected key, flags or length");
}

size_t RoundReader::ConsumeSet(std::span<const char> bytes) {
  if (bytes.size() >= kStored.size() && View(bytes.first(kStored.size())) == kStored) {
    ++counts_->stored;
    FinishOp();
    return kStored.size();
  }
  const size_t end = View(bytes).find("\r\n");
  if (end == std::string_view::npos)
    return bytes.size() > kReplyLineMax ? Fail(bytes, "endless line") : 0;
  const std::string_view line = View(bytes.first(end));
  if (!line.starts_with("SERVER_ERROR") && line != "NOT_STORED")
    return Fail(bytes, "not an answer to a set");
  ++counts_->refused;
  FinishOp();
  return end + 2;
}

void RoundReader::FinishOp() {
  ++counts_->ops;
  counts_->keys += round_->ops_[op_].keys;
  ++op_;
  op_keys_ = 0;
}

size_t RoundReader::Fail(std::span<const char> bytes, const char* why) {
  failed_ = true;
  ++counts_->errors;
  if (counts_->first_error.empty()) {
    const std::string_view start = View(bytes.first(std::min<size_t>(bytes.size(), 60)));
    counts_->first_error = fmt::format("{}: \"{}\"", why, start);
  }
  return 0;
}

}  // namespace weft::bench
