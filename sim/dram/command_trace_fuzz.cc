// Any bytes as the commands of a channel: the first byte says of which memory. What is read is the
// same when it is written and read again, and the checker has an opinion of it; an error names its
// line.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "sim/dram/command_checker.h"
#include "sim/dram/command_trace.h"
#include "sim/dram/preset.h"

namespace weft::sim {
namespace {

constexpr size_t kMessageBytesMax = 400;
constexpr const char* kPresets[] = {"ddr3-1333-2gb-x8-sg15e", "ddr4-3200-8gb-x8", "hbm3-6400"};

void CheckMessage(const Status& error, std::string_view text) {
  WEFT_CHECK(error.code() == Code::kInvalidArgument);
  const std::string_view message = error.message();
  WEFT_CHECK(message.size() <= kMessageBytesMax && message.starts_with("trace:"));
  WEFT_CHECK(
      std::all_of(message.begin(), message.end(), [](char c) { return c >= 32 && c < 127; }));
  uint64_t line = 0;
  const auto [stop, failure] =
      std::from_chars(message.data() + 6, message.data() + message.size(), line);
  WEFT_CHECK(failure == std::errc() && *stop == ':' && line >= 1);
  WEFT_CHECK(line <= static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')) + 1);
}

void Judge(const Preset& preset, bool refreshes, const std::vector<IssuedCommand>& commands) {
  CommandChecker checker(preset.organization, preset.timing, refreshes);
  for (const IssuedCommand& issued : commands) checker.Check(issued);
  if (!commands.empty()) checker.Finish(commands.back().clock);
  WEFT_CHECK(checker.commands() == commands.size());
  WEFT_CHECK(checker.violations().size() <= CommandChecker::kViolationsMax);
  uint64_t last = 0;
  for (const Violation& violation : checker.violations()) {
    WEFT_CHECK(violation.index >= last && violation.index <= commands.size());
    WEFT_CHECK(!violation.rule.empty());
    last = violation.index;
  }
}

void Run(uint8_t choice, const std::string& text) {
  std::istringstream in(text);
  const auto commands = ReadCommandTrace(in, "trace");
  if (!commands) return CheckMessage(commands.error(), text);
  std::string written;
  for (const IssuedCommand& issued : commands.value()) written += ToTraceLine(issued);
  std::istringstream once_more(written);
  const auto again = ReadCommandTrace(once_more, "trace");
  WEFT_CHECK(again.has_value() && again.value() == commands.value());
  const Result<Preset> preset = FindPreset(kPresets[choice % 3]);
  WEFT_CHECK(preset.has_value());
  Judge(preset.value(), choice / 3 % 2 == 0, commands.value());
}

}  // namespace
}  // namespace weft::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  weft::sim::Run(data[0], {reinterpret_cast<const char*>(data) + 1, bytes - 1});
  return 0;
}
