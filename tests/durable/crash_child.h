// tests/durable/crash_child.h: the process that writes until it is killed, and what it reports
// meanwhile.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "durable/crash_workload.h"
#include "durable/kit.h"

namespace weft::durable {

// The child's orders: all of them follow from the seed and the round.
struct CrashOrders {
  uint64_t seed = 0;
  uint64_t round = 0;
  bool only_open = false;    // and close again
  bool leveldb_too = false;  // options that LevelDB knows
  int writers = 1;
  uint64_t operations_max = 0;  // of each writer; then the child ends by itself
  bool reader = false;
  bool compactor = false;
  uint64_t die_at_call = 0;  // of the file system; 0: never by itself
  int die_moment = 0;        // KillMoment
};
CrashOrders DrawOrders(uint64_t seed, uint64_t round, bool leveldb_too, bool only_open);

// Shared with the parent, in a file that both map. Outlives the child.
struct CrashProgress {
  std::atomic<uint32_t> opened;
  std::atomic<uint32_t> failed;
  std::atomic<uint64_t> acknowledged[kWritersMax];
  char failure[400];
};
CrashProgress* MapProgress(const std::string& path);

// Starts this program again as the child. Its files are in `folder`: "db" and "progress".
pid_t StartChild(const Arguments& arguments, const CrashOrders& orders, const std::string& folder);
// If this process is such a child, does its work and returns its exit status; otherwise -1.
int RunAsChild(const Arguments& arguments);

}  // namespace weft::durable
