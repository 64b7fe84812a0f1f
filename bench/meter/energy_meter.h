// bench/meter/energy_meter.h: the joules of a run and its mean power, from one source or several.
//
// Readings  energy_j, power_w_mean; both modelled if one of the sources is.
// Threads   one owner, as bench/meter/meter.h says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/meter/energy_source.h"
#include "bench/meter/meter.h"

namespace weft::bench {

class EnergyMeter : public Meter {
 public:
  // Adds all of `sources`. If they are an error, the readings have it as their reason.
  explicit EnergyMeter(Result<std::vector<std::unique_ptr<EnergySource>>> sources)
      : sources_(std::move(sources)) {}

  void Start(const std::vector<pid_t>& pids) override;
  void Sample() override;
  Readings Stop() override;

  // Mean power between the last two samples; none if it is known only afterwards, or not at all.
  std::optional<Watts> sampled_power() const { return sampled_power_; }
  std::string Name() const;

 private:
  Result<Joules> Used();

  Result<std::vector<std::unique_ptr<EnergySource>>> sources_;
  Status started_;
  Seconds begin_;
  Seconds last_at_;
  Joules last_used_;
  std::optional<Watts> sampled_power_;
};

}  // namespace weft::bench
