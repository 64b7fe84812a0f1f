#include "sim/run/idle_options.h"

#include <algorithm>
#include <initializer_list>
#include <map>

namespace weft::sim {
namespace {

bool IsTrace(const WorkloadOptions& workload) { return workload.source.starts_with("trace:"); }
bool HasGetsOnly(const WorkloadOptions& workload) {
  return workload.source == "fixedk" || workload.mix.starts_with("fixed:");
}

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
    AddAll(idle, {"pfq"}, "without a unit (--pacu) the staging queue is empty");
    AddAll(idle, {"pscu", "dest", "filter", "demand-first", "drop-age"},
           "it belongs to a unit, but there is none (--pacu)");
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
    AddAll(idle, {"refresh", "refresh-drain"}, "--no-refresh is given");
  } else if (memory.compat == "dramsim2") {
    AddAll(idle, {"refresh-drain"}, "--compat dramsim2 includes it");
  }
  if (memory.policy == "fcfs") {
    idle->push_back({"row-hits", "row_hits_max",
                     "with --policy fcfs a row closes once its bank's oldest request is for "
                     "another"});
  }
}

void AddOfWorkload(const WorkloadOptions& workload, std::vector<IdleOption>* idle) {
  if (IsTrace(workload)) {
    AddAll(idle,
           {"mix", "util", "pop", "cores", "buckets", "log-mib", "key-bytes", "instr-per-op",
            "key-lead", "put-key", "bucket-pf", "obj-pf", "swpf", "len-dep", "other-per-op"},
           "it belongs to a generated workload, but --source is a trace");
    return;
  }
  // Not log-mib, which is of --util natural: with buckets it makes the store of any workload small.
  if (HasGetsOnly(workload)) AddAll(idle, {"put-key"}, "there are only gets");
  if (!workload.bucket_pf && workload.obj_pf == "off") {
    AddAll(idle, {"swpf"}, "software prefetches nothing (--bucket-pf 0, --obj-pf off)");
  }
}

// What only a unit heeds.
void AddOfKeys(const WorkloadOptions& workload, std::vector<IdleOption>* idle) {
  if (IsTrace(workload)) return;
  constexpr const char* kOfUnits = "only a unit uses keys, but there is none (--pacu)";
  if (!HasGetsOnly(workload)) AddAll(idle, {"put-key"}, kOfUnits);
  // It moves the bucket's software prefetch, and its reads only where it is longer than they wait.
  if (!workload.bucket_pf && workload.key_lead <= kToFirstEntry) {
    AddAll(idle, {"key-lead"}, kOfUnits);
  }
}

Status Refuse(const std::string& name, const std::string& why) {
  return {Code::kInvalidArgument, "--" + name + " changes nothing: " + why};
}

Status RefuseGiven(const std::vector<IdleOption>& idle, const Given& given) {
  for (const IdleOption& option : idle) {
    if (given.contains(option.name)) return Refuse(option.name, option.why);
  }
  return Status::Ok();
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
  if (prefetch.pacu == "off") AddOfKeys(run.workload, &idle);
  AddOfUnits(prefetch, &idle);
  if (run.out.empty()) AddAll(&idle, {"epoch"}, "epoch.csv is written only with --out");
  if (!DependsOnSeed(run, prefetch)) AddAll(&idle, {"seed"}, kReplayedTheSame);
  return idle;
}

Status RefuseIdle(const std::vector<RunWithUnit>& runs) {
  std::map<std::string, std::string> refused;  // names, and why
  Given of_use;
  for (const RunWithUnit& of : runs) {
    Given used = of.run.given;
    for (const IdleOption& option : IdleOptions(of.run, of.prefetch)) {
      if (used.erase(option.name) > 0) refused.emplace(option.name, option.why);
    }
    of_use.merge(used);
  }
  for (const auto& [name, why] : refused) {
    if (!of_use.contains(name)) return Refuse(name, why);
  }
  return Status::Ok();
}

Status RefuseIdle(const MemoryOptions& memory, const Given& given) {
  std::vector<IdleOption> idle;
  AddOfMemory(memory, &idle);
  return RefuseGiven(idle, given);
}

Status RefuseIdle(const WorkloadOptions& workload, const Given& given) {
  std::vector<IdleOption> idle;
  AddOfWorkload(workload, &idle);
  if (IsTrace(workload)) {
    AddAll(&idle, {"seed"}, kReplayedTheSame);
    AddAll(&idle, {"ops"}, "the whole trace is always written");
  }
  return RefuseGiven(idle, given);
}

}  // namespace weft::sim
