// Any bytes as a memory's file. A memory that is read can be written and read again, and is the
// same; a controller serves reads and writes of it under the rules of its timing, and their energy
// is a finite number. An error is one line, and names a line that is there, or what is missing.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sim/dram/command_checker.h"
#include "sim/dram/energy.h"
#include "sim/dram/memory.h"
#include "sim/dram/memory_file.h"

namespace weft::sim {
namespace {

constexpr size_t kMessageBytesMax = 500;

void CheckMessage(const Status& error, std::string_view text) {
  WEFT_CHECK(error.code() == Code::kInvalidArgument);
  const std::string_view message = error.message();
  WEFT_CHECK(message.size() <= kMessageBytesMax && message.starts_with("memory:"));
  WEFT_CHECK(
      std::all_of(message.begin(), message.end(), [](char c) { return c >= 32 && c < 127; }));
  if (message.starts_with("memory: [")) return;
  uint64_t line = 0;
  const auto [stop, failure] =
      std::from_chars(message.data() + 7, message.data() + message.size(), line);
  WEFT_CHECK(failure == std::errc() && *stop == ':' && line >= 1);
  WEFT_CHECK(line <= static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')) + 1);
}

// Reads and writes of a few rows, some of which conflict.
void Serve(const Preset& preset) {
  CommandChecker checker(preset.organization, preset.timing, false);
  Memory memory(preset, Interleave::kRank, {.refreshes = false},
                [&](int, const IssuedCommand& issued) { checker.Check(issued); });
  constexpr uint64_t kRequests = 24;
  const uint64_t lines = preset.organization.lines();
  for (uint64_t id = 0; id < kRequests; ++id) {
    const uint64_t line = id * id * 0x9E3779B97F4A7C15 % lines;
    WEFT_CHECK(memory.Accept(id, line, id % 3 == 0, 0, kNever) != Memory::kNone);
  }
  memory.EndRequests();
  memory.AdvanceUntilServed();
  checker.Finish(memory.channel(0).now());
  WEFT_CHECK(checker.violations().empty());
  WEFT_CHECK(memory.channel(0).completions().size() == kRequests);
  if (!preset.currents) return;
  const EnergyCosts costs = CostsOf(preset.organization, preset.timing, *preset.currents);
  const double energy_nj = EnergyOf(costs, memory.channel(0).Counts()).total_nj();
  WEFT_CHECK(std::isfinite(energy_nj) && energy_nj > 0);
}

void Run(const std::string& text) {
  std::istringstream in(text);
  const Result<Preset> preset = ReadMemory(in, "memory");
  if (!preset) return CheckMessage(preset.error(), text);
  WEFT_CHECK(Validate(preset.value().organization).ok());
  std::istringstream once_more(ToMemoryText(preset.value()));
  const Result<Preset> again = ReadMemory(once_more, "memory");
  WEFT_CHECK(again.has_value());
  WEFT_CHECK(again.value().organization == preset.value().organization);
  WEFT_CHECK(again.value().timing == preset.value().timing);
  WEFT_CHECK(again.value().currents == preset.value().currents);
  if (Validate(preset.value(), ControllerOptions{.refreshes = false}).ok()) Serve(preset.value());
}

}  // namespace
}  // namespace weft::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  weft::sim::Run({reinterpret_cast<const char*>(data), bytes});
  return 0;
}
