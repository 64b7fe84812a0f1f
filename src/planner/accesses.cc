#include "planner/accesses.h"

#include <algorithm>
#include <cmath>

#include "planner/popularity.h"
#include "task/object.h"
#include "task/query_job.h"

namespace weft::planner {
namespace {

// Buckets that a search of a cuckoo table with two of them for a key looks at: paper 000's
// (1 + 2) / 2.
constexpr double kBucketsSearched = 1.5;

}  // namespace

double ObjectBytes(const Profile& profile) {
  return sizeof(task::Object) + profile.key_bytes + profile.value_bytes;
}

double CachedObjectBytes(const Profile& profile, uint32_t line_bytes) {
  return ObjectBytes(profile) + line_bytes;
}

double UnitNs(const UnitCost& unit, const Accesses& accesses, double key_bytes) {
  return unit.instructions + key_bytes * unit.key_byte + accesses.memory * unit.memory +
         accesses.stream * unit.stream + accesses.far * unit.far + accesses.cache * unit.cache;
}

Accesses AccessesOf(Work work, const Profile& profile, uint32_t line_bytes, double cached,
                    bool affine) {
  const double line = line_bytes;
  const double lines = std::ceil(ObjectBytes(profile) / line);
  const double hits = profile.hit_share;
  Accesses raw;
  switch (work) {
    // What lies behind is asked for ahead (task/search.h), all of it.
    case Work::kSearch: raw = {kBucketsSearched, hits * lines, 0}; break;
    // Searched for and compared before, in the same stage: what they touch is at hand. What they
    // take is for changing it, however popular it is.
    case Work::kInsert:
    case Work::kDelete:
    case Work::kSettle: return {1, 0, 0};
    // It was written a moment ago, by another core as a rule, whatever else its keys are.
    case Work::kCompareLeft: return {1, 0, 0};
    case Work::kCompare:
      raw = {hits, hits * std::floor((sizeof(task::Object) + profile.key_bytes) / line), 0};
      break;
    case Work::kCompareFound: raw = {hits, hits * (lines - 1), 0}; break;
    // What is copied, for what that takes is more than where it lies.
    case Work::kGather: {
      const double copied = (kGatherHeaderBytes + profile.value_bytes) / line;
      raw = {affine ? 0 : hits, hits * copied, 0};
      break;
    }
    case Work::kWrite:
      raw = affine ? Accesses{0, hits * lines, 0} : Accesses{hits, hits * (lines - 1), 0};
      break;
    case Work::kNote: raw = {hits, 0, 0}; break;
    case Work::kWriteGathered: {
      const double copied = profile.value_bytes / line;
      return {0, hits * std::min(copied, kNearLines), 0, hits * std::max(copied - kNearLines, 0.0)};
    }
    case Work::kReceiveValue: return {0, profile.value_bytes / line, 0};
    case Work::kPlace: return {0, lines, 0};
    case Work::kEmpty: return {1, lines, 0};  // at what nobody has used for long
    default: return {};
  }
  // Some queries have all lines, and others none.
  const double near = hits * kNearLines;
  raw.far = std::max(raw.stream - near, 0.0);
  raw.stream -= raw.far;
  return {(1 - cached) * raw.memory, (1 - cached) * raw.stream,
          cached * (raw.memory + raw.stream + raw.far), (1 - cached) * raw.far};
}

double CachedShare(const ProcessorCosts& costs, const Profile& profile, uint32_t workers) {
  const double object = CachedObjectBytes(profile, costs.line_bytes);
  const double grown = std::min(object, kCacheObjectBytesMax) / kCacheObjectBytes;
  const double held = costs.cache_bytes * std::pow(grown, costs.cache_growth);
  const double share = HeadShare(held / object, profile.objects, profile.zipf);
  // Between two accesses of a worker to a key others make any number of them; where one of these
  // was a write, the line has gone.
  const double other = 1 - 1.0 / workers;
  const double writes = 1 - profile.get_share;
  return share * (1 - other) / (1 - other * (1 - writes));
}

}  // namespace weft::planner
