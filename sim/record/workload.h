// sim/record/workload.h: the keys, values and queries of a recorded store.
//
// An id's key and value follow from the id alone; the size of its value, from the seed too. What a
// core asks for depends on seed and core, and on nothing that happens.
//
// Units     bytes.
// Threads   immutable, except for Draw: each thread has its own Queries.
// Errors    kInvalidArgument, naming the option.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/zipf.h"
#include "weft/status.h"

namespace weft::sim {

struct ValueClass {
  uint32_t bytes = 0;
  double share = 0;  // of the ids, in any unit
};

struct StoreWorkloadOptions {
  uint64_t ids = 100'000;
  uint32_t key_bytes = 23;
  std::vector<ValueClass> values = {{.bytes = 128, .share = 1}};
  double get_share = 1;   // of the queries; the others are sets, of the id's own value
  double miss_share = 0;  // of the gets, for keys that nobody has stored
  double zipf_theta = 0;  // 0: all ids alike
  uint64_t seed = 1;
};

// "128" or "128:70,256:20,512:10": sizes and their shares.
Result<std::vector<ValueClass>> ParseValues(std::string_view text);

class StoreWorkload {
 public:
  static constexpr uint32_t kKeyBytesMin = 10;
  static constexpr uint32_t kKeyBytesMax = 250;
  static constexpr uint32_t kValueBytesMax = 60'000;  // with its key within a record's size

  static Result<StoreWorkload> Make(const StoreWorkloadOptions& options);

  const StoreWorkloadOptions& options() const { return options_; }
  uint32_t value_bytes_max() const { return value_bytes_max_; }
  // Replaces what they hold.
  void WriteKey(uint64_t id, std::string* key) const;
  void WriteValue(uint64_t id, std::string* value) const;

  struct Query {
    bool is_get = true;
    uint64_t id = 0;  // from options().ids on: of nobody
  };

  // A core's queries, one after the other.
  class Queries {
   public:
    Queries(const StoreWorkload* workload, int core);
    Query Draw();

   private:
    double Unit();

    const StoreWorkload* const workload_;
    std::mt19937_64 random_;
  };

 private:
  explicit StoreWorkload(const StoreWorkloadOptions& options);
  uint32_t ValueBytesOf(uint64_t id) const;

  StoreWorkloadOptions options_;
  double shares_ = 0;
  uint32_t value_bytes_max_ = 0;
  std::optional<base::Zipf> zipf_;
};

}  // namespace weft::sim
