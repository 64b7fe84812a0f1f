// bench/client/closed_loop.h: a client that keeps every connection busy: each sends its next round
// as soon as the last one is answered.
//
// For throughput and for cost per operation. Its latencies omit what a slow server kept from being
// sent; open_loop.h has the honest ones.
//
// Threads   a ClosedLoop belongs to the thread that runs it; RunSideBySide gives each its own.
// Cost      one epoll wait per burst of replies, one receive and one send a round.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/histogram.h"
#include "bench/client/connection.h"
#include "weft/status.h"

namespace weft::bench {

// Says what the connections of one client ask. Called from the client's thread only.
class RoundSource {
 public:
  virtual ~RoundSource() = default;
  // Adds the connection's next requests to the empty `round`. Left empty: nothing more to ask.
  virtual void Fill(size_t connection, Round* round) = 0;
  // The round was answered: ids and hits are in it.
  virtual void Done(size_t connection, const Round& round) { (void)connection, (void)round; }
};

struct LoadResult {
  ReplyCounts counts;
  double wall_s = 0;
  double client_cpu_s = 0;
  double client_busy = 0;    // largest share of its wall time that a client thread computed
  base::Histogram round_ns;  // from a round's sending to its last reply

  void Merge(const LoadResult& other);
  // Was the client, not the server, the limit?
  bool ClientSaturated() const { return client_busy > 0.97; }
};

class ClosedLoop {
 public:
  // Opens `connections` to 127.0.0.1:`port`.
  static Result<std::unique_ptr<ClosedLoop>> Open(uint16_t port, size_t connections,
                                                  const PayloadShape& shape);
  ~ClosedLoop();

  // Runs for `seconds` (0: until the source has nothing more), then waits for what is under way.
  // A wrong reply ends the run at once: counts.errors.
  LoadResult Run(RoundSource& source, double seconds);

 private:
  ClosedLoop() = default;
  bool Next(size_t index, RoundSource& source, LoadResult* result);

  int epoll_ = -1;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<uint64_t> sent_ns_;
};

// Runs client i with source i, each on its own thread, pinned to cpus[i] where given.
LoadResult RunSideBySide(const std::vector<std::unique_ptr<ClosedLoop>>& clients,
                         const std::vector<std::unique_ptr<RoundSource>>& sources,
                         const std::vector<int>& cpus, double seconds);

}  // namespace weft::bench
