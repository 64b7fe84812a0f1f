// lsm/own_files.h: the errors of a store's own files, as the store returns them.
//
// kNotFound answers a lookup: "there is no such key". So if a file or the folder disappears under
// the store, kNotFound must not travel up to whoever asked for a key or wrote one.
//
// Threads   pure.
#pragma once

#include <string>

#include "weft/status.h"

namespace weft::lsm {

// The system's answer, with kIoError in place of kNotFound.
inline Status OwnFileError(Status status) {
  if (status.code() != Code::kNotFound) return status;
  return Status(Code::kIoError, std::string(status.message()));
}

// Why the store takes no writes: kIoError or kCorruption, whatever it was.
inline Status WriteError(Status status) {
  if (status.ok() || status.code() == Code::kCorruption || status.code() == Code::kIoError) {
    return status;
  }
  return Status(Code::kIoError, std::string(status.message()));
}

}  // namespace weft::lsm
