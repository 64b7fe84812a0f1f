// bench/workload/size_distribution.h: how long keys, values or scans are: a size follows from a
// word, so whoever knows the word knows the size.
//
// As text, read and printed alike:
//
//     1000                          always
//     uniform 10 2000               each size from 10 to 2000 as often
//     log-uniform 16 4096           each doubling as often
//     16:0.4 64:0.3 1024:0.3        these sizes, with these weights
//     pareto 214.476 0.348238 8 1048576   8 and more, by a generalised Pareto law with this scale
//                                         and shape, given that it is at most 1048576
//
// Units     bytes, or records of a scan.
// Threads   a value; const calls from any.
// Errors    kInvalidArgument from Parse, with what is wrong.
// Cost      a few instructions for sizes that are all the same or uniform; one exponential for
//           log-uniform, a logarithm more for pareto; a bisection where sizes are listed.
// Source    B. Atikoglu et al., Workload Analysis of a Large-Scale Key-Value Store, SIGMETRICS'12,
//           section 5: values of Facebook's pool ETC follow the law above, from 0 on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.h"

namespace weft::bench {

inline constexpr uint32_t kSizeMax = 1u << 30;

class SizeDistribution {
 public:
  struct Weighted {
    uint32_t size;
    double weight;
  };

  // REQUIRES (all): sizes up to kSizeMax, min <= max; log-uniform: min >= 1; listed: one or more,
  // different sizes with weights above 0; pareto: scale > 0, 0 <= shape <= 10
  static SizeDistribution Fixed(uint32_t size) { return {Kind::kFixed, size, size}; }
  static SizeDistribution Uniform(uint32_t min, uint32_t max);
  static SizeDistribution LogUniform(uint32_t min, uint32_t max);
  static SizeDistribution Listed(std::vector<Weighted> list);
  static SizeDistribution Pareto(double scale, double shape, uint32_t min, uint32_t max);

  static Result<SizeDistribution> Parse(std::string_view text);
  std::string ToText() const;

  // REQUIRES: `word` is as good as random (Mix)
  uint32_t Of(uint64_t word) const { return kind_ == Kind::kFixed ? min_ : Draw(word); }
  uint32_t min() const { return min_; }
  uint32_t max() const { return max_; }
  bool is_fixed() const { return min_ == max_; }

  // How often a size is drawn.
  double Probability(uint32_t size) const;
  // Looks at each size from min to max.
  double Mean() const;

 private:
  enum class Kind : uint8_t { kFixed, kUniform, kLogUniform, kListed, kPareto };
  struct List {
    std::vector<Weighted> given;
    std::vector<uint64_t> ends;  // words below it, and not below the one before, are of that size
  };

  SizeDistribution(Kind kind, uint32_t min, uint32_t max) : kind_(kind), min_(min), max_(max) {}

  static Result<SizeDistribution> ParseList(std::string_view text);
  static Result<SizeDistribution> ParsePareto(const std::vector<std::string_view>& words);
  uint32_t Draw(uint64_t word) const;
  // Pareto: the share of sizes below min_ + `above`, if there were no largest.
  double ParetoBelow(double above) const;

  Kind kind_;
  uint32_t min_;
  uint32_t max_;
  double scale_ = 0;  // pareto
  double shape_ = 0;
  double mass_ = 0;  // pareto: ParetoBelow of all sizes; log-uniform: ln((max + 1) / min)
  std::shared_ptr<const List> list_;
};

}  // namespace weft::bench
