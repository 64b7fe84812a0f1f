// sim/base/text_lines.h: the lines of a text, one after the other, with the numbers that messages
// give them, the first being 1.
//
// Threads   one owner.
// Errors    kInvalidArgument: a line is longer than any that means something. kIoError: the text
//           can't be read.
// Cost      memory for one line of the longest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::sim {

class TextLines {
 public:
  static constexpr size_t kBytesMax = 4096;

  // `name` is the text's in messages.
  explicit TextLines(std::string name) : name_(std::move(name)), room_(kBytesMax + 1, '\0') {}

  // The next line of `in`, without its break; none at the end. Valid until the next call.
  Result<std::optional<std::string_view>> Next(std::istream& in);
  // An error in the line that Next gave last: "name:number: what", kInvalidArgument.
  Status Wrong(std::string_view what) const;

 private:
  std::string name_;
  std::string room_;
  uint64_t number_ = 0;
};

}  // namespace weft::sim
