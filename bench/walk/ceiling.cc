#include "bench/walk/ceiling.h"

#include <atomic>

#include <fmt/format.h>

#include "base/system_memory.h"
#include "bench/walk/crew.h"

namespace weft::bench {
namespace {

constexpr uint32_t kBatches[] = {16, 32, 64, 128};
constexpr double kWarmupS = 0.03;
constexpr double kRunS = 0.1;
constexpr uint64_t kStaysFree = 512ull << 20;

}  // namespace

Ceiling::Ceiling(uint64_t objects, uint32_t object_bytes, bool huge_pages, uint64_t seed)
    : objects_(objects),
      object_bytes_(object_bytes),
      seed_(seed),
      walk_(objects, object_bytes, huge_pages, seed) {}

Result<std::unique_ptr<Ceiling>> Ceiling::Make(uint64_t objects, uint32_t object_bytes,
                                               bool huge_pages, uint64_t seed) {
  const uint32_t rounded = (object_bytes + 7) / 8 * 8;
  const uint64_t wanted = Walk::BytesFor(objects, rounded) + kStaysFree;
  const uint64_t there = base::MemoryToBeHad();
  if (there != 0 && there < wanted)
    return Status(Code::kNoMemory, fmt::format("a walk needs {} MiB, but only {} MiB are available",
                                               wanted >> 20, there >> 20));
  // The constructor is private so that none exists without its memory.
  return std::unique_ptr<Ceiling>(
      new Ceiling(objects, rounded, huge_pages, seed));  // owned at once
}

CeilingFigure Ceiling::Measure(const KeyPicker& picker, size_t threads,
                               const std::vector<int>& cpus) const {
  const IdStreams streams(picker, 1.0, threads, seed_);
  std::atomic<uint64_t> sum{0};  // so that the walk is not optimised away
  CeilingFigure best;
  for (const uint32_t batch : kBatches) {
    const CrewRate rate = RunCrew(threads, cpus, streams, kWarmupS, kRunS,
                                  [&](size_t, std::span<const uint32_t> ids) {
                                    sum.fetch_add(walk_.Run(ids, batch), std::memory_order_relaxed);
                                  });
    if (rate.per_second > best.per_s) best = {rate.per_second, batch};
  }
  return best;
}

}  // namespace weft::bench
