#include "bench/cost/command_line.h"

#include <cerrno>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/cost/compare_text.h"
#include "bench/harness/unheeded.h"

namespace weft::bench {
namespace {

// Options that change nothing beside the others. What is wrong with one itself is told later.
void RefuseUnheeded(const CLI::App& app, const CompareOptions& options) {
  if (!CheckOptions(options).ok()) return;
  bool has_price = !options.prices.empty(), has_watts = false;
  for (const std::string& text : options.servers) {
    auto server = ParseServerSpec(text);
    if (!server) return;
    has_price = has_price || server->price;
    has_watts = has_watts || server->busy;
  }
  if (IsGiven(app, "--lifetime") && !has_price)
    throw CLI::ValidationError("--lifetime", "neither --price nor --server gives a price");
  if (IsGiven(app, "--utilization") && !has_watts)
    throw CLI::ValidationError("--utilization", "no --server gives watts");
}

}  // namespace

void AddCompare(CLI::App* app, CompareOptions* options) {
  app->add_option("files", options->files, "result files, one for each server: PATH or NAME=PATH")
      ->required();
  app->add_option("--target-throughput", options->target_throughput_per_s,
                  "operations a second of all servers together")
      ->capture_default_str();
  app->add_option("--price", options->prices, "dollars a server (default: 1000,3000)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app->add_option("--lifetime", options->lifetimes_years, "years that a server is used")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app->add_option("--electricity", options->electricity_dollars_per_kwh, "dollars a kilowatt hour")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app->add_option("--server", options->servers,
                  "NAME=price, or NAME=price,idle_w,busy_w to model its power")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option(
      "--utilization", options->utilization,
      "utilization of modelled servers, 0 to 1 (default: from the store's CPU seconds)");
  app->add_flag("--best-load", options->best_load,
                "compare each server at the load at which it does most");
  app->add_flag("--by-target", options->by_target,
                "compare the targets in the files instead of the files");
  app->add_option("--json", options->json, "also write the comparison to this file, replacing it");
  app->parse_complete_callback([app, options] { RefuseUnheeded(*app, *options); });
}

Status RunCompare(const CompareOptions& options) {
  auto result = CompareFiles(options);
  if (!result) return result.error();
  std::fputs(TextOf(*result, options).c_str(), stdout);
  if (options.json.empty()) return Status::Ok();
  std::ofstream file(options.json, std::ios::trunc);
  file << ToJson(*result, options).dump(2) << "\n";
  file.close();
  if (!file) return Status::FromErrno(fmt::format("write {}", options.json), errno);
  return Status::Ok();
}

}  // namespace weft::bench
