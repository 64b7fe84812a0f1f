// bench/meter/power_model.h: energy where nothing measures it: rated power when idle and when all
// CPUs are busy, and between the two in proportion to how busy they are. Always marked modelled.
//
// Threads   one owner.
// Source    proc(5): the first line of /proc/stat, of the whole machine.
#pragma once

#include <string>

#include "bench/meter/energy_source.h"

namespace weft::bench {

class PowerModel : public EnergySource {
 public:
  // kInvalidArgument unless 0 <= idle <= busy. `stat`: in tests elsewhere.
  static Result<PowerModel> Make(Watts idle, Watts busy, std::string stat = "/proc/stat");

  std::string Name() const override;
  bool is_modelled() const override { return true; }
  std::optional<Watts> idle_power() const override { return idle_; }
  Status Start() override;
  Result<Joules> Used() override;

  // Power at a share of busy time, 0 to 1.
  Watts PowerAt(double busy_share) const { return idle_ + (busy_ - idle_) * busy_share; }

 private:
  struct Ticks {
    double busy = 0, all = 0;
  };
  PowerModel(Watts idle, Watts busy, std::string stat)
      : idle_(idle), busy_(busy), stat_(std::move(stat)) {}
  Result<Ticks> Read() const;

  Watts idle_;
  Watts busy_;
  std::string stat_;
  Ticks begin_;
  double begin_s_ = 0;
};

}  // namespace weft::bench
