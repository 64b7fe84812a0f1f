#include "bench/meter/perf_meter.h"

#include <cerrno>
#include <string>

#include <fmt/format.h>

#include "bench/meter/process_counts.h"

namespace weft::bench {
namespace {

struct Event {
  const char* name;
  uint64_t config;
};
constexpr Event kEvents[] = {
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_COUNT_HW_CPU_CYCLES},
    {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch_misses", PERF_COUNT_HW_BRANCH_MISSES},
    {"cache_references", PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache_misses", PERF_COUNT_HW_CACHE_MISSES},
};

}  // namespace

std::string PerfMeter::Reason(int error_number, const std::string& paranoid, bool whole_machine) {
  switch (error_number) {
    case EACCES:
    case EPERM:
      return fmt::format(
          "not permitted: kernel.perf_event_paranoid is {}; needs at most {} or CAP_PERFMON",
          paranoid.empty() ? "missing" : paranoid, whole_machine ? 0 : 2);
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "this processor, or the virtual machine, has no such counter";
    case EMFILE: return "too many open files: each thread needs one for each counter (ulimit -n)";
    case ENOSYS: return "this kernel has no perf events";
    case ESRCH: return "the process has ended";
    default: return std::string(Status::FromErrno("perf_event_open", error_number).message());
  }
}

PerfMeter::~PerfMeter() { CloseAll(); }

void PerfMeter::CloseAll() {
  for (auto* counters : {&of_processes_, &of_machine_}) {
    for (const Counter& counter : *counters)
      for (const int fd : counter.fds) options_.system->Close(fd);
    counters->clear();
  }
}

int PerfMeter::TryOpen(uint64_t config, bool user_only, const std::vector<Place>& places,
                       std::vector<int>* fds) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.exclude_kernel = user_only;
  attributes.exclude_hv = user_only;
  for (const Place& place : places) {
    attributes.inherit = place.pid >= 0;
    const int fd = options_.system->Open(attributes, place.pid, place.cpu);
    if (fd >= 0) {
      fds->push_back(fd);
      continue;
    }
    const int error_number = errno;
    if (error_number == ESRCH && places.size() > 1) continue;  // a thread that has just ended
    for (const int open : *fds) options_.system->Close(open);
    fds->clear();
    return error_number;
  }
  return fds->empty() ? ESRCH : 0;
}

PerfMeter::Counter PerfMeter::Open(const std::string& name, uint64_t config,
                                   const std::vector<Place>& places) {
  Counter counter;
  counter.name = name;
  int error_number = TryOpen(config, false, places, &counter.fds);
  if (error_number == EACCES || error_number == EPERM) {
    counter.user_only = true;
    error_number = TryOpen(config, true, places, &counter.fds);
  }
  if (error_number != 0) {
    const bool whole_machine = !places.empty() && places[0].pid < 0;
    counter.reason = Reason(error_number, options_.system->Paranoid(), whole_machine);
    return counter;
  }
  auto before = ReadAll(counter.fds);
  if (before) {
    counter.before = std::move(*before);
  } else {
    counter.reason = before.error().ToString();
  }
  return counter;
}

void PerfMeter::Start(const std::vector<pid_t>& pids) {
  CloseAll();
  std::vector<Place> threads;
  for (const pid_t pid : WithDescendants(pids, options_.proc, options_.without))
    for (const pid_t thread : ThreadsOf(pid, options_.proc)) threads.push_back({thread, -1});
  for (const Event& event : kEvents)
    of_processes_.push_back(Open(event.name, event.config, threads));
  if (!options_.by_cpu) return;
  std::vector<Place> cpus;
  for (const int cpu : options_.cpus) cpus.push_back({-1, cpu});
  for (const Event& event : kEvents)
    of_machine_.push_back(Open(std::string("machine_") + event.name, event.config, cpus));
}

Result<std::vector<PerfMeter::Raw>> PerfMeter::ReadAll(const std::vector<int>& fds) const {
  std::vector<Raw> all;
  for (const int fd : fds) {
    Raw raw{};
    const ssize_t got = options_.system->Read(fd, &raw, sizeof raw);
    if (got < 0) return Status::FromErrno("read of a counter", errno);
    // The kernel's way to say that a pinned counter has been lost.
    if (got != sizeof raw) return Status(Code::kUnsupported, "the kernel stopped the counter");
    all.push_back(raw);
  }
  return all;
}

Reading PerfMeter::ReadingOf(const Counter& counter, bool by_cpu) const {
  if (!counter.reason.empty()) return Reading::Unavailable(counter.reason);
  auto after = ReadAll(counter.fds);
  if (!after) return Reading::Unavailable(after.error().ToString());
  double sum = 0, enabled_ns = 0, running_ns = 0;
  std::vector<double> parts;
  for (size_t i = 0; i < after->size(); ++i) {
    const Raw& begin = counter.before[i];
    const Raw& end = (*after)[i];
    const auto enabled = static_cast<double>(end.enabled_ns - begin.enabled_ns);
    const auto running = static_cast<double>(end.running_ns - begin.running_ns);
    const auto counted = static_cast<double>(end.value - begin.value);
    // A thread that did not run counted nothing; one that ran without its turn is unknown.
    if (enabled > 0 && running == 0)
      return Reading::Unavailable("other events kept the counter for all of the run");
    parts.push_back(running > 0 ? counted * (enabled / running) : 0);
    sum += parts.back();
    enabled_ns += enabled;
    running_ns += running;
  }
  std::string source = "perf";
  if (counter.user_only) source += ", user only";
  if (running_ns < enabled_ns)
    source += fmt::format(", counted {:.0f} % of the time", 100 * running_ns / enabled_ns);
  Reading reading = Reading::Of(sum, "1", source);
  return by_cpu ? std::move(reading).ByCpu(std::move(parts)) : reading;
}

Readings PerfMeter::Stop() {
  Readings readings;
  for (const Counter& counter : of_processes_)
    readings.emplace(counter.name, ReadingOf(counter, false));
  for (const Counter& counter : of_machine_)
    readings.emplace(counter.name, ReadingOf(counter, true));
  CloseAll();
  return readings;
}

}  // namespace weft::bench
