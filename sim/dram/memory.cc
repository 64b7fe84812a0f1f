#include "sim/dram/memory.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sim/base/time.h"

namespace weft::sim {

Memory::Memory(const Preset& preset, Interleave interleave, ControllerOptions options,
               std::function<void(int channel, const IssuedCommand&)> on_command)
    : map_(interleave, preset.organization) {
  for (int channel = 0; channel < preset.organization.channels; ++channel) {
    if (on_command) {
      options.on_command = [channel, on_command](const IssuedCommand& issued) {
        on_command(channel, issued);
      };
    }
    channels_.push_back(std::make_unique<Controller>(preset, options));
  }
}

Clock Memory::Accept(uint64_t id, uint64_t line, bool is_write, Clock clock, Clock end) {
  const Place place = map_.PlaceOf(line);
  Controller& controller = channel(place.channel);
  const Clock from = std::max(clock, last_accepted_ + 1);
  if (from >= end) return kNone;
  // Channels don't see each other, so only this one is brought up to the clock.
  controller.AdvanceTo(std::max(from, controller.now()));
  while (!controller.CanAccept(is_write)) {
    const Clock next = controller.NextEvent();
    if (next >= end - 1) return kNone;
    controller.AdvanceTo(next + 1);
  }
  controller.Accept(id, place, is_write);
  last_accepted_ = controller.now();
  return last_accepted_;
}

void Memory::EndRequests() {
  AdvanceTo(last_accepted_ + 1);
  for (const auto& controller : channels_) controller->EndRequests();
}

void Memory::AdvanceTo(Clock clock) {
  for (const auto& controller : channels_) controller->AdvanceTo(clock);
}

void Memory::AdvanceUntilServed() {
  Clock end = 0;
  for (const auto& controller : channels_) {
    const auto is_served = [&] {
      const Controller::Unserved unserved = controller->CountUnserved();
      return unserved.reads == 0 && unserved.writes == 0 && controller->pending() == 0;
    };
    while (!is_served()) {
      const Clock next = controller->NextEvent();
      WEFT_CHECK(next != kNever);
      controller->AdvanceTo(next + 1);
    }
    end = std::max(end, controller->now());
  }
  AdvanceTo(end);
}

}  // namespace weft::sim
