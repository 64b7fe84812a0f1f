// weft/logger.h: where a durable store reports what it does, a line at a time.
//
// Threads   any thread may call Log at any time.
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

// Writes lines, each with its date and thread, to a new file at `path`.
Result<std::shared_ptr<Logger>> NewFileLogger(FileSystem* files, const std::string& path);

}  // namespace weft
