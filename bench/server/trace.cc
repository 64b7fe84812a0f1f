#include "bench/server/trace.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/clock.h"
#include "bench/target/round_trip.h"

namespace weft::bench {
namespace {

constexpr int kRoundGets = 64;
constexpr uint64_t kStaleSlackNs = 2'000'000'000;  // whole-second clocks on both ends
constexpr uint64_t kLateNs = 100'000'000;
constexpr double kPacedRate = 60'000;  // two servers and their clients on two cores keep up
constexpr double kKeysOverMemory = 10;

uint32_t KeysFor(uint64_t memory_mb, double item_bytes) {
  const double memory_bytes = static_cast<double>(memory_mb) * (1 << 20);
  return static_cast<uint32_t>(kKeysOverMemory * memory_bytes / item_bytes);
}

uint64_t Scaled(double requests, double scale) {
  return std::max<uint64_t>(static_cast<uint64_t>(requests * scale), 1000);
}

KeyDistribution ZipfOver(uint32_t keys) {
  KeyDistribution zipf;
  zipf.law = KeyLaw::kScrambledZipf;
  zipf.ranks = keys;
  return zipf;
}

}  // namespace

std::vector<TraceSpec> Traces(uint64_t memory_mb, double scale) {
  const SizeDistribution small = SizeDistribution::Fixed(64);
  const SizeDistribution mixed = SizeDistribution::LogUniform(16, 8192);
  const double mixed_mean = (8192 - 16) / std::log(8192.0 / 16);
  const uint32_t small_keys = KeysFor(memory_mb, kTraceKeyBytes + 64);
  const uint32_t mixed_keys = KeysFor(memory_mb, kTraceKeyBytes + mixed_mean);
  const double round = 1.2 * small_keys;  // requests that scale with the memory
  std::vector<TraceSpec> traces;
  traces.push_back({"zipf", "Zipf 0.99, memory for a tenth of the data", small, small_keys,
                    Scaled(round, scale), Scaled(round, scale)});
  traces.push_back({"scan", "the same, after every 20,000 requests a scan of 10,000 new keys",
                    small, small_keys, Scaled(0.8 * round, scale), Scaled(0.8 * round, scale),
                    20'000, 10'000});
  const uint64_t paced = Scaled(kPacedRate * 30, scale);
  traces.push_back({"ttl-thousand", "the same, keys live one of 1 to 1,000 s", small, small_keys,
                    paced, paced, 0, 0, Ttl::kThousand, kPacedRate});
  traces.push_back({"ttl-short", "the same, keys live one of 1, 2, 3, 5, 10, 20, 60, 3,600 s",
                    small, small_keys, paced, paced, 0, 0, Ttl::kShort, kPacedRate});
  const uint64_t many = Scaled(3.0 * mixed_keys, scale);
  traces.push_back({"mixed-sizes", "Zipf 0.99, values of 16 B to 8 KiB, log-uniform", mixed,
                    mixed_keys, many, many});
  return traces;
}

TracePlayer::TracePlayer(const TraceSpec& spec, uint64_t seed)
    : spec_(spec),
      total_(spec.warm_requests + spec.requests),
      chooser_(ZipfOver(spec.keys), spec.keys),
      random_(seed),
      until_scan_(spec.scan_every),
      scan_next_(spec.keys) {
  if (spec.ttl != Ttl::kNever) ends_ns_.resize(spec.keys, 0);
}

// Scans come on top of the Zipf requests and are not among `total_`.
uint32_t TracePlayer::NextId() {
  if (scan_left_ > 0) {
    --scan_left_;
    return scan_next_++;
  }
  if (spec_.scan_every > 0 && --until_scan_ == 0) {
    until_scan_ = spec_.scan_every;
    scan_left_ = spec_.scan_keys;
  }
  asked_.fetch_add(1, std::memory_order_relaxed);
  return static_cast<uint32_t>(chooser_.Next(spec_.keys, random_));
}

uint32_t TracePlayer::TtlOf(uint32_t id) const {
  constexpr uint32_t kShortTtls[] = {1, 2, 3, 5, 10, 20, 60, 3600};
  switch (spec_.ttl) {
    case Ttl::kNever: return 0;
    case Ttl::kThousand: return 1 + static_cast<uint32_t>(base::Mix(id + 77) % 1000);
    case Ttl::kShort: return kShortTtls[base::Mix(id + 77) % std::size(kShortTtls)];
  }
  return 0;
}

void TracePlayer::Pace() {
  if (spec_.rate == 0) return;
  const uint64_t now = base::NowNs();
  if (start_ns_ == 0) start_ns_ = now;
  const auto asked = static_cast<double>(asked_.load(std::memory_order_relaxed));
  const uint64_t due = start_ns_ + static_cast<uint64_t>(asked / spec_.rate * 1e9);
  if (now > due + kLateNs) ++counts_.late_rounds;
  if (now < due) usleep(static_cast<useconds_t>((due - now) / 1000));
}

Status TracePlayer::Play(Session* session) {
  std::vector<Outcome> outcomes;
  while (asked_.load(std::memory_order_relaxed) < total_) {
    Pace();
    MakeRound();
    const Status status = RoundTrip(session, round_, &outcomes);
    if (!status.ok()) return status;
    CountRound(outcomes);
  }
  return Status::Ok();
}

// An operation's tag is its place in the round; its version is always the same, and so is a key's
// size.
void TracePlayer::MakeRound() {
  const uint64_t now = base::NowNs();
  round_.clear();
  for (const uint32_t id : missed_) {
    const uint32_t ttl_s = TtlOf(id);
    round_.push_back(
        {.kind = OperationKind::kInsert, .record = id, .tag = round_.size(), .ttl_s = ttl_s});
    if (ttl_s > 0) ends_ns_[id] = now + ttl_s * uint64_t{1'000'000'000};
  }
  missed_.clear();
  for (int i = 0; i < kRoundGets; ++i) round_.push_back({.record = NextId(), .tag = round_.size()});
}

void TracePlayer::CountRound(std::span<const Outcome> outcomes) {
  const uint64_t now = base::NowNs();
  for (const Outcome& outcome : outcomes) {
    const auto id = static_cast<uint32_t>(round_[outcome.tag].record);
    const bool done = outcome.outcome == OutcomeKind::kDone;
    if (outcome.kind == OperationKind::kInsert) {
      counts_.refused_sets += !done;
      continue;
    }
    Count(id, done, now);
    if (!done) missed_.push_back(id);
  }
}

void TracePlayer::Count(uint32_t id, bool hit, uint64_t now_ns) {
  if (id >= spec_.keys) {
    ++counts_.scan_requests;
    counts_.scan_hits += hit;
    return;
  }
  if (hit && !ends_ns_.empty() && now_ns > ends_ns_[id] + kStaleSlackNs) ++counts_.stale_hits;
  if (answered_++ < spec_.warm_requests) return;
  ++counts_.requests;
  counts_.hits += hit;
}

}  // namespace weft::bench
