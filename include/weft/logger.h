// weft/logger.h: where a durable store writes what it does, a line at a time.
//
// Threads   Log may be called from any thread at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft {

class FileSystem;

class Logger {
 public:
  virtual ~Logger() = default;
  // One line, without its line break.
  virtual void Log(std::string_view line) = 0;
};

// Writes lines with date and thread to a new file at `path`.
Result<std::shared_ptr<Logger>> NewFileLogger(FileSystem* files, const std::string& path);

}  // namespace weft
