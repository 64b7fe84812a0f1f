#include "bench/device/command_line.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "bench/device/options.h"
#include "bench/harness/promise_command.h"

namespace weft::bench {
namespace {

struct DeviceArguments {
  CommonArguments common;
  DeviceOptions device;
  bool quick = false;
};

void DeclareDevice(CLI::App* app, DeviceArguments* a) {
  DeviceOptions& device = a->device;
  app->add_option("--objects", device.objects,
                  "number of objects; fewer if the device lacks the memory")
      ->check(CLI::Range(1000, 2'000'000'000))
      ->capture_default_str();
  app->add_option("--load", device.load, "share of the index's slots")
      ->check(CLI::Range(0.05, 0.95))
      ->capture_default_str();
  app->add_option("--batch", device.batch, "queries in a launch")
      ->check(CLI::Range(1024, 1 << 28))
      ->capture_default_str();
  app->add_option("--miss-permille", device.miss_permille,
                  "misses in a thousand searches and reads")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app->add_option("--shapes", device.shapes, "K8,K16,K32 (default: all)")->delimiter(',');
  app->add_option("--device", device.device, "number of the GPU")->capture_default_str();
  AddQuick(app, &a->quick);
  LeaveOut(app, {"--seconds", "--warmup", "--target"});
}

Status MeasureDevice(const DeviceArguments& a, Report& report) {
  DeviceOptions options = a.device;
  SetCommon(a.common, defaults::kRepetitions, &options);
  if (a.quick) {
    options.objects = std::min(options.objects, defaults::kQuickObjects);
    options.batch = std::min(options.batch, defaults::kQuickDeviceBatch);
  }
  return RunDevice(options, report);
}

UnheededRules<DeviceArguments> DeviceRules() {
  using Arguments = DeviceArguments;
  return {
      {{"--objects"},
       kQuickTakesLess,
       [](const Arguments& a) { return a.quick && a.device.objects > defaults::kQuickObjects; }},
      {{"--batch"},
       kQuickTakesLess,
       [](const Arguments& a) { return a.quick && a.device.batch > defaults::kQuickDeviceBatch; }},
  };
}

}  // namespace

CommandGroup DeviceCommands() {
  return {PromiseCommand<DeviceArguments>(
      "device", "one GPU, keys and values in its memory: operations a second", DeclareDevice,
      MeasureDevice, DeviceRules())};
}

}  // namespace weft::bench
