#include "server/device_set.h"

#include <cstdlib>
#include <thread>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/mutex.h"
#include "base/thread.h"
#include "processor/devices.h"
#include "processor/faulty_processor.h"

namespace weft::server {
namespace {

// For drills: what the devices are to fail at (processor/faulty_processor.h).
constexpr const char* kFaultVariable = "WEFT_DEVICE_FAULT";

void TellRetired(const processor::Description& device, const Status& status) {
  spdlog::error("{} ({}) failed and is no longer used; the CPU continues: {}", device.name,
                device.hardware, status.ToString());
}

Result<std::unique_ptr<processor::Processor>> WithFaults(
    std::unique_ptr<processor::Processor> device) {
  const char* const text = std::getenv(kFaultVariable);
  if (text == nullptr) return device;
  auto faults = processor::Faults::Parse(text);
  if (!faults) return faults.error();
  spdlog::warn("{}={}: {} will fail on purpose", kFaultVariable, text, device->description().name);
  return processor::NewFaultyProcessor(std::move(device), *faults);
}

// While it lives: says after a while what is waited for. Nobody is served before a device is open,
// since the store lies in its memory; a silent start looks like one that hangs.
class SlowOpening {
 public:
  explicit SlowOpening(std::string spec) {
    auto thread = base::StartThread([this, spec = std::move(spec)] {
      base::MutexLock lock(&mutex_);
      if (!open_ && !wake_.WaitFor(&mutex_, kPatienceMs) && !open_) {
        spdlog::info("still opening {}: its driver compiles the kernels, or it is being tested",
                     spec);
      }
    });
    if (thread) thread_ = std::move(*thread);
  }
  ~SlowOpening() {
    if (!thread_.joinable()) return;
    {
      base::MutexLock lock(&mutex_);
      open_ = true;
      wake_.NotifyOne();
    }
    thread_.join();
  }
  SlowOpening(const SlowOpening&) = delete;
  SlowOpening& operator=(const SlowOpening&) = delete;

 private:
  static constexpr int kPatienceMs = 1000;

  base::Mutex mutex_;
  base::CondVar wake_;
  bool open_ WEFT_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // none: the system had none, and nothing is said
};

Result<std::unique_ptr<processor::Processor>> OpenAudibly(const std::string& spec) {
  const SlowOpening slow(spec);
  return processor::OpenDevice(spec);
}

}  // namespace

Result<std::unique_ptr<DeviceSet>> DeviceSet::Open(std::span<const std::string> specs) {
  auto set = std::make_unique<DeviceSet>();
  for (const std::string& spec : specs) {
    auto opened = OpenAudibly(spec);
    if (!opened) return opened.error();
    if (*opened == nullptr) continue;  // "none", or "auto" where there is none
    auto device = WithFaults(std::move(opened.value()));
    if (!device) return device.error();
    set->owned_.push_back(
        std::make_unique<processor::Guard>(std::move(device.value()), TellRetired));
    set->guards_.push_back(set->owned_.back().get());
  }
  return set;
}

void DeviceSet::Tell() const {
  for (size_t i = 0; i < guards_.size(); i++)
    spdlog::info("gpu{} is {}: {}", i, guards_[i]->description().name,
                 guards_[i]->description().hardware);
}

Status DeviceSet::Attach(cache::Store* store) {
  for (processor::Guard* guard : guards_) {
    if (Status status = guard->Attach(store); !status.ok()) return status;
  }
  return Status::Ok();
}

bool DeviceSet::Detach() {
  bool all = true;
  for (processor::Guard* guard : guards_) all = guard->Detach() && all;
  return all;
}

Result<std::unique_ptr<processor::Guard>> DeviceSet::OpenAgain(size_t number) const {
  auto opened = processor::OpenNamed(guards_[number]->description().name);
  if (!opened) return opened.error();
  auto device = WithFaults(std::move(opened.value()));
  if (!device) return device.error();
  return std::make_unique<processor::Guard>(std::move(device.value()));
}

cache::PageSource* DeviceSet::pages() const {
  for (processor::Guard* guard : guards_) {
    if (guard->description().memory == processor::MemoryModel::kCoupled &&
        guard->pages() != cache::SystemPages())
      return guard->pages();
  }
  return cache::SystemPages();
}

}  // namespace weft::server
