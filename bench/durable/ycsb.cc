#include "bench/durable/ycsb.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/mutex.h"

namespace weft::bench {
namespace {

std::optional<double> P99Of(const base::Histogram& histogram) {
  if (histogram.count() == 0) return std::nullopt;
  return static_cast<double>(histogram.Percentile(99)) * 1e-3;
}

uint64_t StrideFor(uint64_t keys) {
  uint64_t stride = 2'654'435'761 % keys;
  while (std::gcd(stride, keys) != 1) ++stride;
  return stride;
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
  Client(Ycsb* ycsb, uint32_t number, uint64_t start_ns, uint64_t slice_ns, Slices* slices)
      : ycsb_(*ycsb),
        number_(number),
        threads_(static_cast<uint32_t>(ycsb->options_.threads)),
        start_ns_(start_ns),
        slice_ns_(slice_ns),
        slices_(*slices),
        random_(ycsb->options_.seed * 1024 + number),
        reader_(ycsb->store_.NewReader()),
        value_(ycsb->values_.value_bytes(), '\0') {}

  void Run(uint64_t operations, const Step& step) {
    before_ns_ = base::NowNs();
    for (done_ = 0; done_ < operations && step(this); ++done_) {
    }
    slices_.Take(slice_, reads_, writes_);
  }
  const Status& status() const { return status_; }

  // The next key of the load's order that is this thread's.
  bool LoadNext() {
    const uint64_t place = done_ * threads_ + number_;
    const uint64_t keys = ycsb_.options_.keys;
    return Write(
        static_cast<uint32_t>(static_cast<unsigned __int128>(place) * ycsb_.stride_ % keys));
  }
  bool ReadOrUpdate() {
    const uint32_t id = ycsb_.picker_.Next(random_);
    return random_.Below(2) == 0 ? Read(id) : Write(OwnKeyAt(id));
  }

 private:
  uint32_t OwnKeyAt(uint32_t id) const {
    const uint32_t own = id - id % threads_ + number_;
    return own < ycsb_.options_.keys ? own : number_;
  }
  bool Read(uint32_t id) {
    const Answer answer = reader_->Get(DurableKey(id));
    const bool right = answer.found && ycsb_.values_.BelongsTo(id, answer.value);
    Count(&reads_);
    if (!reader_->status().ok()) return Fail(reader_->status());
    if (!right) return Fail({Code::kCorruption, fmt::format("key {} does not have its value", id)});
    return true;
  }
  bool Write(uint32_t id) {
    uint32_t& version = ycsb_.versions_[id];
    ycsb_.values_.Write(id, version, value_.data());
    const Status status = ycsb_.store_.Put(DurableKey(id), value_, false);
    version++;
    Count(&writes_);
    return status.ok() || Fail(status);
  }
  bool Fail(Status status) {
    status_ = std::move(status);
    return false;
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
  base::Random random_;
  const std::unique_ptr<Reader> reader_;
  std::string value_;
  uint64_t done_ = 0;
  uint64_t before_ns_ = 0;  // when the last operation ended
  size_t slice_ = 0;
  base::Histogram reads_;  // of the slice
  base::Histogram writes_;
  Status status_;
};

Ycsb::Ycsb(const YcsbOptions& options, const ValueMaker* values, Store* store)
    : options_(options),
      values_(*values),
      store_(*store),
      picker_(options.keys, true),
      stride_(StrideFor(options.keys)),
      versions_(options.keys, 0) {}

Result<YcsbResult> Ycsb::Run(uint64_t operations, const Step& step) {
  const uint64_t start_ns = base::NowNs();
  const auto slice_ns = static_cast<uint64_t>(options_.slice_s * 1e9);
  const auto threads_count = static_cast<uint32_t>(options_.threads);
  Slices slices(options_.threads);
  std::deque<Client> clients;  // each stays where it is
  for (uint32_t i = 0; i < threads_count; ++i)
    clients.emplace_back(this, i, start_ns, slice_ns, &slices);
  std::atomic<uint32_t> running{threads_count};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < threads_count; ++i) {
    const uint64_t share = operations / threads_count + (i < operations % threads_count ? 1 : 0);
    threads.emplace_back([&clients, &running, &step, i, share] {
      clients[i].Run(share, step);
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

Result<YcsbResult> Ycsb::Load() {
  return Run(options_.keys, [](Client* client) { return client->LoadNext(); });
}

Result<YcsbResult> Ycsb::RunA() {
  return Run(options_.operations, [](Client* client) { return client->ReadOrUpdate(); });
}

Status Ycsb::CheckAll(Store* store) const {
  const auto cursor = store->NewCursor();
  uint64_t id = 0;
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++id) {
    if (id >= options_.keys || IdOfDurableKey(cursor->Key()) != id)
      return {Code::kCorruption, fmt::format("key {} is missing or out of order", id)};
    if (!values_.Matches(static_cast<uint32_t>(id), versions_[id] - 1, cursor->Value()))
      return {Code::kCorruption, fmt::format("key {} does not have what was written last", id)};
  }
  if (!cursor->status().ok()) return cursor->status();
  if (id == options_.keys) return Status::Ok();
  return {Code::kCorruption, fmt::format("{} keys of {} are there", id, options_.keys)};
}

}  // namespace weft::bench
