#include <CLI/CLI.hpp>

#include "bench/drive/measure.h"
#include "bench/drive/sweep.h"

namespace weft::bench {

void AddSweep(CLI::App* app, SweepOptions* options) {
  AddMeasure(app, &options->measure);
  app->remove_option(app->get_option("--rate"));
  CLI::Option* points = app->add_option("--points", options->points, "number of rates of the curve")
                            ->check(CLI::Range(1, 1000))
                            ->capture_default_str();
  app->add_option("--rates", options->rates, "rates of the curve instead, in operations a second")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 1e12))
      ->excludes(points);
  CLI::Option* limit =
      app->add_option("--limit", options->limit,
                      "find the highest rate within it: 'p99 1ms', 'p99.9 500us', 'mean 80us'");
  app->add_option("--tolerance", options->tolerance,
                  "tolerance of the rate that --limit finds, as a share")
      ->needs(limit)
      ->check(CLI::Range(0.001, 0.5))
      ->capture_default_str();
  app->add_option("--tries", options->tries, "runs at each rate that --limit tries; most must pass")
      ->needs(limit)
      ->check(CLI::Range(1, 99))
      ->capture_default_str();
}

}  // namespace weft::bench
