#include "bench/pipeline/devices.h"

#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "processor/devices.h"

namespace weft::bench {
namespace {

// Tells the meter of each job that a processor takes.
class Metered : public processor::Processor {
 public:
  Metered(std::unique_ptr<processor::Processor> processor, BusyMeter* meter)
      : processor_(std::move(processor)), meter_(meter) {}

  const processor::Description& description() const override { return processor_->description(); }
  cache::PageSource* pages() override { return processor_->pages(); }
  Status Attach(cache::Store* store) override { return processor_->Attach(store); }
  Status CatchUp() override { return processor_->CatchUp(); }
  bool is_behind() const override { return processor_->is_behind(); }
  bool Detach() override { return processor_->Detach(); }
  Status Start(processor::Job* job) override {
    meter_->Begin();
    Status status = processor_->Start(job);
    if (!status.ok()) meter_->End();
    return status;
  }

 private:
  const std::unique_ptr<processor::Processor> processor_;
  BusyMeter* const meter_;
};

}  // namespace

void BusyMeter::Begin() {
  base::MutexLock lock(&mutex_);
  if (jobs_++ == 0) since_ns_ = base::NowNs();
}

void BusyMeter::End() {
  base::MutexLock lock(&mutex_);
  if (--jobs_ == 0) busy_ns_ += base::NowNs() - since_ns_;
}

uint64_t BusyMeter::busy_ns() const {
  base::MutexLock lock(&mutex_);
  return busy_ns_ + (jobs_ == 0 ? 0 : base::NowNs() - since_ns_);
}

Result<std::unique_ptr<Devices>> Devices::Open(std::span<const std::string> specs) {
  // The constructor is private so that devices exist opened only; owned at once.
  auto devices = std::unique_ptr<Devices>(new Devices);
  for (const std::string& spec : specs) {
    auto processor = processor::OpenDevice(spec);
    if (!processor) return processor.error();
    if (*processor == nullptr) continue;  // "none", or "auto" where there is none
    cache::PageSource* const pages = (*processor)->pages();
    const bool is_coupled = (*processor)->description().memory == processor::MemoryModel::kCoupled;
    if (is_coupled && pages != cache::SystemPages()) {
      if (devices->pages_ != cache::SystemPages() && devices->pages_ != pages)
        return Status(
            Code::kUnsupported,
            fmt::format("--device {}: it does not see the memory of the devices before it; "
                        "measure one at a time",
                        spec));
      devices->pages_ = pages;
    }
    auto guard = std::make_unique<processor::Guard>(
        std::make_unique<Metered>(std::move(*processor), &devices->meter_),
        [all = devices.get()](const processor::Description& device, const Status& status) {
          all->NoteRetired(device, status);
        });
    devices->list_.push_back(guard.get());
    devices->guards_.push_back(std::move(guard));
  }
  return devices;
}

Status Devices::Attach(cache::Store* store) {
  for (processor::Guard* guard : list_) {
    Status status = guard->Attach(store);
    if (status.ok()) status = guard->CatchUp();
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status Devices::CatchUp() {
  for (processor::Guard* guard : list_)
    if (Status status = guard->CatchUp(); !status.ok()) return status;
  return Status::Ok();
}

void Devices::Detach() {
  for (processor::Guard* guard : list_) WEFT_CHECK(guard->Detach());  // none hangs that is measured
}

Status Devices::retired() const {
  base::MutexLock lock(&mutex_);
  return retired_;
}

void Devices::NoteRetired(const processor::Description& device, const Status& status) {
  base::MutexLock lock(&mutex_);
  if (retired_.ok())
    retired_ = {Code::kDeviceLost, fmt::format("{}: {}", device.name, status.ToString())};
}

}  // namespace weft::bench
