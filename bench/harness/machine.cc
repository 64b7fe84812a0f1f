#include "bench/harness/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/cpu_facts.h"

namespace weft::bench {
namespace {

std::string CpuModel() {
  const std::string model = base::CpuModel();
  return model.empty() ? "unknown" : model;
}

// Lower case letters and digits, everything else one dash: fit for a file name.
std::string Slug(const std::string& text) {
  std::string slug;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug;
}

std::string OutputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  char part[256];
  while (const size_t got = fread(part, 1, sizeof part, pipe)) text.append(part, got);
  pclose(pipe);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string Commit() {
  if (const char* given = std::getenv("WEFT_COMMIT")) return given;
  const std::string at = std::string("git -C '") + WEFT_SOURCE_DIR + "' ";
  const std::string hash = OutputOf(at + "rev-parse --short=12 HEAD 2>/dev/null");
  if (hash.empty()) return "unknown";
  const bool dirty = !OutputOf(at + "status --porcelain -uno 2>/dev/null").empty();
  return dirty ? hash + "-dirty" : hash;
}

std::string HugePages() {
  const std::string line = ReadLine("/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t open = line.find('[');
  const size_t close = line.find(']');
  if (open == std::string::npos || close == std::string::npos) return "unavailable";
  return line.substr(open + 1, close - open - 1);
}

Machine Read() {
  Machine machine;
  machine.cpu_model = CpuModel();
  machine.cpus = static_cast<int>(UsableCpus().size());
  machine.host_class = fmt::format("{}x-{}", machine.cpus, Slug(machine.cpu_model));
  utsname name;
  machine.kernel = uname(&name) == 0 ? name.release : "unknown";
  machine.huge_pages = HugePages();
  machine.commit = Commit();
  machine.memory_gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<double>(sysconf(_SC_PAGE_SIZE)) / (1 << 30);
  return machine;
}

}  // namespace

const Machine& ThisMachine() {
  static const Machine machine = Read();
  return machine;
}

nlohmann::json ToJson(const Machine& machine) {
  return {{"host_class", machine.host_class},
          {"cpu_model", machine.cpu_model},
          {"kernel", machine.kernel},
          {"huge_pages", machine.huge_pages},
          {"cpus", machine.cpus},
          {"memory_gib", machine.memory_gib}};
}

std::vector<int> UsableCpus() {
  static const std::vector<int> cpus = [] {
    std::vector<int> found;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return found;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) found.push_back(cpu);
    return found;
  }();
  return cpus;
}

bool PinTo(pid_t thread, const std::vector<int>& cpus) {
  if (cpus.empty()) return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  return sched_setaffinity(thread, sizeof set, &set) == 0;
}

std::vector<int> ParseCpuList(const std::string& text) {
  std::vector<int> cpus;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0;
    const char* const end = part.data() + part.size();
    std::from_chars_result read = std::from_chars(part.data(), end, first);
    if (read.ec != std::errc() || first < 0) return {};
    int last = first;
    if (read.ptr != end) {
      if (*read.ptr != '-') return {};
      read = std::from_chars(read.ptr + 1, end, last);
      if (read.ec != std::errc() || read.ptr != end || last < first) return {};
    }
    for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string CpuListText(const std::vector<int>& cpus) {
  return cpus.empty() ? "any" : fmt::format("{}", fmt::join(cpus, ","));
}

std::string NowText() {
  const std::time_t now = std::time(nullptr);
  std::tm utc;
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

double ThreadCpuSeconds() { return static_cast<double>(base::ThreadCpuNs()) * 1e-9; }

std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace weft::bench
