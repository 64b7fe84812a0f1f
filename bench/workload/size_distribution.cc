#include "bench/workload/size_distribution.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "bench/workload/words.h"

namespace weft::bench {
namespace {

constexpr double kShapeMax = 10;

Status BadSize(std::string_view text, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("size '{}': {}", text, why)};
}

std::optional<uint32_t> SizeOf(std::string_view word) {
  const std::optional<uint64_t> count = CountOf(word);
  if (!count || *count > kSizeMax) return std::nullopt;
  return static_cast<uint32_t>(*count);
}

double UnitOf(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// Rounding may lead a hair past the last size.
uint32_t AtMost(double size, uint32_t max) {
  return size >= max ? max : static_cast<uint32_t>(size);
}

}  // namespace

SizeDistribution SizeDistribution::Uniform(uint32_t min, uint32_t max) {
  WEFT_CHECK(min <= max && max <= kSizeMax);
  return {Kind::kUniform, min, max};
}

SizeDistribution SizeDistribution::LogUniform(uint32_t min, uint32_t max) {
  WEFT_CHECK(min >= 1 && min <= max && max <= kSizeMax);
  SizeDistribution sizes(Kind::kLogUniform, min, max);
  sizes.mass_ = std::log((max + 1.0) / min);
  return sizes;
}

SizeDistribution SizeDistribution::Listed(std::vector<Weighted> list) {
  WEFT_CHECK(!list.empty());
  double sum = 0;
  SizeDistribution sizes(Kind::kListed, list[0].size, list[0].size);
  for (const Weighted& each : list) {
    WEFT_CHECK(each.weight > 0 && each.size <= kSizeMax);
    sum += each.weight;
    sizes.min_ = std::min(sizes.min_, each.size);
    sizes.max_ = std::max(sizes.max_, each.size);
  }
  List made;
  double before = 0;
  for (const Weighted& each : list) {
    before += each.weight;
    made.ends.push_back(
        static_cast<uint64_t>(std::min(before / sum * 0x1p64, 0x1.fffffffffffffp63)));
  }
  made.ends.back() = UINT64_MAX;
  made.given = std::move(list);
  sizes.list_ = std::make_shared<const List>(std::move(made));
  return sizes;
}

SizeDistribution SizeDistribution::Pareto(double scale, double shape, uint32_t min, uint32_t max) {
  WEFT_CHECK(scale > 0 && shape >= 0 && shape <= kShapeMax);
  WEFT_CHECK(min <= max && max <= kSizeMax);
  SizeDistribution sizes(Kind::kPareto, min, max);
  sizes.scale_ = scale;
  sizes.shape_ = shape;
  sizes.mass_ = sizes.ParetoBelow(max - min + 1.0);
  return sizes;
}

double SizeDistribution::ParetoBelow(double above) const {
  if (shape_ == 0) return -std::expm1(-above / scale_);
  return -std::expm1(-std::log1p(shape_ * above / scale_) / shape_);
}

uint32_t SizeDistribution::Draw(uint64_t word) const {
  switch (kind_) {
    case Kind::kFixed: return min_;
    case Kind::kUniform: {
      const uint64_t sizes = uint64_t{max_} - min_ + 1;
      return min_ + static_cast<uint32_t>(static_cast<unsigned __int128>(word) * sizes >> 64);
    }
    case Kind::kLogUniform: return AtMost(min_ * std::exp(UnitOf(word) * mass_), max_);
    case Kind::kListed: {
      const auto& ends = list_->ends;
      const auto end = std::upper_bound(ends.begin(), ends.end() - 1, word);
      return list_->given[static_cast<size_t>(end - ends.begin())].size;
    }
    case Kind::kPareto: {
      const double tail = -std::log1p(-UnitOf(word) * mass_);
      const double above = shape_ == 0 ? tail : std::expm1(shape_ * tail) / shape_;
      return AtMost(min_ + scale_ * above, max_);
    }
  }
  return min_;
}

double SizeDistribution::Probability(uint32_t size) const {
  if (size < min_ || size > max_) return 0;
  switch (kind_) {
    case Kind::kFixed: return 1;
    case Kind::kUniform: return 1 / (max_ - min_ + 1.0);
    case Kind::kLogUniform: return std::log1p(1.0 / size) / mass_;
    case Kind::kListed: {
      double sum = 0;
      double weight = 0;
      for (const Weighted& each : list_->given) {
        sum += each.weight;
        if (each.size == size) weight += each.weight;
      }
      return weight / sum;
    }
    case Kind::kPareto: return (ParetoBelow(size - min_ + 1.0) - ParetoBelow(size - min_)) / mass_;
  }
  return 0;
}

double SizeDistribution::Mean() const {
  double mean = 0;
  if (kind_ == Kind::kListed) {
    double sum = 0;
    for (const Weighted& each : list_->given) {
      sum += each.weight;
      mean += each.weight * each.size;
    }
    return mean / sum;
  }
  if (kind_ == Kind::kUniform) return min_ + (max_ - min_) / 2.0;
  for (uint64_t size = min_; size <= max_; ++size)
    mean += static_cast<double>(size) * Probability(static_cast<uint32_t>(size));
  return mean;
}

Result<SizeDistribution> SizeDistribution::Parse(std::string_view text) {
  const std::vector<std::string_view> words = WordsOf(text);
  if (words.empty()) return BadSize(text, "it is empty");
  if (words[0] == "pareto") return ParsePareto(words);
  if (words[0] == "uniform" || words[0] == "log-uniform") {
    const auto min = words.size() == 3 ? SizeOf(words[1]) : std::nullopt;
    const auto max = words.size() == 3 ? SizeOf(words[2]) : std::nullopt;
    if (!min || !max)
      return BadSize(text, fmt::format("{} needs a smallest and a largest size, up to {}", words[0],
                                       kSizeMax));
    if (*min > *max) return BadSize(text, "the smallest is above the largest");
    if (words[0] == "uniform") return Uniform(*min, *max);
    if (*min == 0) return BadSize(text, "log-uniform must begin at 1 or more");
    return LogUniform(*min, *max);
  }
  if (words[0].find(':') != std::string_view::npos) return ParseList(text);
  const std::optional<uint32_t> size = SizeOf(words[0]);
  if (!size || words.size() != 1)
    return BadSize(text, fmt::format("it is neither a number up to {}, nor 'uniform 10 2000', "
                                     "'log-uniform 16 4096', '16:0.4 64:0.6' or "
                                     "'pareto 214.476 0.348238 8 1048576'",
                                     kSizeMax));
  return Fixed(*size);
}

Result<SizeDistribution> SizeDistribution::ParseList(std::string_view text) {
  std::vector<Weighted> list;
  for (const std::string_view word : WordsOf(text)) {
    const std::vector<std::string_view> parts = PartsOf(word, ':');
    const auto size = parts.size() == 2 ? SizeOf(parts[0]) : std::nullopt;
    const double weight = parts.size() == 2 ? NumberOf(parts[1]).value_or(0) : 0;
    if (!size || weight <= 0)
      return BadSize(text,
                     fmt::format("'{}' is not a size up to {} and a weight above 0, such as 16:0.4",
                                 word, kSizeMax));
    for (const Weighted& other : list)
      if (other.size == *size) return BadSize(text, fmt::format("{} is given twice", *size));
    list.push_back({*size, weight});
  }
  return Listed(std::move(list));
}

Result<SizeDistribution> SizeDistribution::ParsePareto(const std::vector<std::string_view>& words) {
  const std::string text = fmt::format("{}", fmt::join(words, " "));
  if (words.size() != 5)
    return BadSize(text, "pareto needs a scale, a shape, a smallest and a largest size");
  const std::optional<double> scale = NumberOf(words[1]);
  const std::optional<double> shape = NumberOf(words[2]);
  if (!scale || *scale <= 0) return BadSize(text, "the scale must be a number above 0");
  if (!shape || *shape < 0 || *shape > kShapeMax)
    return BadSize(text, fmt::format("the shape must be a number from 0 to {}", kShapeMax));
  const std::optional<uint32_t> min = SizeOf(words[3]);
  const std::optional<uint32_t> max = SizeOf(words[4]);
  if (!min || !max) return BadSize(text, fmt::format("sizes must be numbers up to {}", kSizeMax));
  if (*min > *max) return BadSize(text, "the smallest is above the largest");
  return Pareto(*scale, *shape, *min, *max);
}

std::string SizeDistribution::ToText() const {
  switch (kind_) {
    case Kind::kFixed: return fmt::format("{}", min_);
    case Kind::kUniform: return fmt::format("uniform {} {}", min_, max_);
    case Kind::kLogUniform: return fmt::format("log-uniform {} {}", min_, max_);
    case Kind::kPareto: return fmt::format("pareto {} {} {} {}", scale_, shape_, min_, max_);
    case Kind::kListed: break;
  }
  std::string text;
  for (const Weighted& each : list_->given)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", each.size, each.weight);
  return text;
}

}  // namespace weft::bench
