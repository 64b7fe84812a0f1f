#include "bench/meter/write_amplification.h"

#include <fmt/format.h>

namespace weft::bench {

Reading WriteAmplification(const nlohmann::json& before, const nlohmann::json& after) {
  for (const char* name : {kFigureTableBytesWritten, kFigureUserBytesWritten}) {
    for (const nlohmann::json* figures : {&before, &after}) {
      const auto found = figures->find(name);
      if (found == figures->end() || !found->is_number())
        return Reading::Unavailable(fmt::format("the store does not report {}", name));
    }
  }
  const auto grown = [&](const char* name) {
    return after.at(name).get<double>() - before.at(name).get<double>();
  };
  const double user_bytes = grown(kFigureUserBytesWritten);
  const double table_bytes = grown(kFigureTableBytesWritten);
  if (user_bytes < 0 || table_bytes < 0)
    return Reading::Unavailable("the store restarted its counters");
  if (user_bytes == 0) return Reading::Unavailable("nothing was written");
  return Reading::Of(table_bytes / user_bytes, "1", "the store's own count");
}

}  // namespace weft::bench
