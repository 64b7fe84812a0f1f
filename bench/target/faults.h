// bench/target/faults.h: what a session found wrong: the first such answer in words, and why the
// connection is of no more use.
//
// Threads   one owner.
#pragma once

#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::bench {

class Faults {
 public:
  // An answer was wrong: `why`, and the beginning of it.
  void Note(std::string_view why, std::string_view answer);
  // ... and nothing that follows makes sense.
  void Break(std::string_view why, std::string_view answer);
  void Break(const Status& status) { broken_ = status; }

  const std::string& first() const { return first_; }
  const Status& broken() const { return broken_; }

 private:
  std::string first_;
  Status broken_;
};

}  // namespace weft::bench
