#include "bench/meter/power_model.h"

#include <sstream>

#include <fmt/format.h>

#include "bench/harness/machine.h"
#include "bench/meter/now.h"

namespace weft::bench {

Result<PowerModel> PowerModel::Make(Watts idle, Watts busy, std::string stat) {
  if (!(idle >= Watts(0) && busy >= idle)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a model's power must be 0 <= idle <= busy, not {} W and {} W",
                              idle.value(), busy.value()));
  }
  return PowerModel(idle, busy, std::move(stat));
}

std::string PowerModel::Name() const {
  return fmt::format("model {} W idle, {} W busy", idle_.value(), busy_.value());
}

Result<PowerModel::Ticks> PowerModel::Read() const {
  std::istringstream words(ReadLine(stat_));
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0;
  words >> name >> user >> nice >> system >> idle >> wait >> irq >> softirq;
  if (!words || name != "cpu")
    return Status(Code::kUnsupported, stat_ + " does not report how busy the CPUs are");
  const double busy = user + nice + system + irq + softirq;
  return Ticks{busy, busy + idle + wait};
}

Status PowerModel::Start() {
  auto ticks = Read();
  if (!ticks) return ticks.error();
  begin_ = *ticks;
  begin_s_ = NowS();
  return Status::Ok();
}

Result<Joules> PowerModel::Used() {
  auto ticks = Read();
  if (!ticks) return ticks.error();
  const double all = ticks->all - begin_.all;
  // Within one tick nobody knows; so short a run is as good as idle.
  const double share = all > 0 ? (ticks->busy - begin_.busy) / all : 0;
  return PowerAt(share) * Seconds(NowS() - begin_s_);
}

}  // namespace weft::bench
