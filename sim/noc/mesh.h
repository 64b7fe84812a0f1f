// sim/noc/mesh.h: the network on the chip: a mesh of nodes, each with a router, that carries
// packets first along x, then along y.
//
//     0 - 1 - 2 - 3      node n is at column n % columns, row n / columns; memory controllers are
//     |   |   |   |      spread from the first node to the last
//     4 - 5 - 6 - 7
//
// A packet takes hop_cycles a hop, and one cycle more for each flit after its first, also within a
// node. With `is_busy` a link carries one flit a cycle, so a packet waits for those that took the
// link before it; links are taken in the order of the calls.
//
// Units     Time (picoseconds) in and out; options in core cycles.
// Threads   one owner.
// Errors    kInvalidArgument: a mesh without nodes, or with more than 64.
// Source    paper 004, table 2; the simulator's specification, section 1.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "weft/status.h"

namespace weft::sim {

struct MeshOptions {
  int columns = 4;
  int rows = 2;
  Time cycle = 250;
  int hop_cycles = 4;    // a router and a link
  int data_flits = 8;    // of a packet with a line
  bool is_busy = false;  // do packets wait for links?

  int nodes() const { return columns * rows; }
};

Status Validate(const MeshOptions& options);

enum class Packet : uint8_t { kControl, kData };

class Mesh {
 public:
  // REQUIRES: Validate(options).ok()
  explicit Mesh(const MeshOptions& options);

  int Hops(int from, int to) const;
  // When the last flit of a packet that leaves `from` at `sent` is at `to`.
  Time Arrival(Packet packet, int from, int to, Time sent);
  // REQUIRES: 0 <= channel < channels
  int ControllerNode(int channel, int channels) const;

  const MeshOptions& options() const { return options_; }
  // Time that packets waited for links.
  Time waited() const { return waited_; }

 private:
  enum Direction : uint8_t { kEast, kWest, kSouth, kNorth, kDirections };

  Time TakeLink(int node, Direction direction, int flits, Time head);

  const MeshOptions options_;
  std::vector<Time> link_free_;  // by node and direction; empty unless is_busy
  Time waited_ = 0;
};

}  // namespace weft::sim
