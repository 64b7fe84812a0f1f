#include "sim/noc/mesh.h"

#include <gtest/gtest.h>

namespace weft::sim {
namespace {

constexpr Time kCycle = 250;

TEST(Mesh, CountsHopsAlongXAndY) {
  const Mesh mesh({});
  EXPECT_EQ(mesh.Hops(0, 0), 0);
  EXPECT_EQ(mesh.Hops(0, 3), 3);
  EXPECT_EQ(mesh.Hops(0, 4), 1);
  EXPECT_EQ(mesh.Hops(0, 7), 4);
  EXPECT_EQ(mesh.Hops(7, 0), 4);
  EXPECT_EQ(mesh.Hops(2, 5), 2);
  int sum = 0;
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) sum += mesh.Hops(from, to);
  }
  EXPECT_EQ(sum / 64.0, 1.75);
}

TEST(Mesh, APacketTakesFourCyclesAHopAndSevenForItsData) {
  Mesh mesh({});
  EXPECT_EQ(mesh.Arrival(Packet::kControl, 0, 7, 1000), 1000 + 16 * kCycle);
  EXPECT_EQ(mesh.Arrival(Packet::kData, 0, 7, 1000), 1000 + 23 * kCycle);
  EXPECT_EQ(mesh.Arrival(Packet::kControl, 5, 5, 1000), 1000);
  EXPECT_EQ(mesh.Arrival(Packet::kData, 5, 5, 1000), 1000 + 7 * kCycle);
  // The same link twice at once: nothing waits.
  EXPECT_EQ(mesh.Arrival(Packet::kData, 0, 7, 1000), 1000 + 23 * kCycle);
  EXPECT_EQ(mesh.waited(), 0);
}

TEST(Mesh, ControllersAreSpreadOverTheNodes) {
  const Mesh mesh({});
  EXPECT_EQ(mesh.ControllerNode(0, 1), 0);
  EXPECT_EQ(mesh.ControllerNode(0, 2), 0);
  EXPECT_EQ(mesh.ControllerNode(1, 2), 7);
  EXPECT_EQ(mesh.ControllerNode(1, 4), 2);
  EXPECT_EQ(mesh.ControllerNode(3, 4), 7);
  EXPECT_EQ(mesh.ControllerNode(15, 16), 7);
}

TEST(Mesh, BusyLinksCarryOneFlitACycle) {
  Mesh mesh({.is_busy = true});
  EXPECT_EQ(mesh.Arrival(Packet::kData, 0, 1, 0), 11 * kCycle);
  // Its first flit follows the last of the one before.
  EXPECT_EQ(mesh.Arrival(Packet::kControl, 0, 1, 0), 12 * kCycle);
  EXPECT_EQ(mesh.waited(), 8 * kCycle);
  // The other direction, and the link below, are free.
  EXPECT_EQ(mesh.Arrival(Packet::kControl, 1, 0, 0), 4 * kCycle);
  EXPECT_EQ(mesh.Arrival(Packet::kControl, 0, 4, 0), 4 * kCycle);
  // x first: 0 -> 1 is taken until cycle 9, 1 -> 5 is not.
  EXPECT_EQ(mesh.Arrival(Packet::kControl, 0, 5, 0), (9 + 8) * kCycle);
  // Later packets find links free again.
  EXPECT_EQ(mesh.Arrival(Packet::kData, 0, 7, 100 * kCycle), (100 + 23) * kCycle);
}

TEST(Mesh, RefusesSizesThatItCannotHave) {
  EXPECT_TRUE(Validate(MeshOptions{}).ok());
  EXPECT_EQ(Validate(MeshOptions{.columns = 0}).code(), Code::kInvalidArgument);
  EXPECT_EQ(Validate(MeshOptions{.columns = 9, .rows = 8}).code(), Code::kInvalidArgument);
  EXPECT_EQ(Validate(MeshOptions{.cycle = 0}).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace weft::sim
