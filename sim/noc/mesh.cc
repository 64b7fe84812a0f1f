#include "sim/noc/mesh.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/check.h"

namespace weft::sim {

Status Validate(const MeshOptions& options) {
  constexpr int kNodesMax = 64;
  const bool fits = options.columns > 0 && options.rows > 0 && options.columns <= kNodesMax &&
                    options.rows <= kNodesMax && options.nodes() <= kNodesMax;
  if (!fits) {
    return {Code::kInvalidArgument, "mesh of " + std::to_string(options.columns) + " x " +
                                        std::to_string(options.rows) +
                                        ": it must have 1 to 64 nodes"};
  }
  if (options.cycle <= 0 || options.hop_cycles < 0 || options.data_flits < 1) {
    return {Code::kInvalidArgument, "mesh: a packet has flits, and time doesn't run backwards"};
  }
  return Status::Ok();
}

Mesh::Mesh(const MeshOptions& options)
    : options_(options),
      link_free_(options.is_busy ? static_cast<size_t>(options.nodes()) * kDirections : 0) {}

int Mesh::Hops(int from, int to) const {
  const int columns = options_.columns;
  return std::abs(from % columns - to % columns) + std::abs(from / columns - to / columns);
}

Time Mesh::TakeLink(int node, Direction direction, int flits, Time head) {
  Time& free = link_free_[static_cast<size_t>(node) * kDirections + direction];
  const Time taken = std::max(head, free);
  waited_ += taken - head;
  free = taken + flits * options_.cycle;
  return taken + options_.hop_cycles * options_.cycle;
}

Time Mesh::Arrival(Packet packet, int from, int to, Time sent) {
  const int flits = packet == Packet::kData ? options_.data_flits : 1;
  const Time tail = (flits - 1) * options_.cycle;
  if (!options_.is_busy) return sent + Hops(from, to) * options_.hop_cycles * options_.cycle + tail;
  const int columns = options_.columns;
  Time head = sent;
  int node = from;
  while (node % columns != to % columns) {
    const bool is_east = node % columns < to % columns;
    head = TakeLink(node, is_east ? kEast : kWest, flits, head);
    node += is_east ? 1 : -1;
  }
  while (node != to) {
    const bool is_south = node < to;
    head = TakeLink(node, is_south ? kSouth : kNorth, flits, head);
    node += is_south ? columns : -columns;
  }
  return head + tail;
}

int Mesh::ControllerNode(int channel, int channels) const {
  WEFT_DCHECK(channel >= 0 && channel < channels);
  return channels == 1 ? 0 : channel * (options_.nodes() - 1) / (channels - 1);
}

}  // namespace weft::sim
