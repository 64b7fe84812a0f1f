// lsm/own_files.h: the errors of a store's own files, as the store tells them.
//
// kNotFound answers a lookup: "there is no such key". So the code of a file, or of the folder, that
// went away under the store must not travel up to whoever asked for a key or wrote one.
//
// Threads   pure.
#pragma once

#include <string>

#include "weft/status.h"

namespace weft::lsm {

// What the system answered, but kIoError in place of kNotFound.
inline Status OwnFileError(Status status) {
  if (status.code() != Code::kNotFound) return status;
  return Status(Code::kIoError, std::string(status.message()));
}

// What keeps the store from taking writes: kIoError or kCorruption, whatever it was.
inline Status WriteError(Status status) {
  if (status.ok() || status.code() == Code::kCorruption || status.code() == Code::kIoError) {
    return status;
  }
  return Status(Code::kIoError, std::string(status.message()));
}

}  // namespace weft::lsm
