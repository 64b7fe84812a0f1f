#include "sim/generator/workload_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/not_negative.h"
#include "sim/generator/ramcloud_source.h"
#include "sim/generator/refuse.h"
#include "sim/trace/file_trace.h"

namespace weft::sim {
namespace {

std::string Or(const std::string& text, const char* instead) {
  return text.empty() ? instead : text;
}

void AddOperations(CLI::App* app, WorkloadOptions* options) {
  app->add_option("--instr-per-op", options->instr_per_op,
                  "instructions an operation; more of them mean less load")
      ->capture_default_str();
  app->add_option("--key-lead", options->key_lead,
                  "instructions from a key's announcement to its bucket's first access")
      ->capture_default_str();
  app->add_option("--put-key", options->put_key,
                  "1: puts also announce their key; 0: only gets do, which read the whole object")
      ->capture_default_str();
  app->add_option("--bucket-pf", options->bucket_pf, "1: software prefetches the bucket")
      ->capture_default_str();
  app->add_option("--obj-pf", options->obj_pf,
                  "objects that software prefetches: off, lt300 (below 300 bytes) or all")
      ->capture_default_str();
  app->add_option("--swpf", options->swpf, "software prefetches are nonblocking, or reads (asload)")
      ->capture_default_str();
  app->add_option("--len-dep", options->len_dep, "1: an object's lines wait for its length")
      ->capture_default_str();
  app->add_option("--other-per-op", options->other_per_op,
                  "accesses of other data an operation (default 8; fixedk: 0)")
      ->check(CLI::Range(0, 1'000'000));
}

constexpr std::string_view kTrace = "trace:";

bool IsFixed(const WorkloadOptions& options) { return options.source == "fixedk"; }
std::string MixOf(const WorkloadOptions& options) {
  return Or(options.mix, IsFixed(options) ? "fixed:128" : "1");
}
std::string UtilizationOf(const WorkloadOptions& options) {
  return Or(options.util, IsFixed(options) ? "exact:4" : "natural");
}
int OtherPerOp(const WorkloadOptions& options) {
  if (options.other_per_op >= 0) return options.other_per_op;
  return IsFixed(options) ? 0 : 8;
}

Result<RamcloudOptions> GeneratorOf(const WorkloadOptions& options, uint64_t seed,
                                    uint64_t memory_bytes) {
  const bool is_fixed = IsFixed(options);
  const Result<Mix> mix = Mix::Find(MixOf(options));
  if (!mix) return mix.error();
  const Result<Utilization> utilization = ParseUtilization(UtilizationOf(options));
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
        fmt::format("software prefetches '{}' must be nonblocking or asload", options.swpf));
  }
  if (options.log_mib > memory_bytes >> 20) {
    return Refuse(fmt::format("a log of {} MiB does not fit {} MiB of memory", options.log_mib,
                              memory_bytes >> 20));
  }
  RamcloudOptions generator;
  generator.store = {.cores = options.cores,
                     .seed = seed,
                     .mix = mix.value(),
                     .popularity = popularity.value(),
                     .utilization = utilization.value(),
                     .buckets = options.buckets,
                     .log_bytes = options.log_mib << 20,
                     .memory_bytes = memory_bytes,
                     .key_bytes = options.key_bytes};
  generator.op = {.instr_per_op = options.instr_per_op,
                  .key_lead = options.key_lead,
                  .put_key = options.put_key,
                  .bucket_prefetch = options.bucket_pf,
                  .object_prefetch = object_prefetch.value(),
                  .prefetch_is_load = options.swpf == "asload",
                  .length_dep = options.len_dep,
                  .other_per_op = OtherPerOp(options)};
  generator.ops = options.ops;
  return generator;
}

}  // namespace

void AddWorkload(CLI::App* app, WorkloadOptions* options) {
  app->add_option("--source", options->source,
                  "ramcloud; fixedk (exactly k objects a bucket, only gets); trace:FOLDER")
      ->capture_default_str();
  app->add_option("--mix", options->mix,
                  "values: the paper's mix 1 to 12, or fixed:BYTES (default 1; fixedk: fixed:128)");
  app->add_option("--util", options->util,
                  "objects a bucket: exact:K, poisson:LAMBDA or natural (as many as the log holds) "
                  "(default natural; fixedk: exact:4)");
  app->add_option("--pop", options->pop, "popularity: uniform, zipf:THETA, latest or latest:THETA")
      ->capture_default_str();
  app->add_option("--cores", options->cores, "cores")->capture_default_str();
  app->add_option("--ops", options->ops, "operations of all cores; 0: all that a trace has")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000'000'000}));
  app->add_option("--buckets", options->buckets, "buckets of the index")
      ->capture_default_str()
      ->check(NotNegative());
  app->add_option("--log-mib", options->log_mib, "MiB of objects if --util is natural")
      ->capture_default_str()
      ->check(NotNegative());
  app->add_option("--key-bytes", options->key_bytes, "bytes of a key")->capture_default_str();
  AddOperations(app, options);
}

nlohmann::ordered_json ConfigOf(const WorkloadOptions& options) {
  nlohmann::ordered_json config = {{"source", options.source},
                                   {"mix", MixOf(options)},
                                   {"util", UtilizationOf(options)},
                                   {"pop", options.pop},
                                   {"cores", options.cores},
                                   {"buckets", options.buckets},
                                   {"log_mib", options.log_mib},
                                   {"key_bytes", options.key_bytes},
                                   {"instr_per_op", options.instr_per_op},
                                   {"key_lead", options.key_lead},
                                   {"put_key", options.put_key},
                                   {"bucket_pf", options.bucket_pf},
                                   {"obj_pf", options.obj_pf},
                                   {"swpf", options.swpf},
                                   {"len_dep", options.len_dep},
                                   {"other_per_op", OtherPerOp(options)}};
  if (options.source.starts_with(kTrace)) {
    for (auto& [name, value] : config.items()) {
      if (name != "source") value = "";
    }
  }
  return config;
}

Result<std::unique_ptr<TraceSource>> MakeSource(const WorkloadOptions& options, uint64_t seed,
                                                uint64_t memory_bytes) {
  return SourceMaker().Make(options, seed, memory_bytes);
}

Result<std::unique_ptr<TraceSource>> SourceMaker::Make(const WorkloadOptions& options,
                                                       uint64_t seed, uint64_t memory_bytes) {
  if (options.source.starts_with(kTrace)) {
    Result<std::unique_ptr<FileTrace>> trace =
        FileTrace::Open(options.source.substr(kTrace.size()), memory_bytes);
    if (!trace) return trace.error();
    return std::unique_ptr<TraceSource>(std::move(trace.value()));
  }
  if (options.source != "ramcloud" && !IsFixed(options)) {
    return Refuse(
        fmt::format("source '{}' is not one of ramcloud, fixedk, trace:FOLDER", options.source));
  }
  const Result<RamcloudOptions> generator = GeneratorOf(options, seed, memory_bytes);
  if (!generator) return generator.error();
  const std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {} {}", MixOf(options), UtilizationOf(options),
                  options.pop, options.cores, options.ops, options.buckets, options.log_mib,
                  options.key_bytes, seed, memory_bytes);
  if (key != key_) {
    key_.clear();
    store_ = {};  // so that there are never two
    Result<BuiltStore> built = RamcloudSource::Build(generator.value());
    if (!built) return built.error();
    store_ = std::move(built.value());
    key_ = key;
  }
  return std::unique_ptr<TraceSource>(RamcloudSource::Of(store_, generator.value()));
}

}  // namespace weft::sim
