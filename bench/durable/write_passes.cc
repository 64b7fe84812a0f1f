// Passes that write (bench/durable/passes.h).
#include <atomic>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "bench/durable/passes.h"
#include "bench/harness/samples.h"
#include "bench/store/store_meter.h"

namespace weft::bench {
namespace {

constexpr double kPassSettleLimitS = 120;

double SecondsSince(uint64_t start_ns) {
  return static_cast<double>(base::NowNs() - start_ns) * 1e-9;
}

// One thread's part of a write pass.
class Writer {
 public:
  Writer(const PassInput& input, const WritePass& pass, uint32_t number)
      : store_(input.store),
        records_(*input.records),
        ids_(pass, number),
        step_(pass.writers),
        version_(pass.first_version + number),
        sync_(pass.sync),
        value_(input.records->value_bytes_max(), '\0') {}

  bool WriteOne() {
    const uint32_t id = ids_.Next();
    records_.WriteValue(id, version_, value_.data());
    version_ += step_;
    Status status = store_->Put(RecordKey(records_, id), value_, sync_);
    if (status.ok()) return true;
    status_ = std::move(status);
    return false;
  }
  const Status& status() const { return status_; }

 private:
  Store* const store_;
  const RecordFormat& records_;
  IdStream ids_;
  const uint32_t step_;
  uint32_t version_;
  const bool sync_;
  std::string value_;
  Status status_;
};

Result<PassResult> WriteAll(const PassInput& input, WritePass pass) {
  input.ledger->Begin(&pass);
  std::vector<std::unique_ptr<Writer>> writers;
  for (uint32_t w = 0; w < pass.writers; ++w)
    writers.push_back(std::make_unique<Writer>(input, pass, w));
  const auto work = [&pass](Writer* writer) {
    for (uint64_t i = 0; i < pass.writes && writer->WriteOne(); ++i) {
    }
  };
  const uint64_t start = base::NowNs();
  std::vector<std::thread> others;
  for (uint32_t w = 1; w < pass.writers; ++w) others.emplace_back(work, writers[w].get());
  work(writers[0].get());
  for (std::thread& other : others) other.join();
  PassResult result;
  result.seconds = SecondsSince(start);
  for (const auto& writer : writers)
    if (!writer->status().ok()) return writer->status();
  input.ledger->End(pass);
  result.operations = pass.writes * pass.writers;
  result.user_bytes = result.operations * (kDurableKeyBytes + input.records->value_bytes_max());
  result.figure = static_cast<double>(result.operations) / result.seconds;
  return result;
}

WritePass PassOf(const PassInput& input, bool ordered, uint32_t writers) {
  WritePass pass;
  pass.ordered = ordered;
  pass.keys = input.ledger->keys();
  pass.writers = writers;
  pass.writes = pass.keys / writers;
  pass.seed = input.seed;
  return pass;
}

// Sleeps towards `due_ns` while it is far, then spins.
void WaitUntil(uint64_t due_ns) {
  for (;;) {
    const uint64_t now = base::NowNs();
    if (now >= due_ns) return;
    if (due_ns - now > 200'000) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// Calls `work` every 1/rate seconds, `count` times; late calls follow at once, their clock running.
// *latency_ns: from the instant a call was due to its end.
template <typename Work>
Status RunOnSchedule(double rate, uint64_t count, Work&& work, base::Histogram* latency_ns) {
  const double gap_ns = 1e9 / rate;
  const uint64_t start = base::NowNs();
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t due = start + static_cast<uint64_t>(static_cast<double>(i) * gap_ns);
    WaitUntil(due);
    if (Status status = work(); !status.ok()) return status;
    latency_ns->Record(base::NowNs() - due);
  }
  return Status::Ok();
}

Result<PassResult> WriteOnSchedule(const PassInput& input, double rate) {
  WritePass pass = PassOf(input, false, 1);
  pass.seed += 1;
  pass.writes = static_cast<uint64_t>(rate * input.tail_s);
  input.ledger->Begin(&pass);
  Writer writer(input, pass, 0);
  base::Histogram latency_ns;
  const auto write = [&writer] { return writer.WriteOne() ? Status::Ok() : writer.status(); };
  const std::optional<double> waited_before = input.store->Figures().writers_waited_us;
  const uint64_t start = base::NowNs();
  if (Status status = RunOnSchedule(rate, pass.writes, write, &latency_ns); !status.ok())
    return status;
  PassResult result;
  result.seconds = SecondsSince(start);
  input.ledger->End(pass);
  result.operations = pass.writes;
  result.user_bytes = pass.writes * (kDurableKeyBytes + input.records->value_bytes_max());
  result.figure = PercentileUs(latency_ns, 99.9);
  result.more = {{"rate", rate},
                 {"p50_us", PercentileUs(latency_ns, 50)},
                 {"p99_us", PercentileUs(latency_ns, 99)},
                 {"p99_9_us", PercentileUs(latency_ns, 99.9)},
                 {"p99_99_us", PercentileUs(latency_ns, 99.99)},
                 {"max_us", static_cast<double>(latency_ns.max()) * 1e-3}};
  if (waited_before)
    result.more["writers_waited_us"] = *input.store->Figures().writers_waited_us - *waited_before;
  return result;
}

// The p99.9 that the machine alone makes of the schedule: every call takes as long as a write at
// the top rate, but is none, and nothing runs beside it. Its pauses are not those that the store
// met, only of the same kind.
double MachineTailUs(double rate, double seconds, double top_rate) {
  const auto length_ns = static_cast<uint64_t>(1e9 / top_rate);
  const auto work = [length_ns] {
    const uint64_t end = base::NowNs() + length_ns;
    while (base::NowNs() < end) {
    }
    return Status::Ok();
  };
  base::Histogram latency_ns;
  (void)RunOnSchedule(rate, static_cast<uint64_t>(rate * seconds), work, &latency_ns);
  return PercentileUs(latency_ns, 99.9);
}

}  // namespace

Result<PassResult> FillSeq(const PassInput& input) {
  return WriteAll(input, PassOf(input, true, 1));
}

Result<PassResult> FillSync(const PassInput& input) {
  WritePass pass = PassOf(input, false, 1);
  pass.writes = input.syncs;
  pass.sync = true;
  return WriteAll(input, pass);
}

Result<PassResult> FillRandom(const PassInput& input) {
  return WriteAll(input, PassOf(input, false, 1));
}

Result<PassResult> FillRandom4(const PassInput& input) {
  return WriteAll(input, PassOf(input, false, 4));
}

Result<PassResult> CompactAll(const PassInput& input) {
  const double read_before = input.store->Figures().compaction_bytes_read;
  const uint64_t start = base::NowNs();
  const Status status = input.store->CompactAll();
  if (!status.ok()) return status;
  PassResult result;
  result.seconds = SecondsSince(start);
  const double read = input.store->Figures().compaction_bytes_read - read_before;
  result.figure = read / (1 << 20) / result.seconds;
  result.more = {{"compaction_mib_read", read / (1 << 20)}};
  return result;
}

Result<PassResult> ReadWhileWriting(const PassInput& input) {
  WritePass pass = PassOf(input, false, 1);
  input.ledger->Begin(&pass);
  Writer writer(input, pass, 0);
  std::atomic<bool> stop{false};
  uint64_t written = 0;
  std::thread other([&] {
    while (!stop.load(std::memory_order_relaxed) && writer.WriteOne()) ++written;
  });
  PassInput reading = input;
  reading.seed += 4;  // other keys than readrandom's
  auto result = GetRandom(reading);
  stop = true;
  other.join();
  pass.writes = written;
  input.ledger->End(pass);
  if (!writer.status().ok()) return writer.status();
  if (!result) return result;
  result->user_bytes = written * (kDurableKeyBytes + input.records->value_bytes_max());
  result->more = {{"writes_per_s", static_cast<double>(written) / result->seconds}};
  return result;
}

// The top rate is that of overwriting as long as the schedule will: what a store takes in a short
// run and works off later is no rate that it can be asked for on and on.
Result<PassResult> Tail(const PassInput& input) {
  PassResult top;
  const uint64_t start = base::NowNs();
  for (uint64_t round = 0; round == 0 || SecondsSince(start) < input.tail_s; ++round) {
    WritePass pass = PassOf(input, false, 1);
    pass.seed += 2 + round;
    auto part = WriteAll(input, pass);
    if (!part) return part.error();
    top.operations += part->operations;
    top.user_bytes += part->user_bytes;
  }
  top.figure = static_cast<double>(top.operations) / SecondsSince(start);
  WaitUntilQuiet(kPassSettleLimitS);
  auto result = WriteOnSchedule(input, input.tail_load * top.figure);
  if (!result) return result;
  result->operations += top.operations;
  result->user_bytes += top.user_bytes;
  result->more["top_rate"] = top.figure;
  result->afterwards = [load = input.tail_load, seconds = input.tail_s, top_rate = top.figure] {
    return nlohmann::json{{"machine_p99_9_us", MachineTailUs(load * top_rate, seconds, top_rate)}};
  };
  return result;
}

}  // namespace weft::bench
