#include "bench/harness/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

// A line "Name:   123 kB" of /proc/PID/smaps_rollup, in bytes.
uint64_t SmapsBytes(const std::string& pid, const std::string& name) {
  std::ifstream file("/proc/" + pid + "/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":", 0) != 0) continue;
    return std::stoull(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

[[noreturn]] void RunChild(const std::vector<std::string>& command, const std::vector<int>& cpus,
                           int log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  PinTo(0, cpus);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  std::perror(argv[0]);
  _exit(127);
}

bool MayBeRun(const std::string& path) {
  struct stat status {};
  return access(path.c_str(), X_OK) == 0 && stat(path.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode);
}

}  // namespace

Result<std::string> FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (MayBeRun(name)) return name;
    return Status(Code::kNotFound, name + " is no program that may be run");
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (MayBeRun(folder + "/" + name)) return folder + "/" + name;
  return Status(Code::kNotFound, name + " is not installed: no such program in PATH");
}

Result<std::unique_ptr<Process>> Process::Start(const std::vector<std::string>& command,
                                                const std::vector<int>& cpus,
                                                const std::string& log_path) {
  const int log = open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (log < 0) return Status::FromErrno("open " + log_path, errno);
  const pid_t pid = fork();
  if (pid == 0) RunChild(command, cpus, log);
  close(log);
  if (pid < 0) return Status::FromErrno("fork", errno);
  return std::unique_ptr<Process>(new Process(pid));
}

Process::~Process() {
  if (Ended()) return;
  kill(pid_, SIGTERM);
  for (int i = 0; i < 500; ++i) {
    if (Ended()) return;
    usleep(10'000);
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool Process::Ended() {
  if (!ended_) ended_ = waitpid(pid_, nullptr, WNOHANG) != 0;
  return ended_;
}

CpuSeconds Process::Cpu() const {
  const std::string line = ReadLine("/proc/" + std::to_string(pid_) + "/stat");
  const size_t name_end = line.rfind(')');  // the name may hold spaces
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {user / ticks, system / ticks, CpuSecondsOf(pid_).value_or((user + system) / ticks)};
}

uint64_t Process::ResidentBytes() const { return ResidentBytesOf(std::to_string(pid_)); }
uint64_t Process::HugePageBytes() const { return HugePageBytesOf(std::to_string(pid_)); }

std::optional<double> CpuSecondsOf(pid_t pid) {
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

uint64_t ResidentBytesOf(const std::string& pid) { return SmapsBytes(pid, "Rss"); }
uint64_t HugePageBytesOf(const std::string& pid) { return SmapsBytes(pid, "AnonHugePages"); }

}  // namespace weft::bench
