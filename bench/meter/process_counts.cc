#include "bench/meter/process_counts.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/posix_fd.h"
#include "bench/harness/process.h"

namespace weft::bench {
namespace {

constexpr std::string_view kProc = "/proc";  // elsewhere there are no processes, but a test's files

// Of a file whose size the system does not tell.
Result<std::string> TextOf(const std::string& path) {
  auto fd = base::OpenFd(path, O_RDONLY);
  if (!fd) return fd.error();
  std::string text;
  char part[4096];
  while (true) {
    auto got = base::ReadUpTo(*fd, path, part, sizeof part);
    if (!got) return got.error();
    if (*got == 0) return text;
    text.append(part, *got);
  }
}

std::string FolderOf(pid_t pid, const std::string& proc) { return fmt::format("{}/{}", proc, pid); }

// The number in a line "name:   123 kB" of `text`.
std::optional<uint64_t> Named(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() <= name.size() || line.compare(0, name.size(), name) != 0) continue;
    if (line[name.size()] != ':') continue;
    const size_t digit = line.find_first_of("0123456789", name.size());
    if (digit == std::string::npos) break;
    uint64_t value = 0;
    std::from_chars(line.data() + digit, line.data() + line.size(), value);
    return value;
  }
  return std::nullopt;
}

// Two such numbers of a file.
Result<std::pair<uint64_t, uint64_t>> TwoNamed(const std::string& path, std::string_view first,
                                               std::string_view second) {
  auto text = TextOf(path);
  if (!text) return text.error();
  const auto one = Named(*text, first), other = Named(*text, second);
  if (one && other) return std::pair{*one, *other};
  return Status(Code::kUnsupported, fmt::format("{} has no {}", path, one ? second : first));
}

Status AddStat(pid_t pid, const std::string& proc, StatCounts* sum) {
  const std::string path = FolderOf(pid, proc) + "/stat";
  auto text = TextOf(path);
  if (!text) return text.error();
  const size_t name_end = text->rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return {Code::kCorruption, path + " is not a stat file"};
  std::istringstream fields(text->substr(name_end + 1));
  std::string state, skipped;
  fields >> state;
  for (int field = 4; field < 10; ++field) fields >> skipped;
  // Fields 10 to 17; each with what its waited-for children had.
  uint64_t minor = 0, child_minor = 0, major = 0, child_major = 0;
  double user = 0, system = 0, child_user = 0, child_system = 0;
  fields >> minor >> child_minor >> major >> child_major;
  fields >> user >> system >> child_user >> child_system;
  if (!fields) return {Code::kCorruption, path + " is not a stat file"};
  const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  sum->user += Seconds((user + child_user) / ticks_per_s);
  sum->system += Seconds((system + child_system) / ticks_per_s);
  const std::optional<double> exact = proc == kProc ? CpuSecondsOf(pid) : std::nullopt;
  sum->cpu += Seconds(exact.value_or((user + system) / ticks_per_s) +
                      (child_user + child_system) / ticks_per_s);
  sum->minor_faults += minor + child_minor;
  sum->major_faults += major + child_major;
  return Status::Ok();
}

}  // namespace

std::vector<pid_t> ThreadsOf(pid_t pid, const std::string& proc) {
  std::vector<pid_t> threads;
  std::error_code error;
  const std::filesystem::directory_iterator tasks(FolderOf(pid, proc) + "/task", error);
  if (error) return threads;
  for (auto task = tasks; task != std::filesystem::directory_iterator(); task.increment(error)) {
    const std::string name = task->path().filename();
    pid_t thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc())
      threads.push_back(thread);
    if (error) break;
  }
  return threads;
}

std::vector<pid_t> WithDescendants(const std::vector<pid_t>& pids, const std::string& proc,
                                   const std::vector<pid_t>& without) {
  const auto has = [](const std::vector<pid_t>& list, pid_t pid) {
    return std::find(list.begin(), list.end(), pid) != list.end();
  };
  std::vector<pid_t> all;
  std::vector<pid_t> left = pids;
  while (!left.empty()) {
    const pid_t pid = left.back();
    left.pop_back();
    if (has(all, pid) || has(without, pid)) continue;
    all.push_back(pid);
    for (const pid_t thread : ThreadsOf(pid, proc)) {
      auto children = TextOf(fmt::format("{}/task/{}/children", FolderOf(pid, proc), thread));
      if (!children) continue;  // a kernel without the file, or the thread has ended
      std::istringstream words(*children);
      for (pid_t child = 0; words >> child;) left.push_back(child);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

Result<StatCounts> ReadStat(const std::vector<pid_t>& pids, const std::string& proc) {
  StatCounts sum;
  for (const pid_t pid : pids)
    if (Status status = AddStat(pid, proc, &sum); !status.ok()) return status;
  return sum;
}

Result<DiskCounts> ReadDisk(const std::vector<pid_t>& pids, const std::string& proc) {
  DiskCounts sum;
  for (const pid_t pid : pids) {
    const std::string path = FolderOf(pid, proc) + "/io";
    auto counts = TwoNamed(path, "read_bytes", "write_bytes");
    if (!counts) return counts.error();
    sum.read_bytes += counts->first;
    sum.written_bytes += counts->second;
  }
  return sum;
}

Result<uint64_t> ReadResidentBytes(const std::vector<pid_t>& pids, const std::string& proc) {
  uint64_t sum = 0;
  for (const pid_t pid : pids) {
    const std::string path = FolderOf(pid, proc) + "/status";
    auto text = TextOf(path);
    if (!text) return text.error();
    const auto kibibytes = Named(*text, "VmRSS");
    if (!kibibytes) return Status(Code::kUnsupported, path + " has no VmRSS");
    sum += *kibibytes * 1024;
  }
  return sum;
}

Result<SwitchesByThread> ReadSwitches(const std::vector<pid_t>& pids, const std::string& proc) {
  SwitchesByThread all;
  for (const pid_t pid : pids) {
    const std::vector<pid_t> threads = ThreadsOf(pid, proc);
    if (threads.empty()) return Status(Code::kNotFound, fmt::format("there is no process {}", pid));
    for (const pid_t thread : threads) {
      const std::string path = fmt::format("{}/task/{}/status", FolderOf(pid, proc), thread);
      auto counts = TwoNamed(path, "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches");
      const bool has_ended = access(path.c_str(), F_OK) != 0;
      if (!counts && !has_ended) return counts.error();
      if (counts) all[thread] = {counts->first, counts->second};
    }
  }
  return all;
}

}  // namespace weft::bench
