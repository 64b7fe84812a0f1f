#include "sim/trace/workload_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace weft::sim {
namespace {

Status Refuse(const std::string& what) { return {Code::kInvalidArgument, what}; }

std::string Or(const std::string& text, const char* instead) {
  return text.empty() ? instead : text;
}

void AddOperations(CLI::App* app, WorkloadOptions* options) {
  app->add_option("--instr-per-op", options->instr_per_op,
                  "instructions of an operation: more of them, less load")
      ->capture_default_str();
  app->add_option("--key-lead", options->key_lead,
                  "instructions from a key's announcement to its bucket's first access")
      ->capture_default_str();
  app->add_option("--bucket-pf", options->bucket_pf, "1: software prefetches the bucket")
      ->capture_default_str();
  app->add_option("--obj-pf", options->obj_pf,
                  "objects that software prefetches: off, lt300 (below 300 bytes) or all")
      ->capture_default_str();
  app->add_option("--swpf", options->swpf, "software prefetches are nonblocking, or asload: reads")
      ->capture_default_str();
  app->add_option("--len-dep", options->len_dep, "1: an object's lines wait for its length")
      ->capture_default_str();
  app->add_option("--other-per-op", options->other_per_op,
                  "accesses of other data an operation; default 8, of fixedk 0")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace

void AddWorkload(CLI::App* app, WorkloadOptions* options) {
  app->add_option("--source", options->source,
                  "ramcloud; fixedk: exactly k objects a bucket, gets only; trace:DIR")
      ->capture_default_str();
  app->add_option("--mix", options->mix,
                  "values: the paper's mix 1 to 12 or fixed:BYTES; default 1, of fixedk fixed:128");
  app->add_option("--util", options->util,
                  "exact:K objects a bucket, poisson:LAMBDA or natural (as many as the log holds); "
                  "default natural, of fixedk exact:4");
  app->add_option("--pop", options->pop, "popularity: uniform, zipf:THETA, latest or latest:THETA")
      ->capture_default_str();
  app->add_option("--cores", options->cores, "cores")->capture_default_str();
  app->add_option("--ops", options->ops, "operations of all cores")->capture_default_str();
  app->add_option("--buckets", options->buckets, "buckets of the index")->capture_default_str();
  app->add_option("--log-mib", options->log_mib, "MiB of objects, where --util is natural")
      ->capture_default_str();
  app->add_option("--memory-gib", options->memory_gib, "GiB that all must fit")
      ->capture_default_str();
  app->add_option("--key-bytes", options->key_bytes, "bytes of a key")->capture_default_str();
  AddOperations(app, options);
}

Result<RamcloudOptions> GeneratorOf(const WorkloadOptions& options, uint64_t seed) {
  const bool is_fixed = options.source == "fixedk";
  const Result<Mix> mix = Mix::Find(Or(options.mix, is_fixed ? "fixed:128" : "1"));
  if (!mix) return mix.error();
  const Result<Utilization> utilization =
      ParseUtilization(Or(options.util, is_fixed ? "exact:4" : "natural"));
  if (!utilization) return utilization.error();
  if (is_fixed && utilization.value().kind != Utilization::Kind::kExact) {
    return Refuse("source fixedk: the utilization must be exact:K");
  }
  if (is_fixed && mix.value().sizes().size() != 1) {
    return Refuse("source fixedk: the mix must be fixed:BYTES");
  }
  const Result<KeyPopularity> popularity = ParseKeyPopularity(options.pop);
  if (!popularity) return popularity.error();
  const Result<ObjectPrefetch> object_prefetch = ParseObjectPrefetch(options.obj_pf);
  if (!object_prefetch) return object_prefetch.error();
  if (options.swpf != "nonblocking" && options.swpf != "asload") {
    return Refuse(
        fmt::format("software prefetches '{}' are neither nonblocking nor asload", options.swpf));
  }
  constexpr uint64_t kMibMax = uint64_t{1} << 20;
  if (options.log_mib > kMibMax || options.memory_gib > kMibMax / 1024) {
    return Refuse(fmt::format("log and memory have up to {} MiB", kMibMax));
  }
  RamcloudOptions generator;
  generator.store = {.cores = options.cores,
                     .seed = seed,
                     .mix = mix.value(),
                     .popularity = popularity.value(),
                     .utilization = utilization.value(),
                     .buckets = options.buckets,
                     .log_bytes = options.log_mib << 20,
                     .memory_bytes = options.memory_gib << 30,
                     .key_bytes = options.key_bytes};
  generator.op = {
      .instr_per_op = options.instr_per_op,
      .key_lead = options.key_lead,
      .bucket_prefetch = options.bucket_pf,
      .object_prefetch = object_prefetch.value(),
      .prefetch_is_load = options.swpf == "asload",
      .length_dep = options.len_dep,
      .other_per_op = options.other_per_op >= 0 ? options.other_per_op : (is_fixed ? 0 : 8)};
  generator.ops = options.ops;
  return generator;
}

Result<std::unique_ptr<TraceSource>> MakeSource(const WorkloadOptions& options, uint64_t seed) {
  if (options.source != "ramcloud" && options.source != "fixedk") {
    return Refuse(
        fmt::format("source '{}' is none of ramcloud, fixedk, trace:DIR", options.source));
  }
  const Result<RamcloudOptions> generator = GeneratorOf(options, seed);
  if (!generator) return generator.error();
  Result<std::unique_ptr<RamcloudSource>> source = RamcloudSource::Make(generator.value());
  if (!source) return source.error();
  return std::unique_ptr<TraceSource>(std::move(source.value()));
}

}  // namespace weft::sim
