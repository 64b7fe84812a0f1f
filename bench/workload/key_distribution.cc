#include "bench/workload/key_distribution.h"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/zipf_sampler.h"
#include "bench/workload/words.h"

namespace weft::bench {
namespace {

using Words = std::vector<std::string_view>;

struct Named {
  std::string_view name;
  KeyLaw law;
};
constexpr std::array<Named, 8> kLaws = {{{"sequential", KeyLaw::kSequential},
                                         {"uniform", KeyLaw::kUniform},
                                         {"zipf", KeyLaw::kZipf},
                                         {"permuted-zipf", KeyLaw::kPermutedZipf},
                                         {"scrambled-zipf", KeyLaw::kScrambledZipf},
                                         {"latest", KeyLaw::kLatest},
                                         {"hotspot", KeyLaw::kHotspot},
                                         {"exponential", KeyLaw::kExponential}}};

Status BadKeys(std::string_view text, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("keys '{}': {}", text, why)};
}

// Two numbers behind the law's name, the first below `first_end`, the second below or at 1.
Status ParsePair(std::string_view text, const Words& words, const char* what, double first_end,
                 double* first, double* second) {
  const auto one = words.size() == 3 ? NumberOf(words[1]) : std::nullopt;
  const auto other = words.size() == 3 ? NumberOf(words[2]) : std::nullopt;
  if (!one || !other || *one <= 0 || *one >= first_end || *other <= 0 || *other > 1)
    return BadKeys(text, what);
  *first = *one;
  *second = *other;
  return Status::Ok();
}

Status ParseZipf(std::string_view text, const Words& words, KeyDistribution* keys) {
  const bool has_ranks = keys->law == KeyLaw::kScrambledZipf && words.size() == 4;
  const auto theta = words.size() >= 2 ? NumberOf(words[1]) : std::nullopt;
  if (!theta || (words.size() != 2 && !has_ranks) || *theta < base::kZipfThetaMin ||
      *theta > base::kZipfThetaMax)
    return BadKeys(text, fmt::format("{} needs theta, a number from {} to {}", words[0],
                                     base::kZipfThetaMin, base::kZipfThetaMax));
  keys->theta = *theta;
  if (!has_ranks) return Status::Ok();
  const auto ranks = words[2] == "of" ? CountOf(words[3]) : std::nullopt;
  if (!ranks || *ranks < 1 || *ranks > base::kZipfRanksMax)
    return BadKeys(text, fmt::format("after theta comes 'of' and a number of ranks, up to {}",
                                     base::kZipfRanksMax));
  keys->ranks = *ranks;
  return Status::Ok();
}

}  // namespace

Result<KeyDistribution> KeyDistribution::Parse(std::string_view text) {
  const Words words = WordsOf(text);
  if (words.empty()) return BadKeys(text, "it is empty");
  KeyDistribution keys;
  const Named* named = nullptr;
  std::string names;
  for (const Named& each : kLaws) {
    if (each.name == words[0]) named = &each;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
  }
  if (named == nullptr) return BadKeys(text, "it must begin with one of: " + names);
  keys.law = named->law;
  Status status;
  switch (keys.law) {
    case KeyLaw::kSequential:
    case KeyLaw::kUniform:
      if (words.size() != 1) status = BadKeys(text, fmt::format("{} takes nothing more", words[0]));
      break;
    case KeyLaw::kHotspot:
      status = ParsePair(text, words, "hotspot needs two shares, of records and of operations", 1,
                         &keys.hot_records, &keys.hot_operations);
      break;
    case KeyLaw::kExponential:
      status = ParsePair(text, words, "exponential needs a percentile below 100 and a fraction",
                         100, &keys.percentile, &keys.fraction);
      break;
    default: status = ParseZipf(text, words, &keys);
  }
  if (!status.ok()) return status;
  return keys;
}

std::string KeyDistribution::ToText() const {
  std::string_view name;
  for (const Named& each : kLaws)
    if (each.law == law) name = each.name;
  switch (law) {
    case KeyLaw::kSequential:
    case KeyLaw::kUniform: return std::string(name);
    case KeyLaw::kHotspot: return fmt::format("{} {} {}", name, hot_records, hot_operations);
    case KeyLaw::kExponential: return fmt::format("{} {} {}", name, percentile, fraction);
    case KeyLaw::kScrambledZipf:
      if (ranks != KeyDistribution().ranks) return fmt::format("{} {} of {}", name, theta, ranks);
      [[fallthrough]];
    default: return fmt::format("{} {}", name, theta);
  }
}

}  // namespace weft::bench
