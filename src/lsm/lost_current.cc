#include "lsm/lost_current.h"

#include <vector>

#include "lsm/file_names.h"

namespace weft::lsm {

Status CheckCurrentIsNotLost(FileSystem* files, const std::string& dir) {
  // What cannot be looked at is not lost.
  const auto current = files->NewSequentialFile(CurrentFileName(dir));
  if (current) return {};
  if (current.error().code() != Code::kNotFound) return current.error();
  std::vector<std::string> names;
  const Status status = files->GetChildren(dir, &names);
  if (!status.ok()) return status.code() == Code::kNotFound ? Status() : status;
  for (const std::string& name : names) {
    ParsedFileName parsed;
    if (!ParseFileName(name, &parsed)) continue;
    if (parsed.type == FileType::kTable || parsed.type == FileType::kLog ||
        (parsed.type == FileType::kManifest && parsed.number > 1)) {
      return {Code::kCorruption, CurrentFileName(dir) + " is missing, but the folder contains " +
                                     name + ": repair the store, or destroy it"};
    }
  }
  return {};
}

}  // namespace weft::lsm
