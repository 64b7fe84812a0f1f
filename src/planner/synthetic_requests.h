// planner/synthetic_requests.h: requests of no client, for calibration: which keys, what of them.
//
// Threads   pure functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/zipf.h"
#include "pipeline/plan.h"

namespace weft::planner {

// What workers do for a while.
struct Traffic {
  pipeline::Plan plan = pipeline::Plan::OneStageCpu();
  bool steal = false;
  double get_share = 1;
  double delete_share = 0;  // all else stores
  uint64_t keys = 0;        // the first so many of the store's; 0: all
  double zipf = 0;          // exponent of their popularity, below 1; 0: uniform
  uint32_t queries = 1024;  // of a batch, at most 1,024 in one stage
  uint32_t batches = 3;     // of a worker, under way at once, where the plan has several stages
  double seconds = 0.1;
};

struct SyntheticRequest {
  enum class Verb : uint32_t { kGet, kStore, kDelete };

  uint32_t key;
  Verb verb;
};

// `count` of them over keys [0, keys). The same seed gives the same ones. `zipf`: of traffic.zipf
// and as many keys, which takes long to make; null where that is 0. REQUIRES: keys >= 2
std::vector<SyntheticRequest> MakeRequests(const Traffic& traffic, uint64_t keys, size_t count,
                                           uint64_t seed, const base::Zipf* zipf = nullptr);

// The key of a number: different in its first eight bytes. REQUIRES: bytes >= 8
inline void WriteKey(uint64_t number, char* key, uint32_t bytes) {
  std::memset(key, 'k', bytes);
  std::memcpy(key, &number, sizeof number);
}

}  // namespace weft::planner
