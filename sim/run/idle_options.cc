#include "sim/run/idle_options.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace weft::sim {
namespace {

bool IsTrace(const WorkloadOptions& workload) { return workload.source.starts_with("trace:"); }

void AddAll(std::vector<IdleOption>* idle, std::initializer_list<const char*> names,
            const std::string& why) {
  for (const std::string name : names) {
    std::string key = name;
    std::replace(key.begin(), key.end(), '-', '_');
    idle->push_back({name, key, why});
  }
}

void AddOfUnits(const PrefetchOptions& prefetch, std::vector<IdleOption>* idle) {
  const std::string& pacu = prefetch.pacu;
  if (pacu == "off") {
    AddAll(idle, {"pfq"}, "nothing is in its staging queue without a unit (--pacu)");
    AddAll(idle, {"pscu", "dest", "filter", "demand-first", "drop-age"},
           "it belongs to a unit, and there is none (--pacu)");
  }
  if (pacu != "exhausted") AddAll(idle, {"exhausted-max"}, "it belongs to --pacu exhausted");
  if (pacu != "insitu") AddAll(idle, {"t-insitu", "pacu-units"}, "it belongs to --pacu insitu");
  if (pacu != "insitu" && !pacu.starts_with("oracle:")) {
    AddAll(idle, {"pacu-pending"}, "it belongs to --pacu insitu and oracle");
  }
  if (pacu != "hittable") AddAll(idle, {"t-ht", "ht-buckets"}, "it belongs to --pacu hittable");
  const std::string pscu = pacu == "off" ? "" : prefetch.pscu;
  if (pscu != "runtime") AddAll(idle, {"spec-first", "t-size"}, "it belongs to --pscu runtime");
  if (pscu != "dynamic") AddAll(idle, {"prof-window"}, "it belongs to --pscu dynamic");
  if (pscu != "dynamic" && !pscu.starts_with("static:")) {
    AddAll(idle, {"size-mode"}, "it belongs to --pscu static and dynamic");
  }
}

void AddOfMemory(const MemoryOptions& memory, std::vector<IdleOption>* idle) {
  if (memory.no_refresh) {
    AddAll(idle, {"refresh", "refresh-drain"}, "there is --no-refresh");
  }
}

void AddOfWorkload(const WorkloadOptions& workload, std::vector<IdleOption>* idle) {
  if (IsTrace(workload)) {
    AddAll(idle,
           {"mix", "util", "pop", "cores", "buckets", "log-mib", "key-bytes", "instr-per-op",
            "key-lead", "put-key", "bucket-pf", "obj-pf", "swpf", "len-dep", "other-per-op"},
           "it belongs to a generated workload, and --source is a trace");
    return;
  }
  // Not log-mib, which is of --util natural: with buckets it makes the store of any workload small.
  if (workload.source == "fixedk" || workload.mix.starts_with("fixed:")) {
    AddAll(idle, {"put-key"}, "there are gets only");
  }
}

// Values by key, of options that are idle as well.
nlohmann::ordered_json ValuesOf(const RunOptions& run, const PrefetchOptions& prefetch) {
  nlohmann::ordered_json values = ConfigOf(run);
  values["refresh"] = run.memory.refresh;
  WorkloadOptions workload = run.workload;
  if (IsTrace(workload)) workload.source = WorkloadOptions().source;
  values.update(ConfigOf(workload));
  values.update(ConfigOf(prefetch));
  return values;
}

Status Refuse(const std::string& name, const std::string& why) {
  return {Code::kInvalidArgument, "--" + name + " changes nothing: " + why};
}

}  // namespace

bool DependsOnSeed(const RunOptions& run, const PrefetchOptions& prefetch) {
  if (!IsTrace(run.workload)) return true;
  const Result<PacuChoice> pacu = ParsePacu(prefetch.pacu);
  if (!pacu) return true;  // the run says what is wrong
  return pacu.value().kind == PacuKind::kOracle && pacu.value().accuracy < 1;
}

std::vector<IdleOption> IdleOptions(const RunOptions& run, const PrefetchOptions& prefetch) {
  std::vector<IdleOption> idle;
  AddOfMemory(run.memory, &idle);
  AddOfWorkload(run.workload, &idle);
  AddOfUnits(prefetch, &idle);
  if (!DependsOnSeed(run, prefetch)) AddAll(&idle, {"seed"}, kReplayedTheSame);
  return idle;
}

Status RefuseIdle(const std::vector<RunWithUnit>& runs, const RunOptions& defaults) {
  const nlohmann::ordered_json others = ValuesOf(defaults, {});
  std::map<std::string, IdleOption> refused;
  std::set<std::string> of_use;
  for (const RunWithUnit& of : runs) {
    const nlohmann::ordered_json values = ValuesOf(of.run, of.prefetch);
    std::set<std::string> idle;
    for (const IdleOption& option : IdleOptions(of.run, of.prefetch)) {
      idle.insert(option.key);
      if (values[option.key] != others[option.key]) refused.emplace(option.key, option);
    }
    for (const auto& [key, value] : values.items()) {
      if (value != others[key] && !idle.contains(key)) of_use.insert(key);
    }
    if (of.run.epoch_clocks != defaults.epoch_clocks && of.run.out.empty()) {
      return Refuse("epoch", "epoch.csv is in the folder of --out");
    }
  }
  for (const auto& [key, option] : refused) {
    if (!of_use.contains(key)) return Refuse(option.name, option.why);
  }
  return Status::Ok();
}

Status RefuseIdle(const MemoryOptions& memory, const MemoryOptions& defaults) {
  RunWithUnit of_memory;
  of_memory.run.memory = memory;
  RunOptions others;
  others.memory = defaults;
  return RefuseIdle({of_memory}, others);
}

}  // namespace weft::sim
