// sim/dram/memory.h: all channels of a memory, and requests that come to them one a clock, in
// order. A request that finds its channel's queue full keeps the later ones waiting.
//
// Units     clocks; lines of 64 bytes.
// Threads   one owner.
// Source    the simulator's specification, section 4.2; requests enter as in DRAMsim3's
//           trace-driven front end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/dram/address_map.h"
#include "sim/dram/controller.h"
#include "sim/dram/preset.h"

namespace weft::sim {

class Memory {
 public:
  // `options` of each channel; on_command gets the channel, too.
  // REQUIRES: Validate(preset.organization).ok()
  Memory(const Preset& preset, Interleave interleave, ControllerOptions options,
         std::function<void(int channel, const IssuedCommand&)> on_command = {});

  // Has the line's channel accept a request in the first clock from `clock` on that finds room,
  // later than the last acceptance. Returns that clock; kNone, with nothing accepted, if it is
  // `end` or later. REQUIRES: no channel was advanced past `clock` by AdvanceTo
  static constexpr Clock kNone = -1;
  Clock Accept(uint64_t id, uint64_t line, bool is_write, Clock clock, Clock end);
  // No more requests come after the last that was accepted: controller.h.
  void EndRequests();
  // Performs all clocks before `clock`.
  void AdvanceTo(Clock clock);
  // Performs clocks until the memory has served all that was accepted, as many on all channels.
  // REQUIRES: EndRequests() was called
  void AdvanceUntilServed();

  const AddressMap& map() const { return map_; }
  int channels() const { return static_cast<int>(channels_.size()); }
  Controller& channel(int index) { return *channels_[static_cast<size_t>(index)]; }

 private:
  const AddressMap map_;
  std::vector<std::unique_ptr<Controller>> channels_;
  Clock last_accepted_ = -1;
};

}  // namespace weft::sim
