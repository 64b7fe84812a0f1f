// bench/meter/process_meter.h: what the processes under measurement took of the machine: CPU time,
// context switches, page faults, disk bytes, resident memory.
//
// Readings  cpu_s, cpu_user_s, cpu_system_s; context_switches, voluntary_context_switches,
//           involuntary_context_switches; page_faults, major_page_faults; disk_read_bytes,
//           disk_written_bytes; resident_bytes, at the end.
// Needs     /proc. Disk bytes of another user's process need root or CAP_SYS_PTRACE.
// Limits    context switches of threads that come and go between two samples are missed.
// Threads   one owner, as bench/meter/meter.h says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/meter/meter.h"
#include "bench/meter/process_counts.h"

namespace weft::bench {

class ProcessMeter : public Meter {
 public:
  // `without`: processes that do not count, though those under measurement started them.
  explicit ProcessMeter(std::string proc = "/proc", std::vector<pid_t> without = {})
      : proc_(std::move(proc)), without_(std::move(without)) {}

  void Start(const std::vector<pid_t>& pids) override;
  void Sample() override;
  Readings Stop() override;

  // CPU time so far; none if the processes are gone.
  Result<Seconds> CpuSinceStart() const;

 private:
  struct Counts {
    Result<StatCounts> stat;
    Result<DiskCounts> disk;
    Result<uint64_t> resident_bytes;
  };
  std::vector<pid_t> Processes() const { return WithDescendants(pids_, proc_, without_); }
  Counts ReadCounts() const;
  void AddSwitchReadings(Readings* readings) const;

  const std::string proc_;
  const std::vector<pid_t> without_;
  std::vector<pid_t> pids_;
  std::optional<Counts> before_;
  SwitchesByThread switches_before_;
  SwitchesByThread switches_;  // each thread's when it was last seen
  Status switches_status_;
};

}  // namespace weft::bench
