#include "planner/profiler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "planner/popularity.h"

namespace weft::planner {
namespace {

using Field = uint64_t WorkloadCounts::*;
constexpr Field kFields[] = {
    &WorkloadCounts::batches,        &WorkloadCounts::groups,      &WorkloadCounts::queries,
    &WorkloadCounts::deletes,        &WorkloadCounts::stores,      &WorkloadCounts::misses,
    &WorkloadCounts::key_bytes,      &WorkloadCounts::values,      &WorkloadCounts::value_bytes,
    &WorkloadCounts::change_squares, &WorkloadCounts::key_squares, &WorkloadCounts::value_squares,
    &WorkloadCounts::pairs,          &WorkloadCounts::equal_pairs, &WorkloadCounts::triples,
    &WorkloadCounts::equal_triples};

constexpr double kChange = 0.1;         // of a share or mean, paper 000
constexpr double kShareChange = 0.01;   // of all queries: fewer are no other workload
constexpr double kEqualChange = 0.3;    // of the share of equal pairs: 0.05 of the exponent
constexpr int kTriesMax = 64;           // to read what is being written: it takes some nanoseconds
constexpr uint64_t kGroupsToJudge = 8;  // by how far these differ
constexpr double kSquareMax = 1e15;     // what is more would overflow sums

void CountCommand(const cache::Command& command, WorkloadCounts* counts) {
  if (command.verb == cache::Verb::kRead) return;
  if (command.verb == cache::Verb::kDelete) {
    counts->deletes++;
    return;
  }
  counts->stores++;
  if (command.verb == cache::Verb::kTouch) return;
  counts->values++;
  counts->value_bytes += command.value.size();  // that of arithmetic is in its reply
}

void CountDone(const pipeline::Batch& batch, WorkloadCounts* counts) {
  for (uint32_t i = 0; i < batch.size(); i++) {
    if (batch.kind(i) == pipeline::QueryKind::kCommand &&
        batch.state(i) == pipeline::QueryState::kDone)
      CountCommand(batch.command(i), counts);
  }
}

// `sum` of `count`.
uint64_t Square(uint64_t sum, uint64_t count) {
  if (count == 0) return 0;
  const double x = static_cast<double>(sum);
  return static_cast<uint64_t>(
      std::min(x * x / static_cast<double>(count) * WorkloadCounts::kSquareScale, kSquareMax));
}

double Ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

// Of one of those that `sum` was counted over, by how far groups differ from each other. Negative:
// these are too few.
double VarianceOf(const WorkloadCounts& counts, uint64_t squares, uint64_t sum, uint64_t count) {
  if (counts.groups < kGroupsToJudge || count == 0) return -1;
  const double between = static_cast<double>(squares) / WorkloadCounts::kSquareScale -
                         Ratio(sum, count) * static_cast<double>(sum);
  return std::max(between, 0.0) / static_cast<double>(counts.groups - 1);
}

// Whether two means differ by more than chance, where `variance` is that of one.
bool HasMeanChanged(double from, double to, double variance, uint64_t from_count,
                    uint64_t to_count) {
  if (from_count == 0 || to_count == 0) return false;
  const double change = std::abs(to - from);
  const double chance = std::sqrt(
      variance * (1 / static_cast<double>(from_count) + 1 / static_cast<double>(to_count)));
  return change > kChange * std::max(from, to) && change > kChanceDeviations * chance;
}

// How often `count` of `from` are so many more or fewer than independent queries would have them.
double Clustering(const WorkloadCounts& from) {
  const uint64_t changes = from.deletes + from.stores;
  const double share = Ratio(changes, from.queries);
  const double variance = VarianceOf(from, from.change_squares, changes, from.queries);
  const double independent = share * (1 - share);
  return independent == 0 ? 1 : std::max(variance / independent, 1.0);
}

bool HasShareChanged(uint64_t from, uint64_t from_count, uint64_t to, uint64_t to_count,
                     double clustering) {
  const double a = Ratio(from, from_count), b = Ratio(to, to_count);
  // None of so many may be one of twice as many.
  const double share = (static_cast<double>(from) + 1) / (static_cast<double>(from_count) + 2);
  return std::abs(a - b) > kShareChange &&
         HasMeanChanged(a, b, clustering * share * (1 - share), from_count, to_count);
}

// By the mean and variance that the equal pairs of `to` would have after what `from` has shown.
// Popular keys make clusters: three times as many of one are nine times as many pairs.
bool HasSkewChanged(const WorkloadCounts& from, const WorkloadCounts& to) {
  if (from.pairs == 0 || to.pairs == 0) return false;
  const double share = Ratio(from.equal_pairs, from.pairs);
  const double scale = Ratio(to.pairs, from.pairs);
  const double expected =
      std::max(share, 1 / static_cast<double>(from.pairs)) * static_cast<double>(to.pairs);
  const double clusters =
      6 * std::max(Ratio(from.equal_triples, from.triples) - share * share, 0.0);
  const double variance =
      std::max(expected, 1.0) + clusters * static_cast<double>(to.triples) +
      scale * scale *
          (static_cast<double>(from.equal_pairs) + clusters * static_cast<double>(from.triples));
  const double found = static_cast<double>(to.equal_pairs);
  const double change = std::abs(found - expected);
  // Of the root, whose deviation is about the same however many there are.
  return change > kEqualChange * std::max(found, expected) &&
         std::abs(std::sqrt(found) - std::sqrt(expected)) >
             kChanceDeviations * std::sqrt(variance / std::max(expected, 1.0)) / 2;
}

}  // namespace

void WorkloadCounts::Add(const WorkloadCounts& other) {
  for (const Field field : kFields) this->*field += other.*field;
}
void WorkloadCounts::Subtract(const WorkloadCounts& other) {
  for (const Field field : kFields) this->*field -= other.*field;
}
void WorkloadCounts::Halve() {
  for (const Field field : kFields) this->*field /= 2;
}

void Profiler::Note(const pipeline::Batch& batch) {
  const uint64_t entered = batch.size() - batch.others();
  const uint64_t queries = entered - batch.skipped();
  if (queries != 0) {
    group_.batches++;
    group_.queries += queries;
    group_.misses += batch.misses();
    uint64_t key_bytes = batch.keys_bytes();
    const uint64_t changes = group_.deletes + group_.stores;
    if (queries == entered) {
      for (const cache::Command& command : batch.commands()) CountCommand(command, &group_);
    } else {
      CountDone(batch, &group_);
      key_bytes = key_bytes * queries / entered;
    }
    group_.key_bytes += key_bytes;
    const uint64_t reads = queries - (group_.deletes + group_.stores - changes);
    group_.values += reads - batch.misses();
    group_.value_bytes += batch.ReplyValueBytes();
    if (group_.queries >= kGroupQueries) Show();
  }
  const bool all_keys = batch.others() == 0;
  for (; next_ < batch.size(); next_ += 1 + static_cast<uint32_t>(random_ >> 58)) {
    static_assert(kSampled == 32);  // the mean of 1 + 6 random bits, rounded down
    if (all_keys || batch.kind(next_) != pipeline::QueryKind::kOther) Take(batch.hash(next_));
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  }
  next_ -= batch.size();
}

void Profiler::Add(const WorkloadCounts& batch) {
  group_.Add(batch);
  if (group_.queries >= kGroupQueries) Show();
}

void Profiler::Show() {
  group_.groups = 1;
  group_.change_squares = Square(group_.deletes + group_.stores, group_.queries);
  group_.key_squares = Square(group_.key_bytes, group_.queries);
  group_.value_squares = Square(group_.value_bytes, group_.values);
  own_.Add(group_);
  group_ = {};
  // Relaxed: only this thread writes it, and each release below keeps it first.
  const uint32_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  // Release: pairs with Read; who sees one of these sees the odd version.
  for (size_t i = 0; i < kShown; i++) shown_[i].store(own_.*kFields[i], std::memory_order_release);
  // Release: pairs with Read; who sees it even again sees all of them.
  version_.store(version + 2, std::memory_order_release);
}

bool Profiler::Read(WorkloadCounts* counts) const {
  for (int tries = 0; tries < kTriesMax; tries++) {
    // Acquire: pairs with Show's last store.
    const uint32_t version = version_.load(std::memory_order_acquire);
    // Acquire: pairs with Show's stores of these, and keeps the second look at the version behind.
    for (size_t i = 0; i < kShown; i++)
      counts->*kFields[i] = shown_[i].load(std::memory_order_acquire);
    // Relaxed: see above.
    if (version % 2 == 0 && version_.load(std::memory_order_relaxed) == version) return true;
  }
  return false;
}

void CountEqual(std::span<const uint32_t> hashes, WorkloadCounts* counts) {
  const uint64_t n = hashes.size();
  counts->pairs = n < 2 ? 0 : n * (n - 1) / 2;
  counts->triples = n < 3 ? 0 : n * (n - 1) * (n - 2) / 6;
  counts->equal_pairs = counts->equal_triples = 0;
  struct Place {
    uint32_t hash, count;
  };
  constexpr size_t kPlaces = 2 * WindowReader::kHashesMax;
  WEFT_CHECK(n <= WindowReader::kHashesMax);
  std::array<Place, kPlaces> places;
  const size_t mask = std::min(std::bit_ceil(2 * n + 1), kPlaces) - 1;
  std::fill_n(places.begin(), mask + 1, Place{0, 0});
  for (const uint32_t hash : hashes) {
    size_t at = hash & mask;
    while (places[at].count != 0 && places[at].hash != hash) at = (at + 1) & mask;
    Place& place = places[at];
    place.hash = hash;
    // So many equal ones came before it.
    counts->equal_triples += uint64_t{place.count} * (place.count - 1) / 2;
    counts->equal_pairs += place.count++;
  }
}

WindowReader::WindowReader(std::vector<const Profiler*> profilers)
    : profilers_(std::move(profilers)), begins_(profilers_.size()), ends_(profilers_.size()) {
  hashes_.reserve(kHashesMax);
}

bool WindowReader::Next(uint64_t queries_min, WorkloadCounts* window) {
  WorkloadCounts counts;
  for (size_t i = 0; i < profilers_.size(); i++) {
    if (!profilers_[i]->Read(&ends_[i].counts)) return false;
    ends_[i].taken = profilers_[i]->taken();
    counts.Add(ends_[i].counts);
    counts.Subtract(begins_[i].counts);
  }
  if (counts.queries < queries_min) return false;
  CountEqualOf(&counts);
  std::swap(begins_, ends_);
  *window = counts;
  return true;
}

// Of each profiler's the last ones, as many of one as of the other where all have many.
void WindowReader::CountEqualOf(WorkloadCounts* window) {
  const uint64_t each =
      std::min<uint64_t>(kHashesMax / profilers_.size(), Profiler::kHashesKept / 2);
  hashes_.clear();
  for (size_t i = 0; i < profilers_.size(); i++) {
    const uint64_t end = ends_[i].taken;
    for (uint64_t at = end - std::min(each, end - begins_[i].taken); at < end; at++)
      hashes_.push_back(profilers_[i]->hash(at));
  }
  CountEqual(hashes_, window);
}

Profile ProfileOf(const WorkloadCounts& counts, const Profile& known) {
  Profile profile = known;
  profile.counted = static_cast<double>(counts.queries);
  if (counts.queries == 0) return profile;
  profile.get_share = Ratio(counts.reads(), counts.queries);
  profile.delete_share = Ratio(counts.deletes, counts.queries);
  if (counts.reads() != 0) profile.hit_share = 1 - Ratio(counts.misses, counts.reads());
  profile.key_bytes = Ratio(counts.key_bytes, counts.queries);
  if (counts.values != 0) profile.value_bytes = Ratio(counts.value_bytes, counts.values);
  if (counts.pairs != 0)
    profile.zipf = ZipfOfCollisions(static_cast<double>(counts.equal_pairs),
                                    static_cast<double>(counts.pairs), profile.objects);
  return profile;
}

bool IsAnother(const WorkloadCounts& from, const WorkloadCounts& to) {
  const double clustering = Clustering(from);
  if (HasShareChanged(from.reads(), from.queries, to.reads(), to.queries, clustering) ||
      HasShareChanged(from.stores, from.queries, to.stores, to.queries, clustering) ||
      HasShareChanged(from.deletes, from.queries, to.deletes, to.queries, clustering) ||
      HasShareChanged(from.misses, from.reads(), to.misses, to.reads(), clustering))
    return true;
  // Where groups are too few to say how sizes differ: each as likely as exponential ones.
  const auto has_mean_changed = [&](uint64_t from_sum, uint64_t from_count, uint64_t squares,
                                    uint64_t to_sum, uint64_t to_count) {
    const double mean = Ratio(from_sum, from_count);
    const double variance = VarianceOf(from, squares, from_sum, from_count);
    return HasMeanChanged(mean, Ratio(to_sum, to_count), variance < 0 ? mean * mean : variance,
                          from_count, to_count);
  };
  return has_mean_changed(from.key_bytes, from.queries, from.key_squares, to.key_bytes,
                          to.queries) ||
         has_mean_changed(from.value_bytes, from.values, from.value_squares, to.value_bytes,
                          to.values) ||
         HasSkewChanged(from, to);
}

}  // namespace weft::planner
