// bench/server/duel.h: subject and peer, both running and holding the same records, loaded in turns
// by the client of bench/target and bench/drive.
//
// Turns, not one after the other's whole series: a machine that slows down for a minute then slows
// both. Odd repetitions begin with the peer.
//
// Threads: the caller's, besides the client threads of a turn.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/drive/load.h"
#include "bench/server/options.h"

namespace weft::bench {

// What is asked in a turn.
struct TurnOptions {
  double get_share = 0.95;
  int depth = 1;         // requests that a connection sends at once and then waits for
  int keys_per_get = 1;  // of several, depth is 1; an operation is then a key
  uint64_t seed = 0;
};

// One turn of one server.
struct Turn {
  LoadFigures load;
  CpuSeconds cpu;         // of the server, while it was counted
  nlohmann::json probes;  // counters and joules a request, or "unavailable"

  // CPU seconds per million operations.
  double CpuPerMillion() const { return cpu.total / static_cast<double>(load.operations) * 1e6; }
};

// A server with the records of `options`.
class Contestant {
 public:
  // Starts it and stores the records.
  static Result<std::unique_ptr<Contestant>> Start(const PeerSpec& spec,
                                                   const ServerOptions& options);

  // Warms up, then keeps every connection busy for options.run_s. kCorruption after a wrong answer.
  Result<Turn> Play(const TurnOptions& turn);
  // Likewise on schedule, by one thread: rounds of `turn.depth` requests, so that there are `rate`
  // requests a second. kRetryLater: it is far behind.
  Result<LoadFigures> PlayAtRate(const TurnOptions& turn, double rate, bool poisson);

  Peer& peer() { return *peer_; }

 private:
  Contestant(const ServerOptions& options, RecordFormat format)
      : options_(options), format_(std::move(format)) {}
  LoadOptions LoadOptionsOf(const TurnOptions& turn, size_t threads) const;
  Result<LoadFigures> Load(const TurnOptions& turn, const LoadOptions& load,
                           const LoadEvents& events);

  const ServerOptions options_;
  const RecordFormat format_;
  std::unique_ptr<Peer> peer_;
  RecordSpace space_;
};

// Calls turn(0 = subject or 1 = peer, repetition) for all repetitions, in alternating order.
Status Alternate(int repetitions, const std::function<Status(int side, int repetition)>& turn);

// A client of a server that runs, with the protocol and the TLS of `options`. `multi_get`: gets
// that are asked at once are one request.
Result<std::unique_ptr<Target>> ClientOf(const ServerOptions& options, const Peer& peer,
                                         const RecordFormat& format, bool multi_get = false);
// Stores options.keys records, then reads a sample back. kCorruption if the server refused a set,
// lost a record or answered wrongly.
Status FillServer(const ServerOptions& options, const Peer& peer, const RecordFormat& format,
                  RecordSpace* space);

// Keys and values of one size each. kInvalidArgument: the sizes can't be.
Result<RecordFormat> FormatOf(const ServerOptions& options);
nlohmann::json DetailsOf(const ServerOptions& options);

}  // namespace weft::bench
