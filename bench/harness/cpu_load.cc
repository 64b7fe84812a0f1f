#include "bench/harness/cpu_load.h"

#include <chrono>
#include <string>
#include <thread>

namespace weft::bench {
namespace {

constexpr const char* kProgram = "stress-ng";

}  // namespace

std::string CpuLoad::WhyUnavailable() {
  const auto program = FindProgram(kProgram);
  return program ? std::string() : std::string(program.error().message());
}

Result<std::unique_ptr<CpuLoad>> CpuLoad::Start(int percent) {
  if (percent < 0 || percent > 100)
    return Status(Code::kInvalidArgument, "a load of the CPUs must be from 0 to 100 percent");
  if (percent == 0) return std::unique_ptr<CpuLoad>(new CpuLoad(nullptr));
  const auto program = FindProgram(kProgram);
  if (!program) return Status(Code::kUnsupported, std::string(program.error().message()));
  auto process = Process::Start(
      {program.value(), "--cpu", "0", "--cpu-load", std::to_string(percent)}, {}, "/dev/null");
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
