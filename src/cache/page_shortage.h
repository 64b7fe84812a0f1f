// cache/page_shortage.h: what the log knows of a file system that had no room for a segment.
//
// Only a memory file's can be full (cache/memory_file.h). While it lasts, the log's budget is what
// it has. About once a second it tries to get one segment more; when it gets one, its budget is
// again as it was asked for.
//
// Threads   lasts and refused: any. The rest: under the log's mutex.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::cache {

struct PageShortage {
  std::atomic<bool> lasts{false};
  std::atomic<uint64_t> refused{0};  // times that there was no room for a segment
  uint32_t asked_s = 0;              // when there was none for the last time
  uint32_t budget = 0;               // segments, as asked for: what the log goes back to
};

}  // namespace weft::cache
