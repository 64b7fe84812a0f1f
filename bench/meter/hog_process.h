// bench/meter/hog_process.h: a BandwidthHog (bench/meter/triad.h) in a separate process. Its
// instructions and CPU time do not pass for those of a store in this one: name its pid() in
// MeterOptions::without.
//
// Units     bytes a second, as the triad counts them.
// Threads   one owner. Start forks: no other thread of the program may run.
// Errors    kIoError: it has ended. It ends when its owner does, and when that is killed.
// Cost      the arrays' memory; for SetShare and BytesPerSecond, a message and its answer.
#pragma once

#include <sys/types.h>

#include <memory>
#include <utility>

#include "base/posix_fd.h"
#include "bench/meter/triad.h"
#include "weft/status.h"

namespace weft::bench {

class HogProcess {
 public:
  // Takes nothing yet. `full_bytes_per_s` and errors as in BandwidthHog::Start.
  static Result<std::unique_ptr<HogProcess>> Start(const TriadOptions& options,
                                                   double full_bytes_per_s);
  // Ends it and waits.
  ~HogProcess();
  HogProcess(const HogProcess&) = delete;
  HogProcess& operator=(const HogProcess&) = delete;

  // As in BandwidthHog.
  Status SetShare(double share);
  Result<double> BytesPerSecond();

  pid_t pid() const { return pid_; }

 private:
  HogProcess(pid_t pid, base::Fd socket) : pid_(pid), socket_(std::move(socket)) {}
  Result<double> Ask(double share);

  const pid_t pid_;
  base::Fd socket_;
};

}  // namespace weft::bench
