#include "bench/meter/idle_power.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/meter/now.h"

namespace weft::bench {

Reading IdlePower(const std::string& energy, Seconds over, const EnergyPlaces& places) {
  auto sources = OpenEnergy(energy, places);
  if (!sources) return Reading::Unavailable(std::string(sources.error().message()));
  const auto is_known = [](const auto& source) { return source->idle_power().has_value(); };
  for (const auto& source : *sources) {
    if (!source->is_live())
      return Reading::Unavailable(source->Name() + " reports nothing before a run has ended");
    Status status = source->Start();
    if (!status.ok()) return Reading::Unavailable(std::string(status.message()));
  }
  const Seconds begin = Now();
  if (!std::all_of(sources->begin(), sources->end(), is_known))
    std::this_thread::sleep_for(std::chrono::duration<double>(over.value()));
  Watts sum(0);
  std::string name;
  bool modelled = false;
  for (const auto& source : *sources) {
    name += (name.empty() ? "" : " + ") + source->Name();
    modelled = modelled || source->is_modelled();
    if (const auto known = source->idle_power()) {
      sum = sum + *known;
      continue;
    }
    auto used = source->Used();
    if (!used) return Reading::Unavailable(std::string(used.error().message()));
    sum = sum + *used / (Now() - begin);
  }
  Reading power = Reading::Of(sum, name);
  return modelled ? std::move(power).Modelled() : power;
}

}  // namespace weft::bench
