#include "processor/devices.h"

#include <utility>

#include "base/parse_number.h"
#include "processor/cpu_processor.h"
#include "processor/cuda_devices.h"
#include "processor/mirror/mirror_self_test.h"
#include "processor/mirror/plain_mirror.h"
#include "processor/self_test.h"
#if WEFT_OPENCL
#include "processor/opencl/opencl.h"
#endif

namespace weft::processor {
namespace {

using Opened = Result<std::unique_ptr<Processor>>;

// Devices of one kind, named "prefix:N".
struct Kind {
  std::string_view prefix;
  std::vector<DeviceInfo> (*list)();
  Opened (*open)(uint32_t number);
  Status (*test)(Processor* processor);
};

// What this program was built with; "auto" prefers those that come first.
std::vector<Kind> Kinds() {
  std::vector<Kind> kinds;
  kinds.push_back({"cuda", ListCuda, OpenCuda, MirrorSelfTest});
#if WEFT_OPENCL
  kinds.push_back(
      {"opencl", ListOpenCl, [](uint32_t number) { return OpenOpenCl(number); }, SelfTest});
#endif
  return kinds;
}

DeviceInfo Cpu() { return {NewCpuProcessor()->description(), DeviceType::kCpu, ""}; }
DeviceInfo Mirrored() { return {NewMirrorProcessor()->description(), DeviceType::kCpu, ""}; }

// The N of "prefix:N".
bool ParseIndex(std::string_view name, std::string_view prefix, uint32_t* number) {
  if (!name.starts_with(prefix) || name.substr(prefix.size(), 1) != ":") return false;
  return base::ParseNumber(name.substr(prefix.size() + 1), number);
}

// "none, auto, cpu, opencl:0 (PoCL), opencl:1 (Tahiti: no shared virtual memory)"
std::string ListText() {
  std::string text = "none, auto";
  for (const DeviceInfo& info : ListDevices()) {
    text += ", " + info.description.name + " (" + info.description.hardware;
    text += (info.unusable.empty() ? "" : ": " + info.unusable) + ")";
  }
  return text;
}

Opened OpenTested(std::string_view name) {
  auto opened = OpenNamed(name);
  if (!opened) return opened;
  if (Status status = RunSelfTest(opened->get()); !status.ok()) return status;
  return opened;
}

Opened OpenFirstGpu(std::vector<std::string>* notes) {
  for (const DeviceInfo& info : ListDevices()) {
    if (info.type != DeviceType::kGpu) continue;
    const std::string& name = info.description.name;
    std::string why_not = info.unusable;
    if (why_not.empty()) {
      auto opened = OpenTested(name);
      if (opened) return opened;
      why_not = opened.error().message();
    }
    if (notes != nullptr) notes->push_back(name + " is not used: " + why_not);
  }
  return std::unique_ptr<Processor>();
}

}  // namespace

std::vector<DeviceInfo> ListDevices() {
  std::vector<DeviceInfo> list = {Cpu(), Mirrored()};
  for (const Kind& kind : Kinds())
    for (DeviceInfo& info : kind.list()) list.push_back(std::move(info));
  return list;
}

Opened OpenNamed(std::string_view name) {
  if (name == "cpu") return NewCpuProcessor();
  if (name == "mirror") return NewMirrorProcessor();
  for (const Kind& kind : Kinds()) {
    uint32_t number = 0;
    if (ParseIndex(name, kind.prefix, &number)) return kind.open(number);
  }
  return Status(Code::kNotFound, "unknown kind of device: " + std::string(name));
}

Status RunSelfTest(Processor* processor) {
  const std::string& name = processor->description().name;
  for (const Kind& kind : Kinds()) {
    uint32_t number = 0;
    if (ParseIndex(name, kind.prefix, &number)) return kind.test(processor);
  }
  const bool coupled = processor->description().memory == MemoryModel::kCoupled;
  return coupled ? SelfTest(processor) : MirrorSelfTest(processor);
}

Opened OpenDevice(std::string_view spec, std::vector<std::string>* notes) {
  if (spec == "none") return std::unique_ptr<Processor>();
  if (spec == "auto") return OpenFirstGpu(notes);
  auto opened = OpenTested(spec);
  if (opened || opened.error().code() != Code::kNotFound) return opened;
  return Status(Code::kInvalidArgument,
                "unknown device '" + std::string(spec) + "'; the devices are: " + ListText());
}

}  // namespace weft::processor
