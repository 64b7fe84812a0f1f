#include "bench/pipeline/data_set.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "bench/harness/report.h"
#include "pipeline/cpu_stage.h"

namespace weft::bench {
namespace {

constexpr uint64_t kObjectHeadBytes = 8;
constexpr double kIndexBytesPerObject = 64 / (8 * 0.75);  // as the store sizes it when told
constexpr uint64_t kObjectBytesMax = 2048;  // with room for every workload's; small, so that the
                                            // log keeps little for the largest object
constexpr uint64_t kPartObjects = 1 << 14;  // claimed by a filling thread at a time

// Stores parts of the numbers through a pipeline of its own, until there are none left.
class Filler : public pipeline::Sink {
 public:
  Filler(cache::Store* store, const Workload& workload)
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

  void Fill(uint64_t begin, uint64_t end) {
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

// Segments of an empty store, its index made, that can be filled with objects.
uint64_t SegmentsThatFit(cache::Store* store) {
  const cache::LogGeometry& log = store->log().geometry();
  const uint64_t segments =
      (store->memory_limit() - store->Stats().memory_bytes) / log.segment_bytes;
  // The log's reserve, what eviction keeps free ahead of need, and the segments that are open.
  const uint64_t spare = 6 * uint64_t{log.lanes} + 8;
  return segments <= spare ? 0 : segments - spare;
}

}  // namespace

Result<std::unique_ptr<DataSet>> DataSet::Fill(std::span<const Workload> workloads,
                                               const DataSetOptions& options) {
  // The constructor is private so that no data set exists without its objects; owned at once.
  auto data = std::unique_ptr<DataSet>(new DataSet);
  for (const Workload& workload : workloads) {
    const auto known = std::find_if(
        data->kinds_.begin(), data->kinds_.end(),
        [&workload](const Kind& kind) { return kind.workload.key_bytes == workload.key_bytes; });
    if (known == data->kinds_.end()) {
      data->kinds_.push_back({workload});
    } else if (known->workload.value_bytes != workload.value_bytes) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{} and {} have keys of one size and values of two",
                                known->workload.name, workload.name));
    }
  }
  CacheOptions cache_options;
  cache_options.memory_bytes = options.memory_bytes;
  cache_options.object_bytes_max = kObjectBytesMax;
  cache_options.append_lanes = static_cast<uint32_t>(options.threads);
  cache_options.huge_pages = options.huge_pages;
  cache_options.hash_seed = 1;  // each contender's keys lie in the same buckets
  const double bytes_of_each =
      static_cast<double>(options.memory_bytes) / static_cast<double>(data->kinds_.size());
  for (const Kind& kind : data->kinds_)
    cache_options.expected_items +=
        static_cast<uint64_t>(bytes_of_each / (ObjectBytes(kind.workload) + kIndexBytesPerObject));
  auto store = cache::Store::Open(cache_options, options.pages);
  if (!store) return store.error();
  data->store_ = std::move(*store);
  if (options.may_fill_holes) data->store_->AllowFilling();
  const uint64_t segments = SegmentsThatFit(data->store_.get()) / data->kinds_.size();
  for (Kind& kind : data->kinds_) {
    // No object lies across two segments.
    const uint64_t of_segment =
        data->store_->log().geometry().segment_bytes / ObjectBytes(kind.workload);
    kind.objects = static_cast<uint64_t>(options.fill * static_cast<double>(segments * of_segment));
    if (kind.objects < 2 || kind.objects > UINT32_MAX)
      return Status(
          Code::kInvalidArgument,
          fmt::format("{} objects of {} would fit {} MiB: 2 to {} are possible", kind.objects,
                      kind.workload.name, options.memory_bytes >> 20, UINT32_MAX));
  }
  for (const Kind& kind : data->kinds_)
    if (Status status = data->FillAll(kind, options.threads); !status.ok()) return status;
  return data;
}

uint32_t DataSet::ObjectBytes(const Workload& workload) {
  return kObjectHeadBytes + workload.key_bytes + workload.value_bytes;
}

uint64_t DataSet::objects() const {
  uint64_t sum = 0;
  for (const Kind& kind : kinds_) sum += kind.objects;
  return sum;
}

uint64_t DataSet::objects(const Workload& workload) const {
  for (const Kind& kind : kinds_)
    if (kind.workload.key_bytes == workload.key_bytes) return kind.objects;
  WEFT_CHECK(false);
  return 0;
}

Status DataSet::FillAll(const Kind& kind, int threads) {
  const uint64_t start_ns = base::NowNs();
  std::vector<std::unique_ptr<Filler>> fillers;
  for (int i = 0; i < threads; ++i) {
    fillers.push_back(std::make_unique<Filler>(store_.get(), kind.workload));
    if (!fillers.back()->is_ready())
      return {Code::kNoMemory, fmt::format("the store has no session for thread {}", i)};
  }
  std::atomic<uint64_t> next{0}, filled{0};
  std::vector<std::thread> crew;
  for (const auto& filler : fillers) {
    crew.emplace_back([&, worker = filler.get()] {
      for (uint64_t at; (at = next.fetch_add(kPartObjects)) < kind.objects;) {
        const uint64_t end = std::min(kind.objects, at + kPartObjects);
        worker->Fill(at, end);
        filled += end - at;
      }
    });
  }
  for (uint64_t shown_ns = start_ns; filled < kind.objects;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (base::NowNs() - shown_ns < 500'000'000) continue;
    shown_ns = base::NowNs();
    Progress(fmt::format("pipeline/{}: stored {} of {} objects", kind.workload.name,
                         Short(static_cast<double>(filled.load())),
                         Short(static_cast<double>(kind.objects))));
  }
  for (std::thread& thread : crew) thread.join();
  fill_s_ += static_cast<double>(base::NowNs() - start_ns) * 1e-9;
  uint64_t failed = 0;
  for (const auto& filler : fillers) failed += filler->failed();
  if (failed == 0) return Status::Ok();
  return {Code::kNoMemory, fmt::format("{} of {} objects could not be stored in {} MiB", failed,
                                       kind.objects, store_->memory_limit() >> 20)};
}

}  // namespace weft::bench
