#include "bench/walk/crew.h"

#include <algorithm>
#include <barrier>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

constexpr size_t kSliceIds = 4096;  // a look at the clock costs nothing beside so many

// Runs slices until `deadline`; continues where `at` was left. Returns how many ids that were.
uint64_t RunUntil(uint64_t deadline, std::span<const uint32_t> ids, size_t* at, size_t thread,
                  const Slice& work) {
  uint64_t done = 0;
  while (base::NowNs() < deadline) {
    if (*at + kSliceIds > ids.size()) *at = 0;
    work(thread, ids.subspan(*at, kSliceIds));
    *at += kSliceIds;
    done += kSliceIds;
  }
  return done;
}

}  // namespace

IdStreams::IdStreams(const KeyPicker& picker, double get_share, size_t threads, uint64_t seed) {
  const auto get_below = static_cast<uint64_t>(get_share * 4294967296.0);
  streams_.resize(threads);
  std::vector<std::thread> drawers;
  for (size_t t = 0; t < threads; ++t) {
    drawers.emplace_back([&, t] {
      base::Random random(seed * 1'000'003 + t);
      streams_[t].resize(kIds);
      for (uint32_t& id : streams_[t])
        id = picker.Next(random) | ((random.Next() >> 32) < get_below ? 0 : kSetBit);
    });
  }
  for (std::thread& drawer : drawers) drawer.join();
}

std::string SharedNote(double busy) {
  return fmt::format("    the machine was shared: a thread ran only {:.0f} % of the time\n",
                     100 * busy);
}

CrewRate RunCrew(size_t threads, const std::vector<int>& cpus, const IdStreams& streams,
                 double warmup_s, double seconds, const Slice& work) {
  std::barrier together(static_cast<std::ptrdiff_t>(threads));
  std::vector<CrewRate> rates(threads);
  std::vector<std::thread> crew;
  for (size_t t = 0; t < threads; ++t) {
    crew.emplace_back([&, t] {
      if (!cpus.empty()) PinTo(0, {cpus[t % cpus.size()]});
      size_t at = 0;
      together.arrive_and_wait();
      RunUntil(base::NowNs() + static_cast<uint64_t>(warmup_s * 1e9), streams.of(t), &at, t, work);
      together.arrive_and_wait();
      const uint64_t start = base::NowNs();
      const double cpu_start = ThreadCpuSeconds();
      const auto deadline = start + static_cast<uint64_t>(seconds * 1e9);
      const auto done = static_cast<double>(RunUntil(deadline, streams.of(t), &at, t, work));
      const double wall_s = static_cast<double>(base::NowNs() - start) * 1e-9;
      const double cpu_s = ThreadCpuSeconds() - cpu_start;
      rates[t] = {done / wall_s, done / cpu_s, cpu_s / wall_s};
    });
  }
  CrewRate total;
  for (size_t t = 0; t < threads; ++t) {
    crew[t].join();
    total.per_second += rates[t].per_second;
    total.per_cpu_second += rates[t].per_cpu_second;
    total.busy = std::min(total.busy, rates[t].busy);
  }
  return total;
}

}  // namespace weft::bench
