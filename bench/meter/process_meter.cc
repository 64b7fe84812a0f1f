#include "bench/meter/process_meter.h"

#include <fmt/format.h>

namespace weft::bench {
namespace {

// A child may end between being listed and being read; then its parent has its figures.
constexpr int kListTries = 3;

template <typename Value, typename Read>
Result<Value> Repeated(const Read& read) {
  Result<Value> value = read();
  for (int i = 1; i < kListTries && !value; ++i) value = read();
  return value;
}

// The difference, or why there is none.
template <typename Counts, typename Field>
Reading Grown(const Result<Counts>& before, const Result<Counts>& after, const char* unit,
              const char* source, const Field& field) {
  for (const auto* end : {&before, &after})
    if (!*end) return Reading::Unavailable(end->error().ToString());
  return Reading::Of(field(after.value()) - field(before.value()), unit, source);
}

double Count(uint64_t count) { return static_cast<double>(count); }

}  // namespace

ProcessMeter::Counts ProcessMeter::ReadCounts() const {
  return {Repeated<StatCounts>([&] { return ReadStat(Processes(), proc_); }),
          Repeated<DiskCounts>([&] { return ReadDisk(Processes(), proc_); }),
          Repeated<uint64_t>([&] { return ReadResidentBytes(Processes(), proc_); })};
}

void ProcessMeter::Start(const std::vector<pid_t>& pids) {
  pids_ = pids;
  switches_.clear();
  switches_before_.clear();
  switches_status_ = Status::Ok();
  Sample();
  switches_before_ = switches_;
  before_ = ReadCounts();
}

void ProcessMeter::Sample() {
  auto now = Repeated<SwitchesByThread>([this] { return ReadSwitches(Processes(), proc_); });
  if (!now) {
    switches_status_ = now.error();
    return;
  }
  for (const auto& [thread, counts] : *now) switches_[thread] = counts;
}

Result<Seconds> ProcessMeter::CpuSinceStart() const {
  if (!before_) return Status(Code::kInvalidArgument, "the meter was not started");
  if (!before_->stat) return before_->stat.error();
  auto now = Repeated<StatCounts>([this] { return ReadStat(Processes(), proc_); });
  if (!now) return now.error();
  const StatCounts& before = before_->stat.value();
  return now->cpu - before.cpu;
}

void ProcessMeter::AddSwitchReadings(Readings* readings) const {
  const char* const kNames[] = {"context_switches", "voluntary_context_switches",
                                "involuntary_context_switches"};
  if (!switches_status_.ok()) {
    for (const char* name : kNames)
      readings->emplace(name, Reading::Unavailable(switches_status_.ToString()));
    return;
  }
  double voluntary = 0, involuntary = 0;
  for (const auto& [thread, now] : switches_) {
    const auto found = switches_before_.find(thread);
    const SwitchCounts before = found == switches_before_.end() ? SwitchCounts{} : found->second;
    voluntary += Count(now.voluntary) - Count(before.voluntary);
    involuntary += Count(now.involuntary) - Count(before.involuntary);
  }
  const double values[] = {voluntary + involuntary, voluntary, involuntary};
  for (int i = 0; i < 3; ++i)
    readings->emplace(kNames[i], Reading::Of(values[i], "1", "/proc/PID/task/TID/status"));
}

Readings ProcessMeter::Stop() {
  WEFT_CHECK(before_.has_value());  // Start was called
  Sample();
  Readings readings;
  AddSwitchReadings(&readings);
  const Counts after = ReadCounts();
  const auto stat = [&](const char* name, const char* unit, const auto& field) {
    readings.emplace(name, Grown(before_->stat, after.stat, unit, "/proc/PID/stat", field));
  };
  Reading cpu = Grown(before_->stat, after.stat, "s", "clock_getcpuclockid",
                      [](const StatCounts& counts) { return counts.cpu.value(); });
  // A child that has ended meanwhile counts in steps: a short run may seem to lose one.
  if (cpu.available() && cpu.value() < 0) cpu = Reading::Of(0, "s", "clock_getcpuclockid");
  readings.emplace("cpu_s", cpu);
  stat("cpu_user_s", "s", [](const StatCounts& counts) { return counts.user.value(); });
  stat("cpu_system_s", "s", [](const StatCounts& counts) { return counts.system.value(); });
  stat("major_page_faults", "1", [](const StatCounts& c) { return Count(c.major_faults); });
  stat("page_faults", "1",
       [](const StatCounts& c) { return Count(c.major_faults) + Count(c.minor_faults); });
  const auto disk = [&](const char* name, const auto& field) {
    readings.emplace(name, Grown(before_->disk, after.disk, "B", "/proc/PID/io", field));
  };
  disk("disk_read_bytes", [](const DiskCounts& counts) { return Count(counts.read_bytes); });
  disk("disk_written_bytes", [](const DiskCounts& counts) { return Count(counts.written_bytes); });
  const auto& resident = after.resident_bytes;
  readings.emplace("resident_bytes",
                   resident ? Reading::Of(Count(resident.value()), "B", "/proc/PID/status")
                            : Reading::Unavailable(resident.error().ToString()));
  return readings;
}

}  // namespace weft::bench
