// sim/prefetch/prefetch_options.h: which unit the controllers have, from a command line to
// prefetchers.
//
// Units     as the names say.
// Threads   one owner.
// Errors    kInvalidArgument: no such unit, a figure out of its range, or a store that units can't
//           know.
// Source    the simulator's specification, sections 1.3, 3.6 and 5.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/prefetch/prefetcher.h"
#include "sim/prefetch/unit_counts.h"
#include "sim/trace/trace_source.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::sim {

enum class PacuKind : uint8_t { kOff, kExhausted, kInSitu, kHitTable, kOracle };
struct PacuChoice {
  PacuKind kind = PacuKind::kOff;
  double accuracy = 1;  // kOracle's

  bool operator==(const PacuChoice&) const = default;
};
// off, exhausted, insitu, hittable, oracle:ACCURACY (from 0 to 1)
Result<PacuChoice> ParsePacu(std::string_view text);

enum class PscuKind : uint8_t { kExact, kRuntime, kStatic, kDynamic };
struct PscuChoice {
  PscuKind kind = PscuKind::kExact;
  uint64_t bytes = 0;  // kStatic's

  bool operator==(const PscuChoice&) const = default;
};
// exact, runtime, static:BYTES (from 1 to 65536), dynamic
Result<PscuChoice> ParsePscu(std::string_view text);

struct PrefetchOptions {
  std::string pacu = "off";
  std::string pscu = "exact";
  int exhausted_max = 8;            // entries of a bucket
  int64_t insitu_ns = 10;           // for looking into a bucket
  int pacu_units = 4;               // buckets that in-situ looks into at once
  int pending_max = 16;             // buckets that wait for a key: in-situ's, the oracle's
  int64_t hit_table_ns = 10;        // of its access
  int64_t hit_table_buckets = 0;    // that it knows; 0: all
  int64_t size_ns = 2;              // for reading a size
  int spec_first = 1;               // before the size is known: lines to ask for
  std::string size_mode = "value";  // or "raw"
  int prof_window = 1024;           // lookups to a mean size
  Time shortest_read_ps = 22'500;   // of the memory, from a bucket's read to its data
};

// `options` must outlive the parsing; its values are the defaults.
void AddPrefetch(CLI::App* app, PrefetchOptions* options);
// The options by name.
nlohmann::ordered_json ConfigOf(const PrefetchOptions& options);

struct PrefetchUnits {
  std::vector<std::unique_ptr<Prefetcher>> units;   // one a channel; none where they are off
  std::vector<std::shared_ptr<UnitCounts>> counts;  // of each; they outlive the units
  uint64_t hit_table_bytes = 0;                     // of all channels; 0: there is none

  UnitCounts Total() const;
};

// `table` must outlive the units, and follow the store.
Result<PrefetchUnits> MakePrefetchers(const PrefetchOptions& options, const StoreShape& shape,
                                      const TableImage& table, int channels, uint64_t seed);

}  // namespace weft::sim
