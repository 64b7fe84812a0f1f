#include "compaction/device/executors.h"

#include <optional>
#include <utility>

#include "base/parse_number.h"
#include "base/shared_module.h"
#include "compaction/device/auto_executor.h"
#include "compaction/device/cuda_module.h"
#include "compaction/device/plain_executor.h"

namespace weft::compaction::device {

namespace {

constexpr base::SharedModule kModule = {.variable = "WEFT_COMPACTION_CUDA_MODULE",
                                        .name = "libweft_compaction_cuda.so",
                                        .symbol = kCudaModuleSymbol,
                                        .purpose = "compactions on CUDA devices"};
constexpr std::string_view kCudaPrefix = "cuda:";
constexpr int kDevicesMax = 64;

// Small, so that tests' jobs have several.
constexpr uint64_t kPlainPieceBytes = 256u << 10;

std::optional<int> CudaNumber(std::string_view device) {
  if (!device.starts_with(kCudaPrefix)) return std::nullopt;
  device.remove_prefix(kCudaPrefix.size());
  int number = 0;
  if (!base::ParseNumber(device, &number) || number < 0 || number >= kDevicesMax)
    return std::nullopt;
  return number;
}

Result<std::unique_ptr<Executor>> NewCudaExecutor(int number) {
  Result<void*> found = base::FindInModule(kModule);
  if (!found) return found.error();
  const CudaModule* const module = reinterpret_cast<CudaModuleFunction>(*found)();
  if (!module->Fits()) {
    return Status(Code::kUnsupported,
                  "the module for compactions on CUDA devices belongs to another version of Weft");
  }
  return module->make(number);
}

}  // namespace

Status CheckName(std::string_view device) {
  if (device == "cpu" || device == "auto" || device == "plain" || CudaNumber(device)) return {};
  return {Code::kInvalidArgument, "unknown compaction device '" + std::string(device) +
                                      "'; use auto, cpu, plain or cuda:N"};
}

Result<std::unique_ptr<Executor>> NewExecutorOn(const std::string& device) {
  if (Status status = CheckName(device); !status.ok()) return status;
  if (device == "cpu") return NewCpuExecutor();
  if (device == "plain") return NewPlainExecutor(kPlainPieceBytes);
  if (const std::optional<int> number = CudaNumber(device)) return NewCudaExecutor(*number);
  Result<std::unique_ptr<Executor>> cuda = NewCudaExecutor(0);
  if (!cuda) return NewCpuExecutor();
  std::unique_ptr<Executor> both = std::make_unique<AutoExecutor>(std::move(*cuda));
  return both;
}

}  // namespace weft::compaction::device
