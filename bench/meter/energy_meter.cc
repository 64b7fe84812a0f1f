#include "bench/meter/energy_meter.h"

#include "bench/meter/now.h"

namespace weft::bench {

std::string EnergyMeter::Name() const {
  std::string name;
  if (!sources_) return name;
  for (const auto& source : sources_.value()) name += (name.empty() ? "" : " + ") + source->Name();
  return name;
}

void EnergyMeter::Start(const std::vector<pid_t>&) {
  started_ = Status::Ok();
  sampled_power_.reset();
  if (!sources_) return;
  for (const auto& source : sources_.value()) {
    started_ = source->Start();
    if (!started_.ok()) return;
  }
  begin_ = last_at_ = Now();
  last_used_ = Joules(0);
}

Result<Joules> EnergyMeter::Used() {
  if (!sources_) return sources_.error();
  if (!started_.ok()) return started_;
  Joules sum(0);
  for (const auto& source : sources_.value()) {
    auto used = source->Used();
    if (!used) return used.error();
    sum += *used;
  }
  return sum;
}

void EnergyMeter::Sample() {
  sampled_power_.reset();
  if (!sources_ || !started_.ok()) return;
  for (const auto& source : sources_.value())
    if (!source->is_live()) return;
  auto used = Used();
  const Seconds now = Now();
  if (!used || now <= last_at_) return;
  sampled_power_ = (*used - last_used_) / (now - last_at_);
  last_used_ = *used;
  last_at_ = now;
}

Readings EnergyMeter::Stop() {
  auto used = Used();
  const Seconds seconds = Now() - begin_;
  if (!used) {
    const Reading none = Reading::Unavailable(std::string(used.error().message()));
    return {{"energy_j", none}, {"power_w_mean", none}};
  }
  bool modelled = false;
  for (const auto& source : sources_.value()) modelled = modelled || source->is_modelled();
  Reading energy = Reading::Of(*used, Name());
  Reading power = Reading::Of(*used / seconds, Name());
  if (!modelled) return {{"energy_j", energy}, {"power_w_mean", power}};
  return {{"energy_j", std::move(energy).Modelled()},
          {"power_w_mean", std::move(power).Modelled()}};
}

}  // namespace weft::bench
