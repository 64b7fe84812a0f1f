#include "sim/trace/value_mix.h"

#include <array>

#include <fmt/format.h>

#include "sim/dram/words.h"

namespace weft::sim {
namespace {

// Percent of operations: reads and writes of 128, of 256, of 512 bytes.
constexpr std::array<std::array<double, 6>, kMixes> kPaperMixes = {{
    {96.7, 0.8, 1.5, 0.1, 0.6, 0.5},
    {70.0, 9.5, 7.4, 2.4, 8.2, 2.7},
    {34.1, 34.0, 10.4, 5.5, 10.3, 5.7},
    {37.2, 19.3, 24.4, 5.1, 8.7, 5.3},
    {13.4, 10.5, 61.6, 12.5, 1.5, 0.5},
    {15.0, 10.0, 37.5, 27.5, 7.5, 2.5},
    {17.4, 6.6, 38.2, 15.6, 15.2, 7.1},
    {8.0, 5.0, 32.5, 22.5, 27.0, 5.0},
    {17.1, 5.1, 13.1, 5.0, 58.6, 1.3},
    {7.5, 2.5, 15.0, 10.0, 37.5, 27.5},
    {5.7, 1.1, 19.8, 7.7, 54.8, 11.2},
    {6.4, 5.2, 7.3, 6.8, 37.8, 36.8},
}};

}  // namespace

double ValueMix::MeanValueBytes() const {
  double mean = 0;
  for (const ValueClass& cls : classes) mean += cls.share() * cls.value_bytes;
  return mean;
}

double ValueMix::writes() const {
  double writes = 0;
  for (const ValueClass& cls : classes) writes += cls.writes;
  return writes;
}

Result<ValueMix> ParseValueMix(std::string_view text) {
  constexpr std::string_view kFixed = "fixed:";
  ValueMix mix;
  if (text.starts_with(kFixed)) {
    int bytes = 0;
    if (!ParseWhole(text.substr(kFixed.size()), 10, bytes) || bytes < 1 || bytes > kValueBytesMax) {
      return Status(Code::kInvalidArgument,
                    fmt::format("mix '{}': values have 1 to {} bytes", text, kValueBytesMax));
    }
    mix.classes.push_back({bytes, 1, 0});
    return mix;
  }
  int number = 0;
  if (!ParseWhole(text, 10, number) || number < 1 || number > kMixes) {
    return Status(Code::kInvalidArgument,
                  fmt::format("mix '{}' is neither 1 to {} nor fixed:BYTES", text, kMixes));
  }
  const std::array<double, 6>& percent = kPaperMixes[static_cast<size_t>(number) - 1];
  double sum = 0;
  for (double share : percent) sum += share;
  for (size_t i = 0; i < 3; ++i) {
    mix.classes.push_back({128 << i, percent[2 * i] / sum, percent[2 * i + 1] / sum});
  }
  return mix;
}

}  // namespace weft::sim
