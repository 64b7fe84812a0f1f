// bench/pipeline/devices.h: the devices of a run, and how long they had work.
//
// Threads   Open: one. The meter: any.
// Errors    retired(): a device failed and was given up; whatever was measured since then is no
//           figure of the plans that name it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "processor/guard.h"

namespace weft::bench {

// Time during which at least one job was with a device.
class BusyMeter {
 public:
  void Begin() WEFT_EXCLUDES(mutex_);
  void End() WEFT_EXCLUDES(mutex_);
  // Up to now.
  uint64_t busy_ns() const WEFT_EXCLUDES(mutex_);

 private:
  mutable base::Mutex mutex_;
  uint32_t jobs_ WEFT_GUARDED_BY(mutex_) = 0;
  uint64_t since_ns_ WEFT_GUARDED_BY(mutex_) = 0;
  uint64_t busy_ns_ WEFT_GUARDED_BY(mutex_) = 0;
};

class Devices {
 public:
  // gpu0, gpu1, ... of the plans, in the order of `specs` (processor/devices.h); what is no device
  // is left out. kUnsupported: two devices do not see one memory. Also the errors of OpenDevice.
  static Result<std::unique_ptr<Devices>> Open(std::span<const std::string> specs);

  // Makes the devices follow the store, up to its contents now; until Detach.
  Status Attach(cache::Store* store);
  // Brings them what changed while they had no work. REQUIRES: they have none now
  Status CatchUp();
  void Detach();

  std::span<processor::Guard* const> guards() const { return list_; }
  // Where the store must lie, so that every device sees it.
  cache::PageSource* pages() const { return pages_; }
  // All devices together. A job ends when its owner learns of it: the owner calls End.
  BusyMeter& meter() { return meter_; }
  Status retired() const WEFT_EXCLUDES(mutex_);

 private:
  Devices() = default;
  void NoteRetired(const processor::Description& device, const Status& status)
      WEFT_EXCLUDES(mutex_);

  BusyMeter meter_;
  std::vector<std::unique_ptr<processor::Guard>> guards_;
  std::vector<processor::Guard*> list_;
  cache::PageSource* pages_ = cache::SystemPages();

  mutable base::Mutex mutex_;
  Status retired_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::bench
