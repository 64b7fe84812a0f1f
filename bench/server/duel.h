// bench/server/duel.h: subject and peer, both running and holding the same keys, loaded in turns.
//
// Turns, not one after the other's whole series: a machine that slows down for a minute then slows
// both. Odd repetitions begin with the peer.
//
// Threads: the caller's, besides the client threads of a turn.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/client/sources.h"
#include "bench/server/options.h"

namespace weft::bench {

// One turn of one server.
struct Turn {
  LoadResult load;
  CpuSeconds cpu;         // of the server, during the turn
  nlohmann::json probes;  // counters and joules an operation, or "unavailable"

  double OpsPerSecond() const { return static_cast<double>(load.counts.ops) / load.wall_s; }
  // CPU seconds per million of `units` (operations, keys).
  double CpuPerMillion(uint64_t units) const {
    return cpu.total / static_cast<double>(units) * 1e6;
  }
};

// A server with its clients connected.
class Contestant {
 public:
  // Starts it and stores the keys of `options`.
  static Result<std::unique_ptr<Contestant>> Start(const PeerSpec& spec,
                                                   const ServerOptions& options);

  // Warms up, then runs the load for options.run_s. kCorruption after a wrong reply.
  Result<Turn> Play(const MixedSource::Options& load);

  Peer& peer() { return *peer_; }

 private:
  explicit Contestant(const ServerOptions& options)
      : options_(options), picker_(options.keys, options.zipf) {}
  LoadResult Load(const MixedSource::Options& load, double seconds);

  const ServerOptions options_;
  const KeyPicker picker_;
  std::unique_ptr<Peer> peer_;
  std::vector<std::unique_ptr<ClosedLoop>> clients_;
};

// Calls turn(0 = subject or 1 = peer, repetition) for all repetitions, in alternating order.
Status Alternate(int repetitions, const std::function<Status(int side, int repetition)>& turn);

PayloadShape ShapeOf(const ServerOptions& options);
nlohmann::json DetailsOf(const ServerOptions& options);

}  // namespace weft::bench
