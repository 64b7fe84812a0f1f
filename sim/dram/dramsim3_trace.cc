#include "sim/dram/dramsim3_trace.h"

#include <array>
#include <cerrno>
#include <string_view>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "sim/base/words.h"
#include "sim/dram/organization.h"

namespace weft::sim {
namespace {

// What is wrong with it, or "".
std::string ParseRequest(std::string_view text, TraceRequest& request) {
  std::array<std::string_view, 4> words;
  for (std::string_view& word : words) word = TakeWord(text);
  if (words[2].empty() || !words[3].empty()) {
    return "a line must be: 0xADDRESS READ|WRITE CLOCK";
  }
  std::string_view digits = words[0];
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  uint64_t address = 0;
  if (!base::ParseNumber(digits, &address, 16)) {
    return Quoted(words[0]) + " is not a hexadecimal address of 64 bits";
  }
  request.line = address / kLineBytes;
  request.is_write = words[1] == "WRITE";
  if (!request.is_write && words[1] != "READ") {
    return Quoted(words[1]) + " is neither READ nor WRITE";
  }
  if (!base::ParseNumber(words[2], &request.clock) || request.clock < 0) {
    return Quoted(words[2]) + " is not a clock";
  }
  return "";
}

}  // namespace

Result<Dramsim3Trace> Dramsim3Trace::Open(const std::string& path, uint64_t lines) {
  std::ifstream in(path);
  if (!in) return Status::FromErrno("open " + path, errno);
  return Dramsim3Trace(std::move(in), path, lines);
}

Result<std::optional<TraceRequest>> Dramsim3Trace::Next() {
  std::string_view line;
  do {
    const Result<std::optional<std::string_view>> next = text_.Next(in_);
    if (!next) return next.error();
    if (!next.value()) return std::optional<TraceRequest>();
    line = *next.value();
  } while (line.find_first_not_of(" \t\r") == line.npos);
  TraceRequest request;
  const std::string wrong = ParseRequest(line, request);
  if (!wrong.empty()) return Wrong(wrong);
  if (request.line >= lines_) {
    return Wrong(fmt::format("address {:#x} is beyond the memory, which has {:#x} bytes",
                             request.line * kLineBytes, lines_ * kLineBytes));
  }
  if (request.clock < last_clock_) {
    return Wrong(
        fmt::format("clock {} is before the previous line's, {}", request.clock, last_clock_));
  }
  last_clock_ = request.clock;
  return std::optional<TraceRequest>(request);
}

}  // namespace weft::sim
