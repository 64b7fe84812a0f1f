// Instead of mix_file.cc where toml++ is not installed.
#include "bench/workload/mix_file.h"

namespace weft::bench {

Result<std::vector<OperationMix>> ParseMixFile(const std::string& path) {
  return ParseMixText("", path);
}

Result<std::vector<OperationMix>> ParseMixText(std::string_view, const std::string& path) {
  return Status(
      Code::kUnsupported,
      path +
          ": this weft-bench cannot read workload files, because it was built without toml++ "
          "(Debian's libtomlplusplus-dev)");
}

bool MixFilesAreSupported() { return false; }

}  // namespace weft::bench
