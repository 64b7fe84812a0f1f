// The in-memory workloads, offline: requests read from memory, responses written to memory, any
// plan against the plan with one stage on the CPU.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/harness/machine.h"
#include "bench/pipeline/breakdown.h"
#include "bench/pipeline/contenders.h"
#include "bench/pipeline/energy_table.h"
#include "bench/pipeline/model_check.h"
#include "bench/pipeline/table.h"
#include "bench/pipeline/turns.h"
#include "bench/walk/ceiling.h"

namespace weft::bench {
namespace {

nlohmann::json WorkloadDetails(const PipelineOptions& options, const Workload& workload,
                               const Devices& devices, const DataSet& data, double attach_s) {
  return {{"workload", workload.name},
          {"memory_mb", options.memory_mb},
          {"objects", data.objects()},
          {"fill", options.fill},
          {"load_s", data.fill_s()},
          {"attach_s", attach_s},
          {"evictions", data.evictions()},
          {"threads", options.threads},
          {"devices", DevicesJson(devices)},
          {"more_threads_than_cpus", options.threads > ThisMachine().cpus},
          {"ring", options.ring},
          {"verify", options.verify == Verify::kAll ? "all" : "sampled"},
          {"repetitions", options.repetitions},
          {"seconds", options.run_s},
          {"warmup_s", options.warmup_s},
          {"settle_s", options.settle_s},
          {"huge_pages", options.huge_pages}};
}

Row MakeRow(const Workload& workload, size_t at, const std::vector<ContenderFigures>& all,
            nlohmann::json details) {
  Row row;
  row.bench = "pipeline";
  const double interval_us = details["interval_us"];
  row.name = fmt::format("{}/{}us/plan-{}", workload.name, interval_us, at);
  row.unit = "queries/s";
  row.subject = {fmt::format("plan {}", at), all[at].rates};
  if (at == 0) {
    row.judged_name = "queries/s";
    row.judged = all[0].rates.Median();
  } else {
    row.SetPeer("over one stage on the cpu", {"one stage", all[0].rates});
  }
  row.details = std::move(details);
  row.details.update(ToJson(all[at].figures));
  return row;
}

void PrintTasks(const Figures& figures) {
  fmt::print("    ns a query:");
  for (uint32_t i = 0; i < pipeline::kTaskCount; ++i) {
    const auto task = static_cast<pipeline::Task>(i);
    // RD is counted with WR; handing responses over in memory is nothing.
    if (task == pipeline::Task::kRead || task == pipeline::Task::kSend) continue;
    fmt::print(" {} {:.1f}", pipeline::TaskName(task), figures.TaskNs(task));
  }
  fmt::print("\n    {} replies verified whole in {:.0f} % of the time; cpu busy {:.0f} %\n",
             figures.verified_whole, 100 * figures.Verifying(), 100 * figures.Busy());
  if (figures.device_queries != 0)
    fmt::print(
        "    devices had work {:.0f} % of the time; {:.1f} % of their queries stolen, {} "
        "stages rerun\n",
        100 * figures.DeviceBusy(),
        100 * static_cast<double>(figures.stolen_queries) /
            static_cast<double>(figures.device_queries),
        figures.reruns);
  if (figures.LetRun() < 0.97)
    fmt::print("    the machine was shared: threads ran {:.0f} % of the time\n",
               100 * figures.LetRun());
}

// A store filled for the workload, and the draw of its keys; both are kept while the next workload
// can do with them.
struct Bed {
  explicit Bed(Devices* followers) : devices(followers) {}
  ~Bed() { devices->Detach(); }
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  Devices* const devices;  // that follow the store
  std::unique_ptr<DataSet> data;
  std::unique_ptr<KeyPicker> uniform, zipf;  // the latter takes seconds to make
  std::unique_ptr<Ceiling> ceiling;          // none: see no_ceiling
  std::string no_ceiling;
  uint32_t key_bytes = 0;
  double attach_s = 0;  // until the devices had it
  uint64_t aged_stores = 0;
  bool is_written = false;  // a workload with SETs ran on it
};

void MakeCeiling(const PipelineOptions& options, const Workload& workload, Bed* bed) {
  bed->no_ceiling = "it was not asked for";
  if (!options.walk) return;
  auto ceiling = Ceiling::Make(bed->data->objects(workload), DataSet::ObjectBytes(workload),
                               options.huge_pages, options.seed);
  bed->no_ceiling = ceiling ? "" : ceiling.error().message();
  if (ceiling) bed->ceiling = std::move(*ceiling);
}

Status Prepare(const PipelineOptions& options, const Workload& workload, Bed* bed) {
  // Behind SETs some keys are missing, as they are behind the ageing for others.
  const bool is_whole = !bed->is_written || workload.get_share < 1;
  if (bed->data == nullptr || !is_whole || bed->key_bytes != workload.key_bytes) {
    bed->devices->Detach();
    bed->ceiling.reset();
    bed->data.reset();  // first, for its memory
    auto data = DataSet::Fill({&workload, 1}, DataSetOptionsOf(options, *bed->devices));
    if (!data) return data.error();
    bed->data = std::move(*data);
    const uint64_t start_ns = base::NowNs();
    if (Status status = bed->devices->Attach(&bed->data->store()); !status.ok()) return status;
    bed->aged_stores = 0;
    bed->attach_s = static_cast<double>(base::NowNs() - start_ns) * 1e-9;
    bed->key_bytes = workload.key_bytes;
    MakeCeiling(options, workload, bed);
  }
  std::unique_ptr<KeyPicker>& picker = workload.zipf ? bed->zipf : bed->uniform;
  if (picker == nullptr || picker->keys() != bed->data->objects())
    picker = std::make_unique<KeyPicker>(bed->data->objects(), workload.zipf);
  bed->is_written = workload.get_share < 1;
  if (!bed->is_written) return Status::Ok();
  auto aged = Age(options, workload, *picker, bed->devices, bed->data.get());
  if (!aged) return aged.error();
  bed->aged_stores = *aged;
  return Status::Ok();
}

// The bare walk over as many objects, drawn alike, by as many threads: what bounds any lookup.
CeilingFigure MeasureCeiling(const PipelineOptions& options, const Workload& workload,
                             const Bed& bed) {
  const KeyPicker& picker = workload.zipf ? *bed.zipf : *bed.uniform;
  return bed.ceiling->Measure(picker, static_cast<size_t>(options.threads),
                              options.cpus.empty() ? UsableCpus() : options.cpus);
}

nlohmann::json CeilingJson(const Bed& bed, const CeilingFigure& figure) {
  if (bed.ceiling == nullptr) return {{"unavailable", bed.no_ceiling}};
  return {{"per_s", figure.per_s},
          {"batch", figure.batch},
          {"objects", bed.ceiling->objects()},
          {"object_bytes", bed.ceiling->object_bytes()},
          {"bytes", bed.ceiling->bytes()}};
}

void PrintCeiling(const Bed& bed, const CeilingFigure& figure, double rate) {
  if (bed.ceiling == nullptr) {
    fmt::print("    walk unavailable: {}\n", bed.no_ceiling);
    return;
  }
  fmt::print(
      "    {:.2f} of the bare walk's {}/s ({} objects of {} B, {} MiB with an index, by {})\n",
      rate / figure.per_s, Short(figure.per_s), Short(static_cast<double>(bed.ceiling->objects())),
      bed.ceiling->object_bytes(), bed.ceiling->bytes() >> 20, figure.batch);
}

// Keys that no request asks for are the first to be evicted, and the others then lie side by side:
// whoever reads the figures should know.
void PrintReach(const PipelineOptions& options, const DataSet& data) {
  const double requests = static_cast<double>(options.ring) * options.threads;
  const double objects = static_cast<double>(data.objects());
  if (requests < objects)
    fmt::print("    the requests ask for {:.1f} % of the objects at most (--ring)\n",
               100 * requests / objects);
  if (const uint64_t evictions = data.evictions(); evictions != 0)
    fmt::print("    {} objects were evicted since the fill, {:.1f} % of them\n",
               Short(static_cast<double>(evictions)),
               100 * static_cast<double>(evictions) / objects);
}

// What takes turns within one interval, and what came of it so far.
struct Round {
  std::vector<Contender> contenders;
  std::vector<TableLine> lines;
  std::vector<EnergyLine> energy;  // where meters are asked for
};

// Which of the contenders that keep to a plan has the candidate's.
std::optional<size_t> NumberOf(const std::vector<Contender>& contenders,
                               const planner::Candidate& candidate) {
  for (size_t i = 0; i < contenders.size(); ++i) {
    const bool is_one_stage = candidate.plan.stages().size() == 1;
    if (!contenders[i].is_auto && contenders[i].plan == candidate.plan &&
        (is_one_stage || contenders[i].steal == candidate.steal))
      return i;
  }
  return std::nullopt;
}

// The contenders' turns with one workload: a row of the report and a line of the table each.
// `calibration` may be null.
Status RunRound(const PipelineOptions& options, const Workload& workload,
                const planner::Calibration* calibration, Bed* bed, Round* round, Report& report) {
  const std::vector<Contender>& contenders = round->contenders;
  const Traffic traffic{{workload}, {(workload.zipf ? bed->zipf : bed->uniform).get()}};
  const CeilingFigure ceiling =
      bed->ceiling == nullptr ? CeilingFigure() : MeasureCeiling(options, workload, *bed);
  auto all = RunTurns(options, traffic, contenders, calibration, bed->devices, bed->data.get());
  if (!all) return all.error();
  for (size_t c = 0; c < contenders.size(); ++c) {
    const Contender& contender = contenders[c];
    nlohmann::json details =
        WorkloadDetails(options, workload, *bed->devices, *bed->data, bed->attach_s);
    details["aged_stores"] = bed->aged_stores;
    details["interval_us"] = contender.interval_us;
    details["walk"] = CeilingJson(*bed, ceiling);
    details["plan"] = contender.plan.ToText();
    details["steal"] = contender.steal;
    const Figures& figures = (*all)[c].figures;
    const bool kept = figures.latency_ns.Mean() * 1e-3 <= contender.interval_us;
    details["interval_kept"] = kept;
    std::optional<planner::Estimate> estimate, promised;
    const std::optional<planner::PlannerStats>& planner = (*all)[c].planner;
    if (planner) {
      AddDecision(*planner, figures, &details);
      // The last one that was made for it, if it is in force at the end.
      const planner::Decision& last = planner->decision;
      const PlanUse& use = figures.MostUsed();
      promised = last.candidate == use.candidate ? last.estimate : use.estimate;
      details["predicted"] = ToJson(*promised);
      details["model_error"] = ErrorOf(*promised, figures);
    } else if (calibration != nullptr) {
      auto predicted =
          planner::EstimatePlan(*calibration, ProfileOf(workload, bed->data->objects(), figures),
                                contender.plan, ConditionsOf(options, contender));
      if (!predicted) return predicted.error();
      estimate = *predicted;
      details["predicted"] = ToJson(*estimate);
      details["model_error"] = ErrorOf(*estimate, figures);
    }
    if (options.meters) {
      round->energy.push_back({workload.name, c, static_cast<double>(figures.queries()),
                               static_cast<double>(figures.turns_ns) * 1e-9, (*all)[c].meters});
      details["energy"] = EnergyJson(round->energy.back());
    }
    report.Add(MakeRow(workload, c, *all, std::move(details)));
    PrintTasks(figures);
    PrintCeiling(*bed, ceiling, (*all)[c].rates.Median());
    PrintReach(options, *bed->data);
    const double ratio = (*all)[c].rates.Median() / (*all)[0].rates.Median();
    round->lines.push_back(
        {workload.name, c, ratio, kept, figures, estimate, promised,
         planner ? NumberOf(contenders, figures.MostUsed().candidate) : std::nullopt});
  }
  return Status::Ok();
}

}  // namespace

std::vector<std::string> PipelineWorkloads() {
  std::vector<std::string> names;
  for (const char* set : {"K8", "K16", "K32", "K128"})
    for (const char* share : {"G100", "G95", "G50"})
      for (const char* skew : {"U", "S"})
        names.push_back(fmt::format("{}-{}-{}", set, share, skew));
  return names;
}

Status RunPipeline(const PipelineOptions& given, Report& report) {
  PipelineOptions options = given;
  if (options.threads == 0) options.threads = ThisMachine().cpus;
  auto workloads = ParseWorkloads(options);
  if (!workloads) return workloads.error();
  auto devices = Devices::Open(options.devices);
  if (!devices) return devices.error();
  std::vector<Round> rounds(options.intervals_us.size());
  for (size_t i = 0; i < rounds.size(); ++i) {
    auto contenders = ContendersOf(options, options.intervals_us[i], **devices);
    if (!contenders) return contenders.error();
    rounds[i].contenders = std::move(*contenders);
  }
  auto calibration = CalibrationFor(options, **devices);
  if (!calibration) return calibration.error();
  Bed bed(devices->get());  // its memory may be the devices'
  for (const Workload& workload : *workloads) {
    if (Status status = Prepare(options, workload, &bed); !status.ok()) return status;
    for (Round& round : rounds) {
      Status status = RunRound(options, workload, *calibration ? &**calibration : nullptr, &bed,
                               &round, report);
      if (!status.ok())
        return {status.code(), fmt::format("{}: {}", workload.name, status.message())};
    }
  }
  for (const Round& round : rounds) {
    PrintTable(round.contenders, round.lines);
    PrintBreakDown(round.contenders, round.lines);
    PrintEnergy(round.energy);
  }
  return Status::Ok();
}

}  // namespace weft::bench
