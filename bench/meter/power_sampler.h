// bench/meter/power_sampler.h: energy from a device that only reports its present power: a thread
// asks it at regular intervals.
//
// A reading that fails is asked for again at the next turn. If too many in a row are missing, there
// is no figure, and the last failure is the reason.
//
// Threads   one owner; from Start on only the sampler's thread asks the device.
// Cost      a reading each interval.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "bench/meter/energy_source.h"
#include "bench/meter/power_trace.h"

namespace weft::bench {

class PowerSampler : public EnergySource {
 public:
  using Read = std::function<Result<Watts>()>;
  // `gap_max`: seconds between two readings beyond which there is no figure; five intervals if it
  // is not given.
  PowerSampler(std::string name, Seconds interval, Read read, Seconds gap_max = Seconds(0))
      : name_(std::move(name)),
        interval_(interval),
        gap_max_(gap_max > Seconds(0) ? gap_max : interval * kMissingMax),
        read_(std::move(read)) {}
  ~PowerSampler() override;
  PowerSampler(const PowerSampler&) = delete;
  PowerSampler& operator=(const PowerSampler&) = delete;

  std::string Name() const override { return name_; }
  // Fails if the first reading does.
  Status Start() override WEFT_EXCLUDES(mutex_);
  Result<Joules> Used() override WEFT_EXCLUDES(mutex_);

 private:
  static constexpr double kMissingMax = 5;  // intervals

  void Run() WEFT_EXCLUDES(mutex_);
  Status TakeOne() WEFT_EXCLUDES(mutex_);
  void End() WEFT_EXCLUDES(mutex_);

  const std::string name_;
  const Seconds interval_;
  const Seconds gap_max_;
  const Read read_;
  Seconds begin_;
  std::thread thread_;

  base::Mutex mutex_;
  PowerTrace trace_ WEFT_GUARDED_BY(mutex_);
  Status last_failure_ WEFT_GUARDED_BY(mutex_);
  bool ending_ WEFT_GUARDED_BY(mutex_) = false;
};

}  // namespace weft::bench
