#include "bench/workload/key_chooser.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace weft::bench {
namespace {

uint64_t High(uint64_t word, uint64_t below) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(word) * below >> 64);
}

}  // namespace

KeyChooser::KeyChooser(const KeyDistribution& keys, uint64_t start, uint32_t thread,
                       uint32_t threads)
    : keys_(keys),
      start_(start),
      threads_(threads),
      hot_(std::clamp(static_cast<uint64_t>(keys.hot_records * static_cast<double>(start)),
                      uint64_t{1}, std::max(start, uint64_t{1}))),
      permuted_bits_(std::bit_width(start - 1)),
      zipf_(keys.theta, keys.law == KeyLaw::kScrambledZipf ? keys.ranks : start),
      sequence_(thread) {
  WEFT_CHECK(start >= 1 && thread < threads);
}

uint64_t KeyChooser::Next(uint64_t records, base::Random& random) {
  WEFT_DCHECK(records >= start_);
  switch (keys_.law) {
    case KeyLaw::kUniform: return random.Below(records);
    case KeyLaw::kScrambledZipf: return Scrambled(zipf_.Rank(random), records);
    case KeyLaw::kZipf: return RankOf(records, random);
    case KeyLaw::kPermutedZipf: return Permuted(RankOf(records, random));
    case KeyLaw::kLatest: return records - 1 - RankOf(records, random);
    case KeyLaw::kHotspot: return NextHot(records, random);
    case KeyLaw::kExponential: return NextExponential(records, random);
    case KeyLaw::kSequential: {
      const uint64_t record = sequence_ % records;
      sequence_ = record + threads_;
      return record;
    }
  }
  return 0;
}

uint64_t KeyChooser::Permuted(uint64_t rank) const {
  if (rank >= start_) return rank;
  // A permutation of the words of so many bits, gone on with until it hits a record.
  const uint64_t mask = (uint64_t{1} << permuted_bits_) - 1;
  const int half = permuted_bits_ / 2 + 1;
  do {
    rank = (rank * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) & mask;
    rank ^= rank >> half;
    rank = rank * 0xd6e8feb86659fd93u & mask;
    rank ^= rank >> half;
  } while (rank >= start_);
  return rank;
}

uint64_t KeyChooser::Scrambled(uint64_t rank, uint64_t records) const {
  const uint64_t hash = base::Mix(rank + 0x9e3779b97f4a7c15u);
  const uint64_t home = High(hash, start_);
  if (records == start_) return home;
  // Low bits name the doubling, if the record is there by now; high ones have named the home.
  uint64_t mask = 1;
  while (start_ * (mask + 1) < records) mask = mask * 2 + 1;
  const uint64_t record = home + start_ * (hash & mask);
  return record < records ? record : home + start_ * (hash & mask >> 1);
}

uint64_t KeyChooser::NextHot(uint64_t records, base::Random& random) const {
  if (records == hot_ || random.Unit() < keys_.hot_operations) return random.Below(hot_);
  return hot_ + random.Below(records - hot_);
}

uint64_t KeyChooser::NextExponential(uint64_t records, base::Random& random) const {
  // Given that the distance is below `records`; YCSB draws again where it is not.
  const auto count = static_cast<double>(records);
  const double slope = -std::log1p(-keys_.percentile / 100) / (count * keys_.fraction);
  const double mass = -std::expm1(-slope * count);
  const double distance = -std::log1p(-random.Unit() * mass) / slope;
  return records - 1 - std::min(static_cast<uint64_t>(distance), records - 1);
}

}  // namespace weft::bench
