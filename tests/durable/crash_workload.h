// tests/durable/crash_workload.h: what a writer that will be killed writes: each thread's
// operations, the same for the writer and for whoever checks afterwards.
//
// Thread t owns the keys "t/..."; an operation changes some of them, one or several at once. Now
// and then it instead writes one value to all shared keys at once.
#pragma once

#include <cstdint>
#include <string>

#include "durable/kit.h"
#include "durable/store.h"

namespace weft::durable {

inline constexpr int kWritersMax = 6;
inline constexpr int kSharedKeys = 5;

struct CrashOperation {
  Batch batch;
  bool sync = false;
  bool shared = false;
};

class CrashWorkload {
 public:
  CrashWorkload(uint64_t seed, uint64_t round, int thread);
  // Operation number 0, 1, ... of this thread.
  CrashOperation Next();

 private:
  std::string DrawKey();
  Change DrawChange();

  Random random_;
  const std::string thread_;
  const std::string mark_;  // of this run, round and thread: begins every value
  uint64_t number_ = 0;
};

std::string SharedKey(int index);
// The thread that owns a key, or -1: a shared one.
int OwnerOf(std::string_view key);

}  // namespace weft::durable
