// tool/console.h: what a command of `weft db` has to do with the world, and how it ends.
//
// Results go to `out`; errors, notes and progress to `err`, so that results can be piped on.
//
// Threads   one at a time, but SayProgress: its owner's.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>

#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::tool {

struct Console {
  FileSystem* files;
  std::ostream& out;
  std::ostream& err;
  std::istream* in = nullptr;  // null: there is none
};

// How the program ends.
enum class Exit : int {
  kOk = 0,
  kDamaged = 1,    // the store is damaged; `get`: there is no such key
  kCannotRun = 2,  // bad usage, no store, another process has it, the system refused a call
};

// Says what went wrong, in one line. kCorruption is damage, everything else keeps the command from
// running.
Exit Fail(const Console& console, const Status& status);

// Says now and then how far long work is: nothing in its first second, then a line a second.
class Progress {
 public:
  Progress(std::ostream& err, std::string what);

  // `done` of `total`, in bytes; `where` is what is being worked on.
  void At(uint64_t done, uint64_t total, std::string_view where);

 private:
  std::ostream& err_;
  const std::string what_;
  uint64_t next_ns_;
};

// "17 B", "4.2 KiB", "1.5 GiB".
std::string BytesText(uint64_t bytes);

}  // namespace weft::tool
