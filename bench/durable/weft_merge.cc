#include <atomic>
#include <bit>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/durable/merge.h"
#include "bench/store/store_meter.h"
#include "compaction/device/executors.h"

namespace weft::bench {
namespace {

using compaction::Job;
using compaction::JobHost;
using compaction::JobResult;

// What a job refers to, and the job.
class JobMaker {
 public:
  JobMaker(const MergeInput& input, const MergeSettings& settings)
      : comparator_(BytewiseComparator()),
        filter_(NewBloomFilterPolicy(std::max(settings.store.bloom_bits, 1))) {
    job_.files = settings.memory == nullptr ? PosixFileSystem() : settings.memory->files();
    if (settings.direct) job_.files = job_.files->Direct();
    job_.runs = input.runs;
    job_.oldest_snapshot = table::kSequenceMax;
    job_.comparator = &comparator_;
    job_.format.comparator = &comparator_;
    job_.format.filter = settings.store.bloom_bits > 0 ? &filter_ : nullptr;
    job_.format.compression = settings.store.compression == StoreCompression::kNone
                                  ? Compression::kNone
                                  : Compression::kSnappy;
    job_.output_bytes_max = settings.store.file_bytes;
    job_.verify_outputs = settings.verify_outputs;
  }
  const Job& job() const { return job_; }

 private:
  const table::InternalComparator comparator_;
  const table::InternalFilterPolicy filter_;
  Job job_;
};

// As a store does it: whichever thread is free takes the next job.
std::vector<JobResult> RunJobs(compaction::Executor* executor, const std::vector<Job>& jobs,
                               int threads, const JobHost& host) {
  std::vector<JobResult> results(jobs.size());
  std::atomic<size_t> next{0};
  const auto run = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) results[i] = executor->Run(jobs[i], host);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
  return results;
}

// Looks at the results, and removes the outputs.
Status TakeResults(const std::vector<JobResult>& results, FileSystem* files, uint64_t* entries) {
  for (const JobResult& result : results) {
    for (const auto& output : result.outputs) {
      const Status status = files->RemoveFile(output.path);
      if (!status.ok()) return status;
    }

    if (!result.status.ok()) return result.status;
    if (!result.left_to_cpu.empty()) return Status(Code::kUnsupported, result.left_to_cpu);
    for (const auto& output : result.outputs) *entries += output.entries;
  }
  return Status::Ok();
}

// The same one each time, as a store has it for its life: it keeps memory from job to job.
Result<compaction::Executor*> ExecutorOn(const std::string& device) {
  static std::map<std::string, std::unique_ptr<compaction::Executor>> executors;
  std::unique_ptr<compaction::Executor>& known = executors[device];
  if (known == nullptr) {
    auto made = compaction::device::NewExecutorOn(device);
    if (!made) return made.error();
    known = std::move(*made);
  }
  return known.get();
}

}  // namespace

Result<std::unique_ptr<InputInMemory>> InputInMemory::Load(const MergeInput& input,
                                                           const std::string& device,
                                                           uint64_t table_bytes) {
  auto executor = ExecutorOn(device);
  if (!executor) return executor.error();
  // A table is longer than it should be by a block, its index and its filter.
  std::unique_ptr<InputInMemory> loaded(
      new InputInMemory((*executor)->memory(), std::bit_ceil(table_bytes * 3 / 2)));
  for (const auto& run : input.runs) {
    for (const compaction::JobTable& table : run) {
      auto file = PosixFileSystem()->NewRandomAccessFile(table.path);
      if (!file) return file.error();
      char* const to = loaded->files()->NewFile(table.path, table.bytes);
      std::string_view read;
      const Status status = (*file)->Read(0, table.bytes, &read, to);
      if (!status.ok()) return status;
      if (read.size() != table.bytes)
        return Status(Code::kCorruption, table.path + ": is shorter than it should be");
      if (read.data() != to) std::memcpy(to, read.data(), read.size());
    }
  }
  return loaded;
}

Result<MergeTiming> MergeOurs(const MergeInput& input, const MergeSettings& settings,
                              const std::string& dir, uint64_t entries_expected) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  const JobMaker maker(input, settings);
  auto executor = ExecutorOn(settings.device);
  if (!executor) return executor.error();
  std::atomic<uint64_t> number{1'000'000};
  JobHost host;
  host.new_output = [&] {
    const uint64_t mine = number++;
    return JobHost::NewFile{mine, fmt::format("{}/{:06}.ldb", dir, mine)};
  };
  host.threads = settings.threads;
  const CpuSeconds cpu = CpuOfThisProcess();
  const uint64_t start = base::NowNs();
  std::vector<Job> jobs = {maker.job()};
  if (settings.threads > 1 && !(*executor)->WantsWhole(maker.job(), settings.threads)) {
    auto parts = compaction::SplitJob(maker.job(), settings.threads * compaction::kPartsPerThread);
    if (!parts) return parts.error();
    jobs = std::move(*parts);
  }
  const auto results = RunJobs(*executor, jobs, settings.threads, host);
  MergeTiming timing;
  timing.wall_s = static_cast<double>(base::NowNs() - start) * 1e-9;
  timing.cpu = CpuOfThisProcess() - cpu;
  timing.input_mib = static_cast<double>(input.bytes) / (1 << 20);
  // A device has the job whole.
  timing.phases = results[0].phases;
  timing.direct_mib =
      static_cast<double>(results[0].bytes_read_by_device + results[0].bytes_written_by_device) /
      (1 << 20);
  uint64_t entries = 0;
  const Status status = TakeResults(results, maker.job().files, &entries);
  std::filesystem::remove_all(dir, error);
  if (!status.ok()) return status;
  if (entries != entries_expected)
    return Status(Code::kCorruption,
                  fmt::format("{} entries came out, not {}", entries, entries_expected));
  return timing;
}

}  // namespace weft::bench
