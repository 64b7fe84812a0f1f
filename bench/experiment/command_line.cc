#include <CLI/CLI.hpp>

#include "bench/drive/measure.h"
#include "bench/experiment/bandwidth.h"
#include "bench/experiment/block_cache.h"
#include "bench/experiment/efficiency.h"
#include "bench/experiment/oversubscription.h"

namespace weft::bench {
namespace {

// Of experiments that choose them otherwise.
void RemoveThreads(CLI::App* app) {
  for (const char* name : {"--threads", "--load-threads", "--fill-threads"})
    app->remove_option(app->get_option(name));
}

}  // namespace

void AddExperiment(CLI::App* app, ExperimentOptions* options) {
  AddMeasure(app, &options->measure);
  for (const char* own : {"--target", "--workload"}) app->get_option(own)->capture_default_str();
  CLI::Option* records = app->get_option("--records");
  records->description("number of records instead of --data-fraction");
  app->add_option("--data-fraction", options->data_fraction,
                  "share of the machine's memory for the data; by default, as in paper 002, "
                  "350,000 records of 1 KB a GiB, or fewer if they do not fit")
      ->excludes(records)
      ->check(CLI::Range(1e-6, 0.9))
      ->capture_default_str();
}

void AddEfficiency(CLI::App* app, EfficiencyOptions* options) {
  AddExperiment(app, &options->experiment);
  RemoveThreads(app);
  app->add_option("--threads", options->threads,
                  "client threads of each run; 0: all hardware threads")
      ->delimiter(',')
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

void AddBandwidth(CLI::App* app, BandwidthOptions* options) {
  AddExperiment(app, &options->experiment);
  RemoveThreads(app);
  app->add_option("--threads", options->threads,
                  "threads of the client and as many of the hog; 0: four, or half the cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app->add_option("--shares", options->shares, "shares of the hog's largest bandwidth, one a run")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
}

void AddOversubscription(CLI::App* app, OversubscriptionOptions* options) {
  AddExperiment(app, &options->experiment);
  RemoveThreads(app);
  app->add_option("--per-hardware-thread", options->threads_per_hardware_thread,
                  "client threads per hardware thread, one number a run")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

void AddBlockCache(CLI::App* app, BlockCacheOptions* options) {
  AddExperiment(app, &options->experiment);
  app->remove_option(app->get_option("--threads"));
  app->remove_option(app->get_option("--block-cache"));
  app->add_option("--per-hardware-thread", options->threads_per_hardware_thread,
                  "client threads per hardware thread")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app->add_option("--fractions", options->fractions,
                  "shares of the data that fit in the cache, one a run")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
}

}  // namespace weft::bench
