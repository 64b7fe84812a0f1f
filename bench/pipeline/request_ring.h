// bench/pipeline/request_ring.h: a worker's requests, in memory before the clock starts, and the
// form of requests and responses: what sockets would carry, without sockets.
//
// Request   head (4 bytes: opcode, key bytes, value bytes), key. A SET's value is not in the ring,
//           which it would make as large as the store. Whoever receives the request makes the value
//           from the key and the pass (bench/pipeline/objects.h), so each pass stores new versions.
// Response  head (8 bytes: outcome, value bytes), value.
// Fresh     Fill draws all keys anew. Within a run the ring is read round and round; it must be so
//           long that no processor cache holds what it touches.
// Threads   Fill and reading: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "bench/harness/key_picker.h"
#include "bench/named/named.h"
#include "bench/pipeline/objects.h"
#include "task/batch_tasks.h"
#include "weft/cache.h"

namespace weft::bench {

enum class Opcode : uint8_t { kGet = 1, kSet = 2 };

struct RequestHead {
  Opcode opcode = Opcode::kGet;
  uint8_t key_bytes = 0;
  uint16_t value_bytes = 0;  // of a SET
};
static_assert(sizeof(RequestHead) == 4);

struct RequestView {
  RequestHead head;
  std::string_view key;
};

struct ResponseHead {
  Outcome outcome = Outcome::kMiss;
  uint8_t unused[3] = {};
  uint32_t value_bytes = 0;
};
static_assert(sizeof(ResponseHead) == 8);

// A ResponseHead as it lies in memory. If its members were written and it was read whole, the read
// would wait for them to reach the cache.
inline uint64_t HeadWord(Outcome outcome, uint32_t value_bytes) {
  return uint64_t{value_bytes} << 32 | static_cast<uint8_t>(outcome);
}

class RequestRing {
 public:
  // Room for `requests` of the workload. REQUIRES: requests > 0
  RequestRing(const Workload& workload, size_t requests);

  // Draws all requests. The same seed draws the same ones.
  void Fill(const KeyPicker& picker, uint64_t seed);

  size_t size() const { return requests_; }
  uint32_t value_bytes() const { return value_bytes_; }  // of SETs, and of what GETs find
  // The `i`-th request. REQUIRES: i < size(), Fill was called
  RequestView At(size_t i) const {
    const char* const at = bytes_.data() + i * stride_;
    RequestView request;
    std::memcpy(&request.head, at, sizeof(RequestHead));
    request.key = {at + sizeof(RequestHead), request.head.key_bytes};
    return request;
  }
  // Prefetches the first line of the `i`-th request, or of the last one.
  void Prefetch(size_t i) const {
    task::Prefetch(bytes_.data() + std::min(i, requests_ - 1) * stride_);
  }

 private:
  // Constant after construction.
  const uint32_t key_bytes_;
  const uint32_t value_bytes_;
  const double get_share_;
  const size_t requests_;
  const size_t stride_;  // all requests of a workload are of this length

  std::vector<char> bytes_;
};

}  // namespace weft::bench
