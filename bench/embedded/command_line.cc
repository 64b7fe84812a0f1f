#include "bench/embedded/prefetch_command_line.h"

#include <CLI/CLI.hpp>

namespace weft::bench {

void AddPrefetch(CLI::App* app, PrefetchOptions* options) {
  app->add_option("-m,--memory-mb", options->memory_mb, "of objects")
      ->check(CLI::Range(1, 1 << 15))
      ->capture_default_str();
  app->add_option("--batch", options->batches, "lookups that overlap: 1,8,...")
      ->delimiter(',')
      ->check(CLI::Range(1, 32))
      ->capture_default_str();
  app->add_option("--threads", options->threads, "that look up at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app->add_option("--lookups", options->lookups, "of a turn")
      ->check(CLI::Range(1024, 1 << 20))
      ->capture_default_str();
}

}  // namespace weft::bench
