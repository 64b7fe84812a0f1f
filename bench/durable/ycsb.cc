#include "bench/durable/ycsb.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "bench/harness/samples.h"
#include "bench/workload/builtin_mixes.h"
#include "bench/workload/operation_stream.h"

namespace weft::bench {
namespace {

constexpr uint32_t kYcsbKeyBytes = 16;

std::optional<double> P99Of(const base::Histogram& histogram) {
  if (histogram.count() == 0) return std::nullopt;
  return PercentileUs(histogram, 99);
}

}  // namespace

// Takes threads' slices in, and makes one of those that all have told.
class Ycsb::Slices {
 public:
  explicit Slices(int threads) : threads_(threads) {}

  // All that a thread saw in `slice`; it tells of every slice, in order.
  void Take(size_t slice, const base::Histogram& reads, const base::Histogram& writes) {
    base::MutexLock lock(&mutex_);
    Seen& seen = open_[slice];
    seen.reads.Merge(reads);
    seen.writes.Merge(writes);
    all_reads_.Merge(reads);
    all_writes_.Merge(writes);
    if (++seen.threads == threads_) CloseFirstLocked();
  }
  // Once all threads have ended.
  void Finish(YcsbResult* result) {
    base::MutexLock lock(&mutex_);
    while (!open_.empty()) CloseFirstLocked();
    result->reads = all_reads_;
    result->writes = all_writes_;
    result->slices = closed_;
  }

 private:
  // What threads have seen in one slice.
  struct Seen {
    base::Histogram reads;
    base::Histogram writes;
    int threads = 0;  // that have told theirs
  };

  // Slices are told in order, so that the first that is complete is the first of all.
  void CloseFirstLocked() WEFT_REQUIRES(mutex_) {
    const Seen& seen = open_.begin()->second;
    closed_.push_back(
        {seen.reads.count(), seen.writes.count(), P99Of(seen.reads), P99Of(seen.writes)});
    open_.erase(open_.begin());
  }

  const int threads_;
  base::Mutex mutex_;
  std::map<size_t, Seen> open_ WEFT_GUARDED_BY(mutex_);
  base::Histogram all_reads_ WEFT_GUARDED_BY(mutex_);
  base::Histogram all_writes_ WEFT_GUARDED_BY(mutex_);
  std::vector<YcsbSlice> closed_ WEFT_GUARDED_BY(mutex_);
};

// One thread's loop.
class Ycsb::Client {
 public:
  Client(Ycsb* ycsb, const OperationMix& mix, uint32_t number, uint64_t start_ns, uint64_t slice_ns,
         Slices* slices)
      : ycsb_(*ycsb),
        number_(number),
        threads_(static_cast<uint32_t>(ycsb->options_.threads)),
        start_ns_(start_ns),
        slice_ns_(slice_ns),
        slices_(*slices),
        stream_(mix, &ycsb->space_, ycsb->options_.seed, number, threads_),
        reader_(ycsb->store_.NewReader()),
        value_(ycsb->format_.value_bytes_max(), '\0') {}

  // At most so many, until the mix has no more.
  void Run(uint64_t operations) {
    before_ns_ = base::NowNs();
    Operation operation;
    for (; operations > 0 && status_.ok() && stream_.Next(&operation); --operations) {
      if (operation.kind == OperationKind::kRead) {
        Read(operation.record);
      } else if (operation.kind == OperationKind::kInsert) {
        Write(operation.record, operation.version);
      } else {
        Write(OwnRecordAt(operation.record), operation.version);
      }
      stream_.Settle(operation, status_.ok() ? OutcomeKind::kDone : OutcomeKind::kRefused);
    }
    slices_.Take(slice_, reads_, writes_);
  }
  const Status& status() const { return status_; }

 private:
  uint64_t OwnRecordAt(uint64_t record) const {
    const uint64_t own = record - record % threads_ + number_;
    return own < ycsb_.versions_.size() ? own : number_;
  }
  void Read(uint64_t record) {
    const Answer answer = reader_->Get(RecordKey(ycsb_.format_, record));
    const bool right = answer.found && ycsb_.format_.VersionOf(record, answer.value);
    Count(&reads_);
    status_ = reader_->status();
    if (status_.ok() && !right)
      status_ = {Code::kCorruption, fmt::format("record {} does not have its value", record)};
  }
  void Write(uint64_t record, uint32_t version) {
    ycsb_.format_.WriteValue(record, version, value_.data());
    status_ = ycsb_.store_.Put(RecordKey(ycsb_.format_, record), value_, false);
    ycsb_.versions_[record] = version;
    Count(&writes_);
  }
  // What has just ended belongs to the slice in which it did.
  void Count(base::Histogram* histogram) {
    const uint64_t now_ns = base::NowNs();
    const bool ends_slice = now_ns - start_ns_ >= (slice_ + 1) * slice_ns_;
    for (; now_ns - start_ns_ >= (slice_ + 1) * slice_ns_; slice_++) {
      slices_.Take(slice_, reads_, writes_);
      reads_.Reset();
      writes_.Reset();
    }
    histogram->Record(now_ns - before_ns_);
    // What a slice's end takes is no operation's.
    before_ns_ = ends_slice ? base::NowNs() : now_ns;
  }

  Ycsb& ycsb_;
  const uint32_t number_;
  const uint32_t threads_;
  const uint64_t start_ns_;
  const uint64_t slice_ns_;
  Slices& slices_;
  OperationStream stream_;
  const std::unique_ptr<Reader> reader_;
  std::string value_;
  uint64_t before_ns_ = 0;  // when the last operation ended
  size_t slice_ = 0;
  base::Histogram reads_;  // of the slice
  base::Histogram writes_;
  Status status_;
};

OperationMix YcsbA(uint64_t records, uint32_t value_bytes) {
  OperationMix mix = BuiltinMix("ycsb-a").value();
  mix.record.key_bytes = SizeDistribution::Fixed(kYcsbKeyBytes);
  mix.record.value_bytes = SizeDistribution::Fixed(value_bytes);
  mix.records = mix.keys.ranks = records;
  return mix;
}

Ycsb::Ycsb(const YcsbOptions& options, Store* store)
    : options_(options),
      format_(RecordFormat::Make(options.mix.record).value()),
      store_(*store),
      versions_(options.mix.records, 0) {}

Result<YcsbResult> Ycsb::Run(const OperationMix& mix, uint64_t operations) {
  const uint64_t start_ns = base::NowNs();
  const auto slice_ns = static_cast<uint64_t>(options_.slice_s * 1e9);
  const auto threads_count = static_cast<uint32_t>(options_.threads);
  Slices slices(options_.threads);
  std::deque<Client> clients;  // each stays where it is
  for (uint32_t i = 0; i < threads_count; ++i)
    clients.emplace_back(this, mix, i, start_ns, slice_ns, &slices);
  std::atomic<uint32_t> running{threads_count};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < threads_count; ++i) {
    // Of a fill each thread takes what the others have not.
    const uint64_t share =
        mix.fills ? operations
                  : operations / threads_count + (i < operations % threads_count ? 1 : 0);
    threads.emplace_back([&clients, &running, i, share] {
      clients[i].Run(share);
      --running;
    });
  }
  for (size_t slice = 0; running != 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (base::NowNs() - start_ns < (slice + 1) * slice_ns) continue;
    if (options_.each_slice != nullptr) options_.each_slice(slice);
    slice++;
  }
  for (std::thread& thread : threads) thread.join();
  YcsbResult result;
  result.seconds = static_cast<double>(base::NowNs() - start_ns) * 1e-9;
  result.operations = operations;
  slices.Finish(&result);
  for (const Client& client : clients)
    if (!client.status().ok()) return client.status();
  return result;
}

Result<YcsbResult> Ycsb::Fill() { return Run(FillOf(options_.mix), options_.mix.records); }

Result<YcsbResult> Ycsb::RunA() { return Run(options_.mix, options_.operations); }

Status Ycsb::CheckAll(Store* store) const {
  const auto cursor = store->NewCursor();
  uint64_t found = 0;
  std::string last;
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++found) {
    const std::string_view key = cursor->Key();
    const auto record = format_.RecordOf(key);
    if (!record || *record >= versions_.size() || (found > 0 && key <= last))
      return {Code::kCorruption, fmt::format("key {} was never written or is out of order", key)};
    if (format_.Verify(*record, cursor->Value()) != versions_[*record])
      return {Code::kCorruption,
              fmt::format("record {} does not have what was written last", *record)};
    last = key;
  }
  if (!cursor->status().ok()) return cursor->status();
  if (found == versions_.size()) return Status::Ok();
  return {Code::kCorruption, fmt::format("{} records of {} are there", found, versions_.size())};
}

}  // namespace weft::bench
