#include "bench/pipeline/data_set.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/harness/report.h"
#include "pipeline/cpu_stage.h"

namespace weft::bench {
namespace {

constexpr uint64_t kObjectHeadBytes = 8;
constexpr double kIndexBytesPerObject = 64 / (8 * 0.75);  // as the store sizes it when told
constexpr uint64_t kObjectBytesMax = 2048;  // with room for every workload's; small, so that the
                                            // log keeps little for the largest object
constexpr uint64_t kPartObjects = 1 << 14;  // claimed by a loading thread at a time

uint32_t LogBytes(const Workload& workload) {
  return kObjectHeadBytes + workload.key_bytes + workload.value_bytes;
}

// Loads parts of the numbers through a pipeline of its own, until there are none left.
class Loader : public pipeline::Sink {
 public:
  Loader(cache::Store* store, const Workload& workload)
      : store_(store),
        key_bytes_(workload.key_bytes),
        value_bytes_(workload.value_bytes),
        session_(store->NewSession()),
        stage_(store, &times_),
        batch_(pipeline::Plan::OneStageCpu()),
        keys_(size_t{pipeline::Batch::kQueriesMax} * key_bytes_),
        values_(size_t{pipeline::Batch::kQueriesMax} * value_bytes_) {}

  // False: the store has no session for it.
  bool is_ready() const { return session_ != nullptr; }
  uint64_t failed() const { return failed_; }

  void Load(uint64_t begin, uint64_t end) {
    while (begin < end) {
      batch_.Clear();
      const uint32_t source = batch_.AddSource(INT64_MAX / 2);
      for (; begin < end && !batch_.full(); ++begin) Add(source, begin);
      stage_.Run(batch_, *session_, *this);
    }
  }

  void Write(pipeline::Batch& batch, uint32_t begin, uint32_t end, cache::Session&) override {
    for (uint32_t i = begin; i < end; ++i) failed_ += batch.reply(i).outcome != Outcome::kStored;
  }
  void RunOther(pipeline::Batch&, uint32_t, cache::Session&) override {}

 private:
  void Add(uint32_t source, uint64_t number) {
    char* const key = keys_.data() + size_t{batch_.size()} * key_bytes_;
    char* const value = values_.data() + size_t{batch_.size()} * value_bytes_;
    WriteBinaryKey(number, key, key_bytes_);
    WriteVersionedValue(key, Version{}, value, value_bytes_);
    cache::Command command;
    command.verb = cache::Verb::kStore;
    command.key = {key, key_bytes_};
    command.value = {value, value_bytes_};
    command.hash = store_->HashOf(command.key);
    batch_.AddCommand(source, 0, command);
  }

  cache::Store* const store_;
  const uint32_t key_bytes_;
  const uint32_t value_bytes_;
  const std::unique_ptr<cache::Session> session_;
  pipeline::TaskTimes times_;
  pipeline::CpuStage stage_;
  pipeline::Batch batch_;
  std::vector<char> keys_;
  std::vector<char> values_;
  uint64_t failed_ = 0;
};

// Objects of `object_bytes` that an empty store, its index made, can hold.
uint64_t ObjectsThatFit(cache::Store* store, uint32_t object_bytes) {
  const cache::LogGeometry& log = store->log().geometry();
  const uint64_t segments =
      (store->memory_limit() - store->Stats().memory_bytes) / log.segment_bytes;
  // The log's reserve, what eviction keeps free ahead of need, and the segments that are open.
  const uint64_t spare = 6 * uint64_t{log.lanes} + 8;
  // No object lies across two segments.
  return segments <= spare ? 0 : (segments - spare) * (log.segment_bytes / object_bytes);
}

}  // namespace

Result<std::unique_ptr<DataSet>> DataSet::Load(const Workload& workload,
                                               const DataSetOptions& options) {
  CacheOptions cache_options;
  cache_options.memory_bytes = options.memory_bytes;
  cache_options.object_bytes_max = kObjectBytesMax;
  cache_options.append_lanes = static_cast<uint32_t>(options.threads);
  cache_options.huge_pages = options.huge_pages;
  cache_options.expected_items = static_cast<uint64_t>(static_cast<double>(options.memory_bytes) /
                                                       (LogBytes(workload) + kIndexBytesPerObject));
  auto store = cache::Store::Open(cache_options, options.pages);
  if (!store) return store.error();
  const auto objects = static_cast<uint64_t>(
      options.fill * static_cast<double>(ObjectsThatFit(store->get(), LogBytes(workload))));
  if (objects < 2 || objects > UINT32_MAX)
    return Status(Code::kInvalidArgument,
                  fmt::format("{} objects of {} would fit {} MiB: 2 to {} are possible", objects,
                              workload.name, options.memory_bytes >> 20, UINT32_MAX));
  // The constructor is private so that no data set exists without its objects; owned at once.
  auto data = std::unique_ptr<DataSet>(new DataSet);
  data->store_ = std::move(*store);
  data->objects_ = objects;
  if (Status status = data->LoadAll(workload, options.threads); !status.ok()) return status;
  return data;
}

Status DataSet::LoadAll(const Workload& workload, int threads) {
  const uint64_t start_ns = base::NowNs();
  std::vector<std::unique_ptr<Loader>> loaders;
  for (int i = 0; i < threads; ++i) {
    loaders.push_back(std::make_unique<Loader>(store_.get(), workload));
    if (!loaders.back()->is_ready())
      return {Code::kNoMemory, fmt::format("the store has no session for thread {}", i)};
  }
  std::atomic<uint64_t> next{0}, loaded{0};
  std::vector<std::thread> crew;
  for (const auto& loader : loaders) {
    crew.emplace_back([&, worker = loader.get()] {
      for (uint64_t at; (at = next.fetch_add(kPartObjects)) < objects_;) {
        const uint64_t end = std::min(objects_, at + kPartObjects);
        worker->Load(at, end);
        loaded += end - at;
      }
    });
  }
  for (uint64_t shown_ns = start_ns; loaded < objects_;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (base::NowNs() - shown_ns < 500'000'000) continue;
    shown_ns = base::NowNs();
    Progress(fmt::format("pipeline/{}: loaded {} of {} objects", workload.name,
                         Short(static_cast<double>(loaded.load())),
                         Short(static_cast<double>(objects_))));
  }
  for (std::thread& thread : crew) thread.join();
  load_s_ = static_cast<double>(base::NowNs() - start_ns) * 1e-9;
  uint64_t failed = 0;
  for (const auto& loader : loaders) failed += loader->failed();
  if (failed == 0) return Status::Ok();
  return {Code::kNoMemory, fmt::format("{} of {} objects could not be stored in {} MiB", failed,
                                       objects_, store_->memory_limit() >> 20)};
}

}  // namespace weft::bench
