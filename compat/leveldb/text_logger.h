// compat/leveldb/text_logger.h: entries as a program gives them (vprintf's way), as lines of a log.
//
// Threads   Logv from any thread at once.
#pragma once

#include <memory>
#include <utility>

#include "leveldb/env.h"
#include "weft/logger.h"

namespace weft::compat {

class TextLogger final : public leveldb::Logger {
 public:
  explicit TextLogger(std::shared_ptr<weft::Logger> lines) : lines_(std::move(lines)) {}
  void Logv(const char* format, std::va_list ap) override;

 private:
  const std::shared_ptr<weft::Logger> lines_;
};

}  // namespace weft::compat
