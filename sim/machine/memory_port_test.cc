#include "sim/machine/memory_port.h"

#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "sim/machine/machine_test_kit.h"

namespace weft::sim {
namespace {

struct Client : PortClient {
  void OnReadDone(int /*channel*/, const L2Request& request, Time now) override {
    done[request.line] = now;
  }
  void OnPrefetchDone(int /*channel*/, uint64_t line, Time now) override { done[line] = now; }
  void OnAsked(const Asker& /*asker*/, bool /*was_dropped*/, Time /*now*/) override {}
  void OnOutcome(PrefetchOutcome /*outcome*/) override {}

  std::map<uint64_t, Time> done;
};

class MemoryPortTest : public testing::Test {
 protected:
  // All of it, with what `bring` brings at once.
  void Play(const ControllerOptions& controller, const PortOptions& options,
            const std::function<void(MemoryPort&)>& bring) {
    client_.done.clear();
    Preset preset = PresetNamed(kDefaultPreset);
    preset.organization.channels = 1;
    const AddressMap map(Interleave::kRank, preset.organization);
    MemoryPort port(0, preset, map, controller, options, &client_);
    bring(port);
    while (!port.is_idle()) port.Tick();
    port.WriteOut();
    port.CheckConservation();
  }

  Client client_;
};

// The second write finds no room in the buffer. A read of its line that came later would be served
// from memory if it went ahead; behind the write, it is served from the buffer, and at once.
TEST_F(MemoryPortTest, AReadDoesNotOvertakeAWriteOfItsLine) {
  ControllerOptions controller;
  controller.writes = WritePolicy::kBuffer;
  controller.write_buffer_max = 1;
  int reads = 0;
  controller.on_command = [&](const IssuedCommand& issued) {
    reads += issued.command == Command::kRead;
  };
  const auto bring = [](MemoryPort& port) {
    port.Write(1, 0);
    port.Write(2, 0);
    port.Read({.line = 2}, 0);
    port.Read({.line = 3}, 0);
  };
  Play(controller, {}, bring);
  EXPECT_EQ(client_.done.size(), 2u);
  EXPECT_EQ(reads, 1);
  EXPECT_LT(client_.done[2], client_.done[3]);
}

// A prefetch waits for reads that cores wait for, and not for writes.
TEST_F(MemoryPortTest, DemandFirstIsForReads) {
  ControllerOptions controller;
  controller.transactions_max = 1;
  controller.commands_max = 1;
  // Rows of one bank.
  const auto line = [](uint64_t row) { return row << 12; };
  const auto prefetched_at = [&](bool demand_first, bool has_read) {
    Play(controller, {.demand_first = demand_first}, [&](MemoryPort& port) {
      port.Write(line(1), 0);
      port.Write(line(2), 0);
      port.Prefetch(line(3), {}, 0);
      port.Write(line(4), 0);
      if (has_read) port.Read({.line = line(5)}, 0);
    });
    return client_.done[line(3)];
  };
  EXPECT_EQ(prefetched_at(true, false), prefetched_at(false, false));
  EXPECT_GT(prefetched_at(true, true), prefetched_at(false, true));
}

}  // namespace
}  // namespace weft::sim
