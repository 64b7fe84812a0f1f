#include "bench/command/unheeded.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/harness/defaults.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

using Names = std::vector<std::string>;

bool IsGiven(const CLI::App& app, const std::string& name) {
  const CLI::Option* const option = app.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

// Of a list that has all there is where it is empty.
template <typename Is>
bool Any(const Names& names, const Is& is) {
  return names.empty() || std::any_of(names.begin(), names.end(), is);
}

bool Has(const Names& names, std::string_view name) {
  return Any(names, [&](const std::string& one) { return one == name; });
}

bool HasPart(const Names& names, std::string_view part) {
  return Any(names, [&](const std::string& one) { return one.find(part) != std::string::npos; });
}

bool HasPlanOfItsOwn(const Names& plans) {
  return std::any_of(plans.begin(), plans.end(),
                     [](const std::string& plan) { return plan != "auto" && plan != "all"; });
}

bool OnlyLevelDb(const Names& stores) { return !Has(stores, "weft") && !Has(stores, "rocksdb"); }

constexpr const char* kNoWeft = "weft is not asked of --stores";
constexpr const char* kOneThread = "LevelDB has one, and --stores asks of no other";

// Options of subcommands, and what leaves them without a use.
struct Rule {
  std::vector<std::string> subcommands;
  std::vector<const char*> options;
  const char* why;
  bool (*is_unheeded)(const CLI::App& app, const Arguments& a);
};

const std::vector<Rule>& RulesOfDurableStores() {
  static const std::vector<Rule> all = {
      {{"durable"},
       {"--strict", "--target"},
       "one of --stores alone is compared with nothing",
       [](auto&, auto& a) { return a.durable.stores.size() == 1; }},
      {{"durable"},
       {"--reads"},
       "no --benchmarks is asked that looks up",
       [](auto&, auto& a) { return !HasPart(a.durable.benchmarks, "read"); }},
      {{"durable"},
       {"--syncs"},
       "fillsync is not asked of --benchmarks",
       [](auto&, auto& a) { return !HasPart(a.durable.benchmarks, "fillsync"); }},
      {{"durable"},
       {"--tail-seconds", "--tail-load"},
       "tail is not asked of --benchmarks",
       [](auto&, auto& a) { return !Has(a.durable.benchmarks, "tail"); }},
      {{"durable"},
       {"--write-buffer", "--table", "--block-cache", "--bloom-bits", "--rocksdb-level1"},
       "--settings leveldb-defaults has its own",
       [](auto&, auto& a) {
         return !Has(a.durable.settings, "common") && !a.durable.settings.empty();
       }},
      {{"durable"},
       {"--level1", "--no-verify"},
       kNoWeft,
       [](auto&, auto& a) { return !Has(a.durable.stores, "weft"); }},
      {{"durable"},
       {"--rocksdb-level1"},
       "rocksdb is not asked of --stores",
       [](auto&, auto& a) { return !Has(a.durable.stores, "rocksdb"); }},
      {{"durable"},
       {"--background-threads"},
       kOneThread,
       [](auto&, auto& a) { return OnlyLevelDb(a.durable.stores); }},
      {{"contention"},
       {"--background-threads"},
       kOneThread,
       [](auto&, auto& a) { return OnlyLevelDb(a.contention.stores); }},
      {{"contention"},
       {"--compaction-device"},
       kNoWeft,
       [](auto&, auto& a) { return !Has(a.contention.stores, "weft"); }},
      {{"compaction"},
       {"--compaction-device", "--threads", "--direct"},
       kNoWeft,
       [](auto&, auto& a) { return !Has(a.compaction.stores, "weft"); }},
      {{"compaction"},
       {"--direct"},
       "neither --compaction-device nor --threads is given",
       [](auto&, auto& a) { return a.compaction.devices.empty() && a.compaction.threads.empty(); }},
  };
  return all;
}

constexpr const char* kQuickTakesLess = "--quick takes less";

const std::vector<Rule>& RulesOfQuick() {
  static const std::vector<Rule> all = {
      {{"durable"},
       {"--num"},
       kQuickTakesLess,
       [](auto&, auto& a) { return a.quick && a.durable.keys > defaults::kQuickKeys; }},
      {{"durable"},
       {"--reads"},
       kQuickTakesLess,
       [](auto&, auto& a) { return a.quick && a.durable.reads > defaults::kQuickKeys; }},
      {{"durable"},
       {"--tail-seconds"},
       kQuickTakesLess,
       [](auto&, auto& a) { return a.quick && a.durable.tail_s > defaults::kQuickTailS; }},
      {{"compaction"},
       {"--scale"},
       kQuickTakesLess,
       [](auto&, auto& a) { return a.quick && a.compaction.scale > defaults::kQuickScale; }},
      {{"contention"},
       {"--num"},
       kQuickTakesLess,
       [](auto&, auto& a) { return a.quick && a.contention.keys > defaults::kQuickKeys; }},
      {{"device"},
       {"--objects"},
       kQuickTakesLess,
       [](auto&, auto& a) { return a.quick && a.device.objects > defaults::kQuickObjects; }},
      {{"device"},
       {"--batch"},
       kQuickTakesLess,
       [](auto&, auto& a) { return a.quick && a.device.batch > defaults::kQuickDeviceBatch; }},
  };
  return all;
}

const std::vector<Rule>& OtherRules() {
  static const std::vector<Rule> all = {
      {{"prefetch"},
       {"--threads"},
       "--cpus has fewer, and each thread has one to itself",
       [](auto&, auto& a) {
         const size_t cpus = ParseCpuList(a.embedded_cpus).size();
         return cpus != 0 && cpus < static_cast<size_t>(a.prefetch.threads);
       }},
      {{"latency"},
       {"--load"},
       "--rate is given",
       [](auto& app, auto&) { return IsGiven(app, "--rate"); }},
      {{"embedded"},
       {"--target", "--strict"},
       "--threads asks for one alone, which all others are compared with",
       [](auto&, auto& a) { return a.threads == "1"; }},
      {{"server"},
       {"--get-share"},
       "multiget-100 has GETs alone",
       [](auto&, auto& a) { return !HasPart(a.cases, "depth"); }},
      {{"pipeline", "alternation"},
       {"--cpus"},
       "there are more than --threads",
       [](auto&, auto& a) {
         return a.pipeline.threads > 0 &&
                ParseCpuList(a.embedded_cpus).size() > static_cast<size_t>(a.pipeline.threads);
       }},
      {{"pipeline", "alternation"},
       {"--batch-max"},
       "no --plan is given",
       [](auto&, auto& a) { return a.pipeline.plans.empty(); }},
      {{"pipeline", "alternation"},
       {"--batch-max"},
       "without --device all plans of --plan have one stage",
       [](auto&, auto& a) {
         return a.pipeline.devices.empty() && !HasPlanOfItsOwn(a.pipeline.plans);
       }},
      {{"pipeline", "alternation"},
       {"--no-learn"},
       "--plan auto is not given",
       [](auto&, auto& a) { return a.pipeline.plans.empty() || !Has(a.pipeline.plans, "auto"); }},
      {{"pipeline", "alternation"},
       {"--steal"},
       "no --plan of one's own is given",
       [](auto&, auto& a) { return !HasPlanOfItsOwn(a.pipeline.plans); }},
      {{"pipeline", "alternation"},
       {"--plan"},
       "all of them have one stage without --device, and that one always runs",
       [](auto&, auto& a) {
         return a.pipeline.devices.empty() && !a.pipeline.plans.empty() &&
                std::all_of(a.pipeline.plans.begin(), a.pipeline.plans.end(),
                            [](const std::string& plan) { return plan == "all"; });
       }},
  };
  return all;
}

}  // namespace

std::string UnheededOf(const CLI::App& subcommand, const Arguments& arguments) {
  for (const std::vector<Rule>* rules : {&RulesOfDurableStores(), &RulesOfQuick(), &OtherRules()}) {
    for (const Rule& rule : *rules) {
      if (std::find(rule.subcommands.begin(), rule.subcommands.end(), subcommand.get_name()) ==
          rule.subcommands.end())
        continue;
      for (const char* const option : rule.options) {
        if (IsGiven(subcommand, option) && rule.is_unheeded(subcommand, arguments))
          return fmt::format("{}: {}", option, rule.why);
      }
    }
  }
  return "";
}

}  // namespace weft::bench
