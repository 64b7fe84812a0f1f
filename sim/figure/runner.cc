#include "sim/figure/runner.h"

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/thread.h"
#include "sim/figure/command_judge.h"
#include "sim/run/idle_options.h"
#include "sim/run/short_trace.h"

namespace weft::sim {
namespace {

RunFigures RunFiguresOf(const RunResult& run, const UnitFigures& units) {
  RunFigures figures{.m1_cycles = run.cores.reads.value(),
                     .m2_cycles = run.cores.misses.value(),
                     .m3_cycles = run.cores.kv_misses.value(),
                     .op_cycles = run.op_cycles_mean(),
                     .op_p99_cycles = static_cast<double>(run.OpCycles(0.99)),
                     .ops_per_second = run.ops_per_second(),
                     .bus_utilization = run.BusUtilization(run.AllChannels()),
                     .object_misses = run.l2.object_misses,
                     .lost_l2_hits = run.l2.lost_hits,
                     .requests = run.requests,
                     .prefetch = run.prefetch,
                     .units = units.counts};
  if (const std::optional<Energy> energy = run.AllEnergy()) {
    figures.nj_per_op = energy->total_nj() / static_cast<double>(run.ops);
    figures.power_w = energy->total_nj() * 1e-9 / run.seconds();
  }
  return figures;
}

}  // namespace

std::string KeyOf(const Case& of) {
  nlohmann::ordered_json key = ConfigOf(of.run);
  key.update(ConfigOf(of.run.workload));
  key.update(ConfigOf(of.prefetch));
  for (const char* name : {"commit", "seed"}) key.erase(name);
  return key.dump();
}

// What is thrown in a thread would end the program.
Result<Runner::Played> Runner::PlayInMemory(const Job& job, SourceMaker* maker) const {
  try {
    return Play(job, maker);
  } catch (const std::bad_alloc&) {
    return Status(Code::kNoMemory, "a run needs more memory than there is; fewer --jobs may work");
  } catch (const std::length_error&) {
    return Status(Code::kNoMemory, "a run needs more memory than a process can have");
  }
}

Result<Runner::Played> Runner::Play(const Job& job, SourceMaker* maker) const {
  RunOptions run = job.of.run;
  run.seed = options_.first_seed + job.seed;
  run.epoch_clocks = 0;
  const Result<RunParts> parts = PartsOf(run, job.of.prefetch, maker);
  if (!parts) return parts.error();
  const Result<ControlledMemory> memory = MemoryOf(run.memory);
  if (!memory) return memory.error();
  CommandJudge judge(memory.value().preset, !run.memory.no_refresh,
                     job.seed == 0 ? options_.commands_checked : 0);
  RunListener listener;
  if (job.seed == 0 && options_.commands_checked > 0) {
    listener.on_command = [&judge](int channel, const IssuedCommand& issued) {
      judge.Check(channel, issued);
    };
  }
  const Result<RunResult> result = Simulate(run, parts.value(), listener);
  if (!result) return result.error();
  const Status verdict = judge.Verdict();
  if (!verdict.ok()) return verdict;
  return Played{RunFiguresOf(result.value(), parts.value().unit_figures()), judge.checked(),
                MissingOps(run, result.value())};
}

const Runner::Job* Runner::Take(const std::vector<Job>& jobs) {
  const base::MutexLock lock(&mutex_);
  return status_.ok() && begun_ < jobs.size() ? &jobs[begun_++] : nullptr;
}

void Runner::Keep(const Job& job, const Result<Played>& played, size_t jobs) {
  const base::MutexLock lock(&mutex_);
  ++over_;
  if (!played) {
    if (status_.ok()) status_ = played.error();
    return;
  }
  (*job.figures)[job.seed] = played.value().figures;
  ++runs_;
  requests_ += played.value().figures.requests;
  commands_checked_ += played.value().commands_checked;
  if (!played.value().note.empty()) notes_.insert(played.value().note);
  if (options_.on_progress) options_.on_progress(over_, jobs);
}

void Runner::Work(const std::vector<Job>& jobs) {
  SourceMaker maker;
  while (const Job* const job = Take(jobs)) Keep(*job, PlayInMemory(*job, &maker), jobs.size());
}

Status Runner::Perform(const std::vector<Job>& jobs) {
  {
    const base::MutexLock lock(&mutex_);
    begun_ = over_ = 0;
    status_ = Status::Ok();
  }
  std::vector<std::thread> threads;
  for (int i = 1; i < options_.jobs; ++i) {
    Result<std::thread> thread = base::StartThread([&] { Work(jobs); });
    if (!thread) break;  // the system gives no more: it takes longer
    threads.push_back(std::move(thread.value()));
  }
  Work(jobs);
  for (std::thread& thread : threads) thread.join();
  const base::MutexLock lock(&mutex_);
  return status_;
}

Status Runner::Run(const std::vector<Case>& cases) {
  std::vector<Job> jobs;
  std::vector<std::string> keys;
  for (const Case& of : cases) {
    const std::string key = KeyOf(of);
    const auto [at, is_new] = done_.try_emplace(key);
    if (!is_new) continue;
    keys.push_back(key);
    const bool draws = DependsOnSeed(of.run, of.prefetch);
    at->second.resize(draws ? static_cast<size_t>(options_.seeds) : 1);
    const std::string store = ConfigOf(of.run.workload).dump();
    for (size_t seed = 0; seed < at->second.size(); ++seed) {
      jobs.push_back({of, &at->second, seed, store});
    }
  }
  // So that those with the same store follow each other.
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
    return std::tie(a.seed, a.store) < std::tie(b.seed, b.store);
  });
  const Status status = Perform(jobs);
  if (!status.ok()) {
    for (const std::string& key : keys) done_.erase(key);
  }
  return status;
}

}  // namespace weft::sim
