#include "sim/prefetch/prefetch_options.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/parse_number.h"
#include "sim/prefetch/dynamic_pscu.h"
#include "sim/prefetch/exact_pscu.h"
#include "sim/prefetch/exhausted_pacu.h"
#include "sim/prefetch/hit_table_pacu.h"
#include "sim/prefetch/in_situ_pacu.h"
#include "sim/prefetch/oracle_pacu.h"
#include "sim/prefetch/prefetch_unit.h"
#include "sim/prefetch/runtime_pscu.h"

namespace weft::sim {
namespace {

constexpr uint64_t kStaticBytesMax = 65536;

Status Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

// "name:rest" begins with "name:".
bool TakePrefix(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

Status ValidateOptions(const PrefetchOptions& options) {
  struct Limit {
    const char* name;
    int64_t value;
    int64_t min;
  };
  for (const Limit& limit :
       {Limit{"--exhausted-max", options.exhausted_max, 1},
        Limit{"--t-insitu", options.insitu_ns, 0}, Limit{"--pacu-units", options.pacu_units, 1},
        Limit{"--pacu-pending", options.pending_max, 1}, Limit{"--t-ht", options.hit_table_ns, 0},
        Limit{"--ht-buckets", options.hit_table_buckets, 0}, Limit{"--t-size", options.size_ns, 0},
        Limit{"--spec-first", options.spec_first, 1},
        Limit{"--prof-window", options.prof_window, 1},
        Limit{"shortest read", options.shortest_read_ps, 0}}) {
    constexpr int64_t kMax = 1'000'000'000;
    if (limit.value < limit.min || limit.value > kMax) {
      return Invalid(
          fmt::format("{}: {} is not {} to {}", limit.name, limit.value, limit.min, kMax));
    }
  }
  if (options.size_mode != "value" && options.size_mode != "raw") {
    return Invalid("--size-mode '" + options.size_mode + "' must be one of: value, raw");
  }
  return Status::Ok();
}

Status ValidateStore(const StoreShape& shape, const TableImage& table, int channels) {
  if (channels < 1) return Invalid(fmt::format("units: {} channels", channels));
  if (shape.slots_per_bucket < 1 || shape.slots_per_bucket > kBucketSlotsMax) {
    return Invalid(fmt::format("units: buckets of {} slots, not 1 to {}", shape.slots_per_bucket,
                               kBucketSlotsMax));
  }
  if (table.buckets() != shape.buckets || table.slots_per_bucket() != shape.slots_per_bucket) {
    return Invalid(fmt::format("units: the index has {} buckets of {} slots, not {} of {}",
                               table.buckets(), table.slots_per_bucket(), shape.buckets,
                               shape.slots_per_bucket));
  }
  if (shape.table_base % kLineBytes != 0 ||
      shape.table_limit - shape.table_base != shape.buckets * kLineBytes) {
    return Invalid(fmt::format("units: {} buckets do not fill {} to {}", shape.buckets,
                               shape.table_base, shape.table_limit));
  }
  if (shape.log_base < shape.table_limit || shape.log_limit <= shape.log_base) {
    return Invalid(fmt::format("units: objects from {} to {}, above an index that ends at {}",
                               shape.log_base, shape.log_limit, shape.table_limit));
  }
  return Status::Ok();
}

Time Picoseconds(int64_t ns) { return ns * kPicosecondsPerNanosecond; }

// Makes the parts of each channel's unit, and what they share.
class Factory {
 public:
  Factory(const PrefetchOptions& options, PacuChoice pacu, PscuChoice pscu, const StoreShape& shape,
          const TableImage& table, uint64_t seed)
      : options_(options),
        pacu_(pacu),
        pscu_(pscu),
        shape_(shape),
        table_(table),
        seed_(seed),
        size_mode_(options.size_mode == "raw" ? SizeMode::kRaw : SizeMode::kValue) {
    if (pacu.kind == PacuKind::kHitTable) {
      const auto asked = static_cast<uint64_t>(options.hit_table_buckets);
      const uint64_t buckets = asked == 0 ? shape.buckets : asked;
      hit_table_ =
          std::make_shared<HitTable>(std::min(buckets, shape.buckets), shape.slots_per_bucket);
    }
    if (pscu.kind == PscuKind::kDynamic) {
      size_register_ = std::make_shared<SizeRegister>(options.prof_window);
    }
  }

  uint64_t hit_table_bytes() const { return hit_table_ ? hit_table_->bytes() : 0; }

  std::unique_ptr<Prefetcher> MakeUnit(int channel, const std::shared_ptr<UnitCounts>& counts) {
    return std::make_unique<PrefetchUnit>(shape_, &table_, MakePacu(channel, counts.get()),
                                          MakePscu(counts.get()), counts);
  }

 private:
  std::unique_ptr<Pacu> MakePacu(int channel, UnitCounts* counts) {
    switch (pacu_.kind) {
      case PacuKind::kOff: break;
      case PacuKind::kExhausted: return std::make_unique<ExhaustedPacu>(options_.exhausted_max);
      case PacuKind::kInSitu:
        return std::make_unique<InSituPacu>(
            InSituOptions{.latency = Picoseconds(options_.insitu_ns),
                          .units = options_.pacu_units,
                          .pending_max = options_.pending_max},
            counts);
      case PacuKind::kHitTable:
        return std::make_unique<HitTablePacu>(hit_table_, Picoseconds(options_.hit_table_ns),
                                              options_.shortest_read_ps, counts);
      case PacuKind::kOracle:
        return std::make_unique<OraclePacu>(pacu_.accuracy, options_.pending_max, seed_, channel,
                                            &table_, counts);
    }
    return nullptr;
  }
  std::unique_ptr<Pscu> MakePscu(UnitCounts* counts) {
    switch (pscu_.kind) {
      case PscuKind::kExact: break;
      case PscuKind::kRuntime:
        return std::make_unique<RuntimePscu>(options_.spec_first, Picoseconds(options_.size_ns));
      case PscuKind::kStatic: return std::make_unique<StaticPscu>(pscu_.bytes, size_mode_, shape_);
      case PscuKind::kDynamic:
        return std::make_unique<DynamicPscu>(size_register_, size_mode_, shape_, counts);
    }
    return std::make_unique<ExactPscu>();
  }

  const PrefetchOptions& options_;
  const PacuChoice pacu_;
  const PscuChoice pscu_;
  const StoreShape& shape_;
  const TableImage& table_;
  const uint64_t seed_;
  const SizeMode size_mode_;
  std::shared_ptr<HitTable> hit_table_;
  std::shared_ptr<SizeRegister> size_register_;
};

}  // namespace

Result<PacuChoice> ParsePacu(std::string_view text) {
  if (text == "off") return PacuChoice{PacuKind::kOff};
  if (text == "exhausted") return PacuChoice{PacuKind::kExhausted};
  if (text == "insitu") return PacuChoice{PacuKind::kInSitu};
  if (text == "hittable") return PacuChoice{PacuKind::kHitTable};
  std::string_view figure = text;
  if (!TakePrefix("oracle:", &figure)) {
    return Invalid("--pacu '" + std::string(text) +
                   "' must be one of: off, exhausted, insitu, hittable, oracle:ACCURACY");
  }
  PacuChoice choice{PacuKind::kOracle};
  if (!base::ParseFinite(figure, &choice.accuracy) ||
      !(choice.accuracy >= 0 && choice.accuracy <= 1)) {
    return Invalid("--pacu '" + std::string(text) + "': an accuracy must be a number from 0 to 1");
  }
  return choice;
}

Result<PscuChoice> ParsePscu(std::string_view text) {
  if (text == "exact") return PscuChoice{PscuKind::kExact};
  if (text == "runtime") return PscuChoice{PscuKind::kRuntime};
  if (text == "dynamic") return PscuChoice{PscuKind::kDynamic};
  std::string_view figure = text;
  if (!TakePrefix("static:", &figure)) {
    return Invalid("--pscu '" + std::string(text) +
                   "' must be one of: exact, runtime, static:BYTES, dynamic");
  }
  PscuChoice choice{PscuKind::kStatic};
  if (!base::ParseNumber(figure, &choice.bytes) || choice.bytes < 1 ||
      choice.bytes > kStaticBytesMax) {
    return Invalid(fmt::format("--pscu '{}': a size must be a whole number from 1 to {}", text,
                               kStaticBytesMax));
  }
  return choice;
}

void AddPrefetch(CLI::App* app, PrefetchOptions* options) {
  app->add_option("--pacu", options->pacu,
                  "objects to prefetch: off, exhausted, insitu, hittable, oracle:ACCURACY")
      ->capture_default_str();
  app->add_option("--pscu", options->pscu,
                  "size to prefetch: exact, runtime, static:BYTES, dynamic")
      ->capture_default_str();
  app->add_option("--exhausted-max", options->exhausted_max, "largest number of a bucket's entries")
      ->capture_default_str();
  app->add_option("--t-insitu", options->insitu_ns, "ns that in-situ needs for a bucket")
      ->capture_default_str();
  app->add_option("--pacu-units", options->pacu_units, "buckets that in-situ examines in parallel")
      ->capture_default_str();
  app->add_option("--pacu-pending", options->pending_max, "buckets that wait for their key")
      ->capture_default_str();
  app->add_option("--t-ht", options->hit_table_ns, "ns of an access to the hit table")
      ->capture_default_str();
  app->add_option("--ht-buckets", options->hit_table_buckets, "buckets in the hit table; 0: all")
      ->capture_default_str();
  app->add_option("--t-size", options->size_ns, "ns to read an object's size")
      ->capture_default_str();
  app->add_option("--spec-first", options->spec_first,
                  "lines that runtime requests before it knows the size")
      ->capture_default_str();
  app->add_option("--size-mode", options->size_mode,
                  "static and dynamic sizes count the value (value) or all bytes (raw)")
      ->capture_default_str();
  app->add_option("--prof-window", options->prof_window,
                  "lookups that give one mean size of dynamic")
      ->capture_default_str();
}

nlohmann::ordered_json ConfigOf(const PrefetchOptions& options) {
  return {{"pacu", options.pacu},
          {"pscu", options.pscu},
          {"exhausted_max", options.exhausted_max},
          {"t_insitu", options.insitu_ns},
          {"pacu_units", options.pacu_units},
          {"pacu_pending", options.pending_max},
          {"t_ht", options.hit_table_ns},
          {"ht_buckets", options.hit_table_buckets},
          {"t_size", options.size_ns},
          {"spec_first", options.spec_first},
          {"size_mode", options.size_mode},
          {"prof_window", options.prof_window}};
}

UnitCounts PrefetchUnits::Total() const {
  UnitCounts total;
  for (const auto& each : counts) total += *each;
  return total;
}

Result<PrefetchUnits> MakePrefetchers(const PrefetchOptions& options, const StoreShape& shape,
                                      const TableImage& table, int channels, uint64_t seed) {
  const Result<PacuChoice> pacu = ParsePacu(options.pacu);
  if (!pacu) return pacu.error();
  const Result<PscuChoice> pscu = ParsePscu(options.pscu);
  if (!pscu) return pscu.error();
  Status status = ValidateOptions(options);
  if (!status.ok()) return status;
  PrefetchUnits made;
  if (pacu.value().kind == PacuKind::kOff) return made;
  status = ValidateStore(shape, table, channels);
  if (!status.ok()) return status;

  Factory factory(options, pacu.value(), pscu.value(), shape, table, seed);
  made.hit_table_bytes = factory.hit_table_bytes();
  for (int channel = 0; channel < channels; ++channel) {
    made.counts.push_back(std::make_shared<UnitCounts>());
    made.units.push_back(factory.MakeUnit(channel, made.counts.back()));
  }
  return made;
}

}  // namespace weft::sim
