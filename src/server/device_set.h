// server/device_set.h: the devices that `weft serve --device` names, open and guarded.
//
// Threads   constant after Open.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "processor/guard.h"

namespace weft::server {

class DeviceSet {
 public:
  // In the order of `specs`, which processor/devices.h has; "none", and "auto" where there is no
  // device, are left out. An error where one is not there or fails its self-test.
  static Result<std::unique_ptr<DeviceSet>> Open(std::span<const std::string> specs);

  // Writes to the log which they are.
  void Tell() const;
  // Lets mirrored devices follow the store; before any job. Detach: after all jobs.
  Status Attach(cache::Store* store);
  // False: a device that hangs goes on using the store, which must be kept for ever.
  [[nodiscard]] bool Detach();
  // gpu0, gpu1, ... of a plan.
  const std::vector<processor::Guard*>& guards() const { return guards_; }
  // Another instance of one of them, untested, for who measures it beside its work.
  Result<std::unique_ptr<processor::Guard>> OpenAgain(size_t number) const;
  // Where index and log must lie, so that every device sees them.
  cache::PageSource* pages() const;

 private:
  std::vector<std::unique_ptr<processor::Guard>> owned_;
  std::vector<processor::Guard*> guards_;
};

}  // namespace weft::server
