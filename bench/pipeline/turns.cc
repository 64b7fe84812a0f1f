#include "bench/pipeline/turns.h"

#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/harness/machine.h"
#include "bench/pipeline/model_check.h"

namespace weft::bench {
namespace {

constexpr double kAgingFirstS = 0.1;
constexpr double kAgingMaxS = 3;
constexpr double kNotingFirstS = 0.05;
constexpr double kNotingMore = 1.25;  // the slowest worker is behind the mean
constexpr double kNotingMaxS = 1;

// A worker a thread, all with one plan.
struct Crew {
  std::unique_ptr<planner::Planner> planner;  // null: the plan stays
  std::vector<std::unique_ptr<Worker>> workers;
};

std::unique_ptr<planner::Planner> PlannerFor(const PipelineOptions& options,
                                             const Contender& contender,
                                             const planner::Calibration& calibration,
                                             DataSet* data) {
  planner::Planner::Options how;
  how.conditions = ConditionsOf(options, contender);
  how.learns = options.learns;
  how.has_always_queries = true;
  how.profile.objects = static_cast<double>(data->objects());
  planner::Calibration of_one_device = calibration;  // in whose memory the batches lie
  if (of_one_device.devices.size() > 1) of_one_device.devices.resize(1);
  return std::make_unique<planner::Planner>(of_one_device, how, &data->store());
}

// By thread, and by workload.
using Rings = std::vector<std::vector<RequestRing>>;

Result<Crew> MakeCrew(const PipelineOptions& options, const Traffic& traffic, const Rings& rings,
                      const Contender& contender, const planner::Calibration* calibration,
                      Devices* devices, DataSet* data) {
  Crew crew;
  if (contender.is_auto) crew.planner = PlannerFor(options, contender, *calibration, data);
  for (size_t t = 0; t < rings.size(); ++t) {
    WorkerOptions worker_options;
    worker_options.writer = static_cast<uint32_t>(t + 1);
    worker_options.interval_us = contender.interval_us;
    worker_options.verify = options.verify;
    worker_options.seed = options.seed;
    worker_options.ring_turn_ns = traffic.ring_turn_ns;
    worker_options.slot_ns = traffic.slot_ns;
    CarrierOptions& carrier = worker_options.carrier;
    carrier.devices = devices->guards();
    carrier.batches =
        contender.is_auto ? ConditionsOf(options, contender).batches : options.batches;
    carrier.any_plan = contender.is_auto;
    worker_options.planner = crew.planner.get();
    carrier.queries_max = options.batch_max / kSetQueries * kSetQueries;
    for (const Workload& workload : traffic.workloads)
      carrier.value_bytes = std::max(carrier.value_bytes, workload.value_bytes);
    carrier.steal = contender.steal;
    carrier.dice = static_cast<uint32_t>(t) << 16;
    carrier.on_device_done = [devices] { devices->meter().End(); };
    auto worker = Worker::Create(data, rings[t], contender.plan, worker_options);
    if (!worker) return worker.error();
    crew.workers.push_back(std::move(*worker));
  }
  return crew;
}

void FillRings(const Traffic& traffic, uint64_t seed, Rings* rings) {
  std::vector<std::thread> threads;
  for (size_t t = 0; t < rings->size(); ++t) {
    threads.emplace_back([&, t] {
      for (size_t w = 0; w < traffic.pickers.size(); ++w)
        (*rings)[t][w].Fill(*traffic.pickers[w], (seed + w * 1'009) * 1'000'003 + t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// All workers at once: first uncounted for `warmup_s`, then for the figures. `meters`, where there
// are any, run meanwhile.
Result<Figures> RunTurn(const PipelineOptions& options, double warmup_s,
                        const std::vector<std::unique_ptr<Worker>>& crew, Devices* devices,
                        const DataSet& data, MeterSet* meters = nullptr) {
  const std::vector<int> cpus = options.cpus.empty() ? UsableCpus() : options.cpus;
  uint64_t busy_start_ns = 0, start_ns = 0, looks_start = 0;
  bool is_counted = false;
  std::barrier together(static_cast<std::ptrdiff_t>(crew.size()), [&]() noexcept {
    if (is_counted && meters != nullptr) meters->Start({getpid()});
    is_counted = true;
    busy_start_ns = devices->meter().busy_ns();
    start_ns = base::NowNs();
    looks_start = data.victim_looks();
  });
  std::vector<std::thread> threads;
  for (size_t t = 0; t < crew.size(); ++t) {
    threads.emplace_back([&, t] {
      if (!cpus.empty()) PinTo(0, {cpus[t % cpus.size()]});
      for (const double seconds : {warmup_s, options.run_s}) {
        together.arrive_and_wait();
        crew[t]->Run(start_ns, start_ns + static_cast<uint64_t>(seconds * 1e9));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (Status status = devices->retired(); !status.ok()) return status;
  Figures all;
  all.device_busy_ns = devices->meter().busy_ns() - busy_start_ns;
  all.turns_ns = base::NowNs() - start_ns;
  all.victim_looks = data.victim_looks() - looks_start;
  for (const auto& worker : crew) {
    if (!worker->status().ok()) return worker->status();
    all.Merge(worker->figures());
  }
  return all;
}

bool ReadsOnDevice(const Contender& contender) {
  const std::vector<pipeline::Stage>& stages = contender.plan.stages();
  return std::any_of(stages.begin(), stages.end(), [](const pipeline::Stage& stage) {
    return stage.processor != "cpu" && stage.Has(pipeline::Task::kRead);
  });
}

// The first read of an object within a minute is noted in it (task/object.h), and by a device that
// reads in its copy, too, which tells the CPU to. That is no contender's alone: here requests are
// carried out, each once if that takes kNotingMaxS at most, by the first contender that has one
// stage and the first one that reads on a device.
Status NoteReads(const PipelineOptions& options, const std::vector<Contender>& contenders,
                 const std::vector<Crew>& crews, Devices* devices, const DataSet& data) {
  const auto on_cpu = std::find_if(contenders.begin(), contenders.end(), [](const Contender& each) {
    return !each.is_auto && each.plan.stages().size() == 1;
  });
  const auto on_device = std::find_if(contenders.begin(), contenders.end(), ReadsOnDevice);
  for (const auto& contender : {on_cpu, on_device}) {
    if (contender == contenders.end()) continue;
    if (Status status = devices->CatchUp(); !status.ok()) return status;
    const Crew& crew = crews[static_cast<size_t>(contender - contenders.begin())];
    PipelineOptions how = options;
    how.run_s = kNotingFirstS;  // says how long all take
    auto first = RunTurn(how, 0, crew.workers, devices, data);
    if (!first) return first.error();
    const double requests = static_cast<double>(options.ring * crew.workers.size());
    how.run_s = std::min(kNotingMore * requests / first->rate, kNotingMaxS);
    auto all = RunTurn(how, 0, crew.workers, devices, data);
    if (!all) return all.error();
  }
  return Status::Ok();
}

Status CheckMisses(const Figures& figures, const DataSet& data) {
  if (figures.hits == figures.gets || data.evictions() != 0) return Status::Ok();
  return {Code::kCorruption, fmt::format("{} of {} GETs missed, and nothing was ever evicted",
                                         figures.gets - figures.hits, figures.gets)};
}

}  // namespace

Result<std::vector<ContenderFigures>> RunTurns(const PipelineOptions& options,
                                               const Traffic& traffic,
                                               const std::vector<Contender>& contenders,
                                               const planner::Calibration* calibration,
                                               Devices* devices, DataSet* data) {
  Rings rings(static_cast<size_t>(options.threads));
  for (std::vector<RequestRing>& of_thread : rings)
    for (const Workload& workload : traffic.workloads)
      of_thread.emplace_back(workload, options.ring);
  std::vector<Crew> crews;
  for (const Contender& contender : contenders) {
    auto crew = MakeCrew(options, traffic, rings, contender, calibration, devices, data);
    if (!crew) return crew.error();
    crews.push_back(std::move(*crew));
  }
  std::vector<ContenderFigures> all(contenders.size());
  std::vector<size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), 0);
  for (int i = 0; i < options.repetitions; ++i) {
    FillRings(traffic, options.seed + static_cast<uint64_t>(i), &rings);
    if (options.settle_s > 0)
      if (Status status = NoteReads(options, contenders, crews, devices, *data); !status.ok())
        return status;
    for (const size_t c : order) {
      // A device follows the store between its batches, and had none in the turn before.
      if (Status status = devices->CatchUp(); !status.ok()) return status;
      const double warmup_s = options.warmup_s + (contenders[c].is_auto ? options.settle_s : 0);
      std::unique_ptr<MeterSet> meters;
      if (options.meters) {
        auto made = MeterSet::Make(*options.meters);
        if (!made) return made.error();
        meters = std::move(*made);
      }
      auto figures = RunTurn(options, warmup_s, crews[c].workers, devices, *data, meters.get());
      if (!figures) return figures.error();
      if (meters != nullptr) all[c].meters.push_back(meters->Stop());
      if (Status status = CheckMisses(*figures, *data); !status.ok()) return status;
      all[c].rates.Add(figures->rate);
      all[c].figures.Merge(*figures);
      Progress(fmt::format("pipeline/{} {}/{}, contender {}: {} queries/s",
                           traffic.workloads[0].name, i + 1, options.repetitions, c,
                           Short(figures->rate)));
    }
    std::reverse(order.begin(), order.end());
  }
  for (size_t c = 0; c < contenders.size(); ++c) {
    all[c].figures.rate = all[c].rates.Median();
    if (crews[c].planner != nullptr) all[c].planner = crews[c].planner->Stats();
  }
  return all;
}

Result<uint64_t> Age(const PipelineOptions& options, const Workload& workload,
                     const KeyPicker& picker, Devices* devices, DataSet* data) {
  Traffic stores{{workload}, {&picker}};
  stores.workloads[0].get_share = 0;
  PipelineOptions how = options;
  how.repetitions = 1;
  how.meters.reset();
  how.warmup_s = 0;
  how.run_s = kAgingFirstS;  // says how long the rest takes
  uint64_t stored = 0;
  for (double left_s = kAgingMaxS; stored < data->objects(workload) && left_s > 0;) {
    auto turns = RunTurns(how, stores, {{pipeline::Plan::OneStageCpu()}}, nullptr, devices, data);
    if (!turns) return turns.error();
    const Figures& figures = (*turns)[0].figures;
    stored += figures.sets;
    left_s -= how.run_s;
    const double missing = static_cast<double>(data->objects(workload)) - stored;
    how.run_s = std::min(left_s, std::max(missing / figures.rate, kAgingFirstS));
  }
  return stored;
}

}  // namespace weft::bench
