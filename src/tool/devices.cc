#include "tool/devices.h"

#include <algorithm>
#include <iomanip>
#include <string_view>

#include "base/clock.h"
#include "processor/devices.h"
#include "tool/arguments.h"
#include "tool/text_form.h"

namespace weft::tool {

namespace {

struct Tested {
  processor::DeviceInfo info;
  bool passed = false;
  std::string failure;  // what opening it or its test said; empty: it passed, or was not opened
  uint64_t open_us = 0;
  uint64_t test_us = 0;
};

// Opens the device and runs its test twice: the first run may compile what the device is to run.
Tested Test(processor::DeviceInfo info) {
  Tested tested;
  tested.info = std::move(info);
  if (!tested.info.unusable.empty()) return tested;
  const uint64_t began = base::NowNs();
  auto opened = processor::OpenNamed(tested.info.description.name);
  Status status = opened ? processor::RunSelfTest(opened->get()) : opened.error();
  const uint64_t ready = base::NowNs();
  if (status.ok()) status = processor::RunSelfTest(opened->get());
  tested.passed = status.ok();
  tested.failure = status.message();
  tested.open_us = (ready - began) / 1000;
  tested.test_us = (base::NowNs() - ready) / 1000;
  return tested;
}

const char* MemoryName(processor::MemoryModel memory) {
  return memory == processor::MemoryModel::kCoupled ? "coupled" : "mirrored";
}

const char* TypeName(processor::DeviceType type) {
  switch (type) {
    case processor::DeviceType::kCpu: return "cpu";
    case processor::DeviceType::kGpu: return "gpu";
    case processor::DeviceType::kOther: break;
  }
  return "other";
}

std::string MillisecondsText(uint64_t us) { return std::to_string((us + 500) / 1000) + " ms"; }

std::string SelfTestText(const Tested& tested) {
  if (!tested.info.unusable.empty()) return "cannot be used: " + tested.info.unusable;
  if (!tested.passed) return "failed: " + tested.failure;
  return "passed in " + MillisecondsText(tested.test_us) + ", ready after " +
         MillisecondsText(tested.open_us);
}

// The first line of what a driver says, which may be anything.
std::string Ascii(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

void PrintDevicesJson(std::ostream& out, const std::vector<Tested>& devices) {
  out << '[';
  for (const Tested& tested : devices) {
    const processor::Description& description = tested.info.description;
    out << (&tested == devices.data() ? "" : ",")
        << "\n  {\"name\": " << JsonString(description.name)
        << ", \"hardware\": " << JsonString(Ascii(description.hardware)) << ", \"type\": \""
        << TypeName(tested.info.type) << "\", \"memory\": \"" << MemoryName(description.memory)
        << "\", \"memory_bytes\": " << description.memory_bytes
        << ", \"allocation_bytes_max\": " << description.allocation_bytes_max
        << ", \"units\": " << description.units
        << ", \"usable\": " << (tested.passed ? "true" : "false")
        << ", \"why_not\": " << JsonString(Ascii(tested.info.unusable + tested.failure));
    if (tested.passed)
      out << ", \"open_us\": " << tested.open_us << ", \"self_test_us\": " << tested.test_us;
    out << '}';
  }
  out << "\n]\n";
}

void PrintTable(std::ostream& out, const std::vector<Tested>& devices) {
  size_t width = std::string_view("device").size();
  for (const Tested& tested : devices) width = std::max(width, tested.info.description.name.size());
  out << std::left << std::setw(static_cast<int>(width)) << "device"
      << "  memory    of           units  self-test\n";
  for (const Tested& tested : devices) {
    const processor::Description& description = tested.info.description;
    const std::string bytes =
        description.memory_bytes == 0 ? "the system" : BytesText(description.memory_bytes);
    out << std::left << std::setw(static_cast<int>(width)) << description.name << "  "
        << std::setw(8) << MemoryName(description.memory) << "  " << std::setw(11) << bytes << "  "
        << std::right << std::setw(5) << description.units << "  " << Ascii(SelfTestText(tested))
        << '\n'
        << std::string(width + 2, ' ') << Ascii(description.hardware) << '\n';
  }
}

}  // namespace

Exit RunDevices(const Console& console, const std::vector<std::string>& arguments) {
  CommandLine line("Lists the processors of this machine that can run tasks of a plan.", "weft",
                   "Exit status: 0 even if a device is not usable; 2 the command could not run.");
  bool json = false;
  Arguments devices = line.AddCommand("devices", "list this machine's processors and test each");
  devices.AddFlag("--json", "print JSON", &json);
  std::vector<std::string> words = {"devices"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::string text;
  switch (line.Parse(words, &text)) {
    case CommandLine::Outcome::kHelp: console.out << text; return Exit::kOk;
    case CommandLine::Outcome::kWrong: console.err << text << '\n'; return Exit::kCannotRun;
    case CommandLine::Outcome::kNamed: break;
  }
  std::vector<Tested> tested;
  for (processor::DeviceInfo& info : processor::ListDevices())
    tested.push_back(Test(std::move(info)));
  json ? PrintDevicesJson(console.out, tested) : PrintTable(console.out, tested);
  console.out.flush();
  return console.out.good() ? Exit::kOk : Exit::kCannotRun;
}

}  // namespace weft::tool
