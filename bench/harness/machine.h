// bench/harness/machine.h: the machine on which a figure was taken, and where threads may run.
//
// Threads: any.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::bench {

struct Machine {
  std::string host_class;  // "2x-amd-epyc": CPUs and model, fit for a file name
  std::string cpu_model;
  std::string kernel;
  std::string huge_pages;  // the bracketed choice of transparent_hugepage/enabled
  std::string commit;      // of the source tree, "-dirty" with local changes; or "unknown"
  int cpus = 0;            // that this process may use
  double memory_gib = 0;
};

// Reads it once; later calls are free.
const Machine& ThisMachine();
nlohmann::json ToJson(const Machine& machine);

// CPUs this process was started on, ascending.
std::vector<int> UsableCpus();

// Keeps a thread (0: the caller) or a process's main thread on `cpus`; false if the system refuses.
bool PinTo(pid_t thread, const std::vector<int>& cpus);

// "0", "1-3", "0,2,4-7". Empty if the text is no list.
std::vector<int> ParseCpuList(const std::string& text);
std::string CpuListText(const std::vector<int>& cpus);

// When a figure was taken: "2026-11-27T06:30:00Z".
std::string NowText();

// CPU seconds that the calling thread has used so far.
double ThreadCpuSeconds();

// First line of a file, without its end; empty if it can't be read.
std::string ReadLine(const std::string& path);

}  // namespace weft::bench
