#include "bench/harness/cpu_load.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace weft::bench {
namespace {

constexpr const char* kProgram = "stress-ng";

// Where the shell would find it; empty where it would not.
std::string PathOfProgram() {
  const char* const given = std::getenv("PATH");
  std::string_view folders = given == nullptr ? "/usr/bin:/bin" : given;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    const std::string path = std::string(folder) + "/" + kProgram;
    if (access(path.c_str(), X_OK) == 0) return path;
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
  }
  return "";
}

}  // namespace

std::string CpuLoad::WhyUnavailable() {
  return PathOfProgram().empty() ? "stress-ng is not installed" : "";
}

Result<std::unique_ptr<CpuLoad>> CpuLoad::Start(int percent) {
  if (percent < 0 || percent > 100)
    return Status(Code::kInvalidArgument, "a load of the CPUs must be from 0 to 100 percent");
  if (percent == 0) return std::unique_ptr<CpuLoad>(new CpuLoad(nullptr));
  if (const std::string why = WhyUnavailable(); !why.empty())
    return Status(Code::kUnsupported, why);
  auto process = Process::Start(
      {PathOfProgram(), "--cpu", "0", "--cpu-load", std::to_string(percent)}, {}, "/dev/null");
  if (!process) return process.error();
  std::unique_ptr<CpuLoad> load(new CpuLoad(std::move(*process)));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until all of it is there
  if (Status status = load->Check(); !status.ok()) return status;
  return load;
}

Status CpuLoad::Check() {
  if (process_ == nullptr || !process_->Ended()) return Status::Ok();
  return {Code::kUnsupported, "stress-ng ended on its own"};
}

}  // namespace weft::bench
