#include "bench/named/named.h"

#include "planner/profile.h"

namespace weft::bench {

Result<Workload> ParseWorkload(std::string_view name) {
  auto profile = planner::ProfileOfWorkload(name);
  if (!profile) return profile.error();
  Workload workload;
  workload.name = name;
  workload.key_bytes = static_cast<uint32_t>(profile->key_bytes);
  workload.value_bytes = static_cast<uint32_t>(profile->value_bytes);
  workload.get_share = profile->get_share;
  workload.zipf = profile->zipf != 0;
  return workload;
}

}  // namespace weft::bench
