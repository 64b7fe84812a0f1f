// bench/meter/triad.h: the triad of STREAM, a[i] = b[i] + s * c[i] over arrays that no cache holds:
// the memory's bandwidth, and a hog that takes a share of it.
//
// Units     bytes a second as STREAM counts them: 24 bytes an element, two read and one written.
//           STREAM leaves out what the processor reads of `a` before it writes to it
//           (write-allocate); with it a third more goes over the bus.
// Threads   MeasureTriad: the caller waits. BandwidthHog: one owner.
// Cost      memory: three arrays for each thread, together at least four times the last-level
//           cache.
// Source    McCalpin, "Memory bandwidth and machine balance", 1995; paper 002, table 3.2 and, for
//           the hog, section 4.3 and figure 4.6.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/meter/reading.h"
#include "weft/status.h"

namespace weft::bench {

struct TriadOptions {
  int threads = 1;
  std::vector<int> cpus;     // thread i is kept on cpus[i % size]; empty: anywhere
  double seconds = 0.5;      // for the measurement
  uint64_t array_bytes = 0;  // of each of a thread's three; 0: by the rule above
};

// The smallest size of one of a thread's arrays by the rule above.
uint64_t TriadArrayBytes(int threads);

// The bandwidth of `threads` threads at once; kInvalidArgument for none of them, kNoMemory.
Result<double> MeasureTriad(const TriadOptions& options);
// The same as memory_bandwidth_bytes_per_s.
Reading TriadReading(const TriadOptions& options);

// Threads that take memory bandwidth at a rate, from Start to their end.
class BandwidthHog {
 public:
  // `share`, 0 to 1, of `full_bytes_per_s`, which MeasureTriad found for these threads.
  static Result<std::unique_ptr<BandwidthHog>> Start(const TriadOptions& options,
                                                     double full_bytes_per_s, double share);
  ~BandwidthHog();
  BandwidthHog(const BandwidthHog&) = delete;
  BandwidthHog& operator=(const BandwidthHog&) = delete;

  // Of the same full rate, from now on; BytesPerSecond begins anew.
  void SetShare(double share);
  // What the threads got since Start or SetShare.
  double BytesPerSecond() const;

 private:
  BandwidthHog(const TriadOptions& options, double full_bytes_per_s)
      : options_(options), full_bytes_per_s_(full_bytes_per_s) {}
  void Run(int number, std::vector<double>* arrays);

  const TriadOptions options_;
  const double full_bytes_per_s_;
  std::atomic<double> share_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<bool> ending_{false};
  uint64_t begin_bytes_ = 0;
  uint64_t begin_ns_ = 0;
  std::vector<std::vector<double>> arrays_;
  std::vector<std::thread> threads_;
};

}  // namespace weft::bench
