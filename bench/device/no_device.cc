// A build without a CUDA compiler.
#include "bench/device/options.h"

namespace weft::bench {

Status RunDevice(const DeviceOptions&, Report& report) {
  report.Unavailable("device", "built without CUDA: use the preset cuda");
  return {Code::kUnsupported, "built without CUDA: ./dev build cuda where nvcc is"};
}

}  // namespace weft::bench
