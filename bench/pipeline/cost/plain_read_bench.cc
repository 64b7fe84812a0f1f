// What a worker of `weft-bench pipeline` pays for a plain read whose value a device gathers:
// build/release/bench/plain_read_bench. By key bytes (with the values of the workloads) and queries
// of a batch, 3 batches under way; nanoseconds a query, the least of kRuns runs:
//
//   receive, parse  requests off the ring, into the batch
//   begin           the batch's Clear, and what the runner does until the device has the job
//   last            the last stage without the replies
//   write           the replies
//   work            all of these
//   check           what the client does: every byte of every reply is compared
//
// The device is a stand-in, which answers with what it has prepared before. Its own time is taken
// off; it writes past the caches, as a device beyond a bus does.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/ticks.h"
#include "bench/pipeline/worker.h"

namespace weft::bench {
namespace {

constexpr size_t kRing = 1 << 18;
constexpr uint32_t kBatches = 3;
constexpr uint64_t kMemoryBytes = uint64_t{512} << 20;
constexpr double kWarmupS = 0.02;
constexpr double kRunS = 0.05;
constexpr int kRuns = 25;

void WritePastCaches(uint64_t* to, uint64_t word) {
#if defined(__x86_64__)
  __builtin_ia32_movnti64(reinterpret_cast<long long*>(to), static_cast<long long>(word));
#else
  *to = word;
#endif
}

// `bytes` is rounded up to a multiple of 8, as columns have room for.
void WriteColumn(void* to, const void* from, size_t bytes) {
  auto* const words = static_cast<uint64_t*>(to);
  for (size_t i = 0; i < (bytes + 7) / 8; i++) {
    uint64_t word;
    std::memcpy(&word, static_cast<const char*>(from) + i * 8, 8);
    WritePastCaches(words + i, word);
  }
}

// Answers requests of a ring in their order, each batch when those behind it have come.
class StandIn final : public processor::Processor {
 public:
  StandIn(DataSet* data, const RequestRing& ring, uint32_t value_bytes)
      : record_units_((kGatherHeaderBytes + value_bytes) / 8) {
    description_.name = "stand-in";
    description_.memory = processor::MemoryModel::kMirrored;
    description_.tasks = kRunSearch | kRunCompare | kRunRead;
    const std::unique_ptr<cache::Session> session = data->store().NewSession();
    session->Begin();
    // Columns are written by whole words, and a batch goes over the ring's end.
    const size_t count = kRing + kQueriesMax + 8;
    words_.resize(count);
    positions_.resize(count);
    records_.resize(count * record_units_);
    for (size_t i = 0; i < count; i++) {
      const RequestView request = ring.At(i % kRing);
      const task::Found found = task::Find(
          session->index(), session->log(),
          {data->store().HashOf(request.key), reinterpret_cast<const uint8_t*>(request.key.data()),
           request.head.key_bytes});
      WEFT_CHECK(found.slot != nullptr);
      words_[i] = found.word;
      positions_[i] = task::PositionOf(session->index(), found.slot);
      records_[i * record_units_] = uint64_t{value_bytes} << 32;
      WriteVersionedValue(request.key.data(), {},
                          reinterpret_cast<char*>(&records_[i * record_units_ + 1]), value_bytes);
    }
    session->End();
    results_.assign(kQueriesMax + 8, kResultRead);
    for (uint32_t i = 0; i < kQueriesMax + 8; i++) values_at_.push_back(i * record_units_);
  }

  static constexpr size_t kQueriesMax = 8192;

  const processor::Description& description() const override { return description_; }
  cache::PageSource* pages() override { return cache::SystemPages(); }

  Status Start(processor::Job* job) override {
    const uint64_t start = base::ReadTicks();
    job->Begin();
    const task::QueryJob& query = job->query;
    const size_t count = query.end;
    WriteColumn(query.result, results_.data(), count);
    WriteColumn(query.columns.word, &words_[next_], count * 8);
    WriteColumn(query.columns.position, &positions_[next_], count * 8);
    WriteColumn(query.value_at, values_at_.data(), count * 4);
    WriteColumn(query.values, &records_[next_ * record_units_], count * record_units_ * 8);
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
    next_ = (next_ + count) % kRing;
    base::MutexLock lock(&mutex_);
    held_.push_back(job);
    if (held_.size() == kBatches) FinishOldest();
    ticks_ += base::ReadTicks() - start;
    return Status::Ok();
  }

  // A worker begins at the ring's begin, and ends when all is answered.
  void Rewind() { next_ = ticks_ = 0; }
  void FinishAll() {
    base::MutexLock lock(&mutex_);
    while (!held_.empty()) FinishOldest();
  }
  // Its own, since Rewind. REQUIRES: no worker runs
  uint64_t ticks() const { return ticks_; }

 private:
  void FinishOldest() WEFT_REQUIRES(mutex_) {
    held_.front()->Finish(Status::Ok());
    held_.pop_front();
  }

  processor::Description description_;
  const uint32_t record_units_;
  // By request.
  std::vector<uint64_t> words_, positions_, records_;
  // By query of a batch.
  std::vector<uint8_t> results_;
  std::vector<uint32_t> values_at_;

  // The worker's.
  size_t next_ = 0;
  uint64_t ticks_ = 0;

  base::Mutex mutex_;
  std::deque<processor::Job*> held_ WEFT_GUARDED_BY(mutex_);
};

// One workload with its data, for as long as benchmarks of it follow each other.
struct Scene {
  explicit Scene(uint32_t key_bytes)
      : workload(*ParseWorkload("K" + std::to_string(key_bytes) + "-G100-U")),
        ring(workload, kRing) {
    DataSetOptions options;
    options.memory_bytes = kMemoryBytes;
    options.fill = 0.25;
    auto filled = DataSet::Fill({&workload, 1}, options);
    WEFT_CHECK(filled.has_value());
    data = std::move(*filled);
    ring.Fill(KeyPicker(data->objects(), false), 1);
    auto processor = std::make_unique<StandIn>(data.get(), ring, workload.value_bytes);
    device = processor.get();
    guard = std::make_unique<processor::Guard>(std::move(processor));
  }

  static Scene* Of(uint32_t key_bytes) {
    static std::unique_ptr<Scene> scene;
    if (scene == nullptr || scene->workload.key_bytes != key_bytes) {
      scene.reset();
      scene = std::make_unique<Scene>(key_bytes);
    }
    return scene.get();
  }

  const Workload workload;
  std::unique_ptr<DataSet> data;
  RequestRing ring;
  StandIn* device = nullptr;
  std::unique_ptr<processor::Guard> guard;
};

void RunWorker(Scene* scene, Worker* worker, double seconds) {
  scene->device->Rewind();
  const uint64_t until_ns = base::NowNs() + static_cast<uint64_t>(seconds * 1e9);
  std::atomic<bool> ended{false};
  std::thread thread([&] {
    worker->Run(base::NowNs(), until_ns);
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::nanoseconds(until_ns - base::NowNs()));
  for (; !ended; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    scene->device->FinishAll();
  thread.join();
}

void BM_PlainRead(benchmark::State& state) {
  Scene* const scene = Scene::Of(static_cast<uint32_t>(state.range(1)));
  processor::Guard* const guards[] = {scene->guard.get()};
  WorkerOptions options;
  options.interval_us = 1e9;  // every batch is as large as it may be
  options.carrier.devices = guards;
  options.carrier.batches = kBatches;
  options.carrier.queries_max = static_cast<uint32_t>(state.range(0));
  options.carrier.value_bytes = scene->workload.value_bytes;
  auto plan = pipeline::Plan::Parse(
      "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> "
      "[IN.insert IN.delete WR SD]cpu");
  auto worker = Worker::Create(scene->data.get(), {&scene->ring, 1}, *plan, options);
  if (!worker) return state.SkipWithError(worker.error().ToString().c_str());
  for (auto _ : state) {
    RunWorker(scene, worker->get(), kWarmupS);
    RunWorker(scene, worker->get(), kRunS);
  }
  const Figures& figures = (*worker)->figures();
  if (!(*worker)->status().ok() || figures.hits != figures.queries())
    return state.SkipWithError("a wrong reply");
  const auto ns = [&figures](uint64_t ticks) {
    return static_cast<double>(base::NsOfTicks(ticks)) / static_cast<double>(figures.queries());
  };
  const double receive = figures.TaskNs(pipeline::Task::kReceive);
  const double parse = figures.TaskNs(pipeline::Task::kParse);
  const double write = figures.TaskNs(pipeline::Task::kWrite);
  const double device = ns(scene->device->ticks());
  state.counters["receive"] = receive;
  state.counters["parse"] = parse;
  state.counters["begin"] = ns(figures.stage_ticks.front()) - receive - parse - device;
  state.counters["last"] = ns(figures.stage_ticks.back()) - write;
  state.counters["write"] = write;
  state.counters["work"] = ns(figures.busy_ticks) - device;
  state.counters["check"] = ns(figures.verify_ticks);
  state.counters["device"] = device;
}
// Others on the machine make a run slower, never faster.
double Least(const std::vector<double>& runs) {
  return *std::min_element(runs.begin(), runs.end());
}

BENCHMARK(BM_PlainRead)
    ->ArgNames({"batch", "key"})
    ->ArgsProduct({{1024, 3712, 8192}, {8, 16, 32}})
    ->Iterations(1)
    ->Repetitions(kRuns)
    ->ComputeStatistics("least", Least)
    ->ReportAggregatesOnly()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
