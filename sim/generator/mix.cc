#include "sim/generator/mix.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"

namespace weft::sim {
namespace {

// Percent of the operations: gets and puts of 128, of 256 and of 512 bytes.
using Row = std::array<double, 6>;
constexpr std::array<Row, kMixes> kRows = {{
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
constexpr std::string_view kFixed = "fixed:";

}  // namespace

Mix::Mix(std::vector<Size> percents) : sizes_(std::move(percents)) {
  double sum = 0;
  for (const Size& size : sizes_) sum += size.gets + size.puts;
  double before = 0;
  for (Size& size : sizes_) {
    for (double* share : {&size.gets, &size.puts}) {
      *share /= sum;
      before += *share;
      ends_.push_back(before < 1 ? static_cast<uint64_t>(std::ldexp(before, 64)) : UINT64_MAX);
    }
  }
}

Result<Mix> Mix::Find(std::string_view name) {
  int number = 0;
  if (name.starts_with(kFixed)) {
    if (!base::ParseNumber(name.substr(kFixed.size()), &number) || number < 1 ||
        number > kValueBytesMax) {
      return Status(Code::kInvalidArgument,
                    fmt::format("mix '{}': a value must have 1 to {} bytes", name, kValueBytesMax));
    }
    return Mix({{number, 1, 0}});
  }
  if (!base::ParseNumber(name, &number) || number < 1 || number > kMixes) {
    return Status(Code::kInvalidArgument,
                  fmt::format("mix '{}' is not from 1 to {}, nor fixed:BYTES", name, kMixes));
  }
  const Row& row = kRows[static_cast<size_t>(number - 1)];
  return Mix({{128, row[0], row[1]}, {256, row[2], row[3]}, {512, row[4], row[5]}});
}

double Mix::AverageValueBytes() const {
  double average = 0;
  for (const Size& size : sizes_) average += size.value_bytes * (size.gets + size.puts);
  return average;
}

double Mix::PutShare() const {
  double share = 0;
  for (const Size& size : sizes_) share += size.puts;
  return share;
}

Mix::Drawn Mix::Draw(uint64_t word) const {
  size_t kind = 0;
  while (kind + 1 < ends_.size() && word >= ends_[kind]) ++kind;
  // Rounding may leave a rest behind the last kind that there is.
  while (kind > 0 && (kind % 2 == 0 ? sizes_[kind / 2].gets : sizes_[kind / 2].puts) == 0) --kind;
  return {static_cast<int>(kind / 2), kind % 2 == 0 ? OpType::kGet : OpType::kPut};
}

}  // namespace weft::sim
