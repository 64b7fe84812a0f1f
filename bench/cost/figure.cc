#include "bench/cost/figure.h"

#include <fmt/format.h>

#include "bench/harness/report.h"

namespace weft::bench {

Comparison Compare(const Figure& first, const Figure& second, Better better) {
  Comparison found;
  for (const Figure* figure : {&first, &second}) {
    if (figure->is_available()) continue;
    found.reason = "unavailable: " + figure->unavailable;
    return found;
  }
  const Samples &a = first.samples, &b = second.samples;
  if (b.Median() != 0) found.ratio = a.Median() / b.Median();
  if (a.all().size() < 2 || b.all().size() < 2) {
    found.reason = "a single repetition: its noise is unknown";
    return found;
  }
  const bool first_is_less = a.Max() < b.Min();
  const bool first_is_more = a.Min() > b.Max();
  if (!first_is_less && !first_is_more) {
    found.reason = "ranges overlap: the noise exceeds the gap";
    return found;
  }
  found.winner = first_is_more == (better == Better::kMore) ? Winner::kFirst : Winner::kSecond;
  found.reason = "ranges do not overlap";
  return found;
}

std::string TextOf(const Figure& figure) {
  if (!figure.is_available()) return "unavailable: " + figure.unavailable;
  const Samples& samples = figure.samples;
  std::string text = Short(samples.Median());
  if (samples.all().size() > 1)
    text += fmt::format(" [{} - {}]", Short(samples.Min()), Short(samples.Max()));
  if (figure.modelled) text += " (modelled)";
  return text;
}

nlohmann::json ToJson(const Figure& figure) {
  if (!figure.is_available()) return {{"unavailable", figure.unavailable}};
  nlohmann::json json = {{"median", figure.samples.Median()},
                         {"min", figure.samples.Min()},
                         {"max", figure.samples.Max()},
                         {"repetitions", figure.samples.all().size()},
                         {"unit", figure.unit}};
  if (!figure.source.empty()) json["source"] = figure.source;
  if (figure.modelled) json["modelled"] = true;
  return json;
}

}  // namespace weft::bench
