// Measures the CPU executor: input a second, with the time of user code and of the system.
//
//   compaction_bench [--dir=/dev/shm/weft_compaction_bench] [--input_mib=256] [--rounds=3]
//                    [--value_bytes=100,256,1000] [--bloom_bits=10] [--file_mib=2]
//                    [--compression=none|snappy] [--verify=0|1] [--threads=N] [--loading]
//
// --loading: instead how fast the input is read into memory for a device, in pieces of 64 MiB.
// Two runs of tables with 16-byte keys in random turns, as a level and the one below it have them;
// values halve under compression. Figures are the best round's.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/program.h"
#include "compaction/device/piece/piece_loader.h"
#include "compaction/job.h"
#include "table/table_builder.h"

namespace weft::compaction {
namespace {

struct Settings {
  std::string dir = "/dev/shm/weft_compaction_bench";
  uint64_t input_bytes = 256u << 20;
  int rounds = 3;
  std::vector<size_t> value_bytes = {100, 256, 1000};
  int bloom_bits = 10;  // 0: no filter
  uint64_t file_bytes = 2u << 20;
  std::vector<Compression> compressions = {Compression::kNone, Compression::kSnappy};
  std::vector<bool> verify = {true, false};
  std::vector<int> threads = {1, 2};
  bool loading = false;
};

struct Times {
  double wall_s = 0;
  double user_s = 0;
  double system_s = 0;
};

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

Times Now() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return {static_cast<double>(base::NowNs()) * 1e-9, Seconds(usage.ru_utime),
          Seconds(usage.ru_stime)};
}

// Values of which every second half repeats the first.
class Values {
 public:
  Values() {
    std::mt19937_64 random(301);
    while (text_.size() < (1u << 20)) {
      std::string piece(50, ' ');
      for (char& c : piece) c = static_cast<char>(' ' + random() % 95);
      text_ += piece + piece;
    }
  }
  std::string_view Next(size_t bytes) {
    if (at_ + bytes > text_.size()) at_ = 0;
    at_ += bytes;
    return std::string_view(text_).substr(at_ - bytes, bytes);
  }

 private:
  std::string text_;
  size_t at_ = 0;
};

// Writes one run's tables, as full as a store's.
class RunWriter {
 public:
  RunWriter(std::string path_start, const Job& job)
      : path_start_(std::move(path_start)), format_(job.format), bytes_max_(job.output_bytes_max) {}

  void Add(std::string_view key, std::string_view value) {
    if (file_ == nullptr) Open(key);
    builder_->Add(key, value);
    if (builder_->flushed_bytes() >= bytes_max_) Finish();
  }
  void Finish() {
    if (file_ == nullptr) return;
    WEFT_CHECK(builder_->Finish().ok() && file_->Close().ok());
    tables_.back().largest = builder_->last_key();
    tables_.back().bytes = builder_->flushed_bytes();
    file_.reset();
  }
  const std::vector<JobTable>& tables() const { return tables_; }

 private:
  void Open(std::string_view key) {
    JobTable& table = tables_.emplace_back();
    table.number = tables_.size();
    table.path = path_start_ + std::to_string(table.number) + ".ldb";
    table.smallest = key;
    file_ = std::move(*PosixFileSystem()->NewWritableFile(table.path, FileUse::kTable));
    builder_ = std::make_unique<table::TableBuilder>(format_, file_.get());
  }

  const std::string path_start_;
  const table::TableFormat format_;
  const uint64_t bytes_max_;
  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<table::TableBuilder> builder_;
  std::vector<JobTable> tables_;
};

Job MakeJob(const Settings& settings, size_t value_bytes, const table::InternalComparator& order,
            const FilterPolicy* filter, Compression compression) {
  Job job;
  job.files = PosixFileSystem();
  job.comparator = &order;
  job.format.comparator = &order;
  job.format.compression = compression;
  job.format.filter = filter;
  job.output_bytes_max = settings.file_bytes;
  job.oldest_snapshot = table::kSequenceMax;
  RunWriter upper(settings.dir + "/upper", job);
  RunWriter lower(settings.dir + "/lower", job);
  Values values;
  std::mt19937_64 random(1);
  const uint64_t entries = settings.input_bytes / (16 + value_bytes);
  for (uint64_t i = 0; i < entries; i++) {
    char key[24];
    std::snprintf(key, sizeof key, "%016llu", static_cast<unsigned long long>(i));
    RunWriter& run = random() % 2 == 0 ? upper : lower;
    run.Add(table::MakeInternalKey(key, i + 1, table::ValueType::kValue), values.Next(value_bytes));
  }
  upper.Finish();
  lower.Finish();
  job.runs = {upper.tables(), lower.tables()};
  return job;
}

uint64_t InputBytes(const Job& job) {
  uint64_t sum = 0;
  for (const auto& run : job.runs) {
    for (const JobTable& table : run) sum += table.bytes;
  }
  return sum;
}

struct Figures {
  double mib_per_s = 0;
  Times times;
  double verify_s = 0;
};

Figures RunParts(const Settings& settings, const Job& job, int threads) {
  std::vector<Job> parts = std::move(*SplitJob(job, threads));
  std::atomic<uint64_t> next_number{0};
  JobHost host;
  host.new_output = [&] {
    const uint64_t number = ++next_number;
    return JobHost::NewFile{number, settings.dir + "/out" + std::to_string(number) + ".ldb"};
  };
  std::vector<JobResult> results(parts.size());
  const Times start = Now();
  std::vector<std::thread> workers;
  for (size_t i = 1; i < parts.size(); i++) {
    workers.emplace_back([&, i] { results[i] = NewCpuExecutor()->Run(parts[i], host); });
  }
  results[0] = NewCpuExecutor()->Run(parts[0], host);
  for (std::thread& worker : workers) worker.join();
  const Times end = Now();

  Figures figures;
  figures.times = {end.wall_s - start.wall_s, end.user_s - start.user_s,
                   end.system_s - start.system_s};
  figures.mib_per_s = static_cast<double>(InputBytes(job)) / 1048576 / figures.times.wall_s;
  for (const JobResult& result : results) {
    WEFT_CHECK(result.status.ok());
    figures.verify_s += static_cast<double>(result.verify_us) * 1e-6;
    for (const OutputTable& output : result.outputs) {
      WEFT_CHECK(PosixFileSystem()->RemoveFile(output.path).ok());
    }
  }
  return figures;
}

void Measure(const Settings& settings, const Job& base_job, size_t value_bytes,
             const char* compression) {
  for (const bool verify : settings.verify) {
    for (const int threads : settings.threads) {
      Job job = base_job;
      job.verify_outputs = verify;
      Figures best;
      for (int round = 0; round < settings.rounds; round++) {
        const Figures figures = RunParts(settings, job, threads);
        if (figures.mib_per_s > best.mib_per_s) best = figures;
      }
      std::printf(
          "value_bytes=%zu compression=%s verify=%d threads=%d input_mib_per_s=%.0f wall_s=%.3f "
          "user_s=%.3f system_s=%.3f verify_s=%.3f\n",
          value_bytes, compression, verify, threads, best.mib_per_s, best.times.wall_s,
          best.times.user_s, best.times.system_s, best.verify_s);
      std::fflush(stdout);
    }
  }
}

void MeasureLoading(const Settings& settings, const Job& job, size_t value_bytes,
                    const char* compression) {
  for (const int threads : settings.threads) {
    base::Crew crew(threads - 1, "loading");
    // Of which no file is: all are read.
    class CopiedMemory final : public base::BufferMemory {
      char* Allocate(size_t bytes) override { return new char[bytes]; }  // freed by Free
      void Free(char* at, size_t) override { delete[] at; }
    } copied_memory;
    device::JobStorage storage(nullptr);
    device::LoadedPiece loaded;
    double best_s = 1e9;
    for (int round = 0; round < settings.rounds; round++) {
      auto plan = device::PiecePlan::Make(job, 64u << 20, &crew);
      WEFT_CHECK(plan);
      const uint64_t start_ns = base::NowNs();
      for (size_t i = 0; i < (*plan)->pieces(); i++)
        WEFT_CHECK(device::LoadPiece(**plan, (*plan)->NextPiece(), &crew, &copied_memory, &storage,
                                     &loaded)
                       .ok());
      best_s = std::min(best_s, static_cast<double>(base::NowNs() - start_ns) * 1e-9);
    }
    std::printf("value_bytes=%zu compression=%s threads=%d loaded_mib_per_s=%.0f\n", value_bytes,
                compression, threads, static_cast<double>(InputBytes(job)) / 1048576 / best_s);
    std::fflush(stdout);
  }
}

void RemoveInputs(const Job& job) {
  for (const auto& run : job.runs) {
    for (const JobTable& table : run) (void)job.files->RemoveFile(table.path);
  }
}

Settings ParseArguments(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i < count; i++) {
    const std::string_view argument = arguments[i];
    const size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const char* value = equals == argument.npos ? "" : arguments[i] + equals + 1;
    if (name == "--dir") settings.dir = value;
    if (name == "--input_mib") settings.input_bytes = std::strtoull(value, nullptr, 10) << 20;
    if (name == "--rounds") settings.rounds = std::atoi(value);
    if (name == "--loading") settings.loading = true;
    if (name == "--bloom_bits") settings.bloom_bits = std::atoi(value);
    if (name == "--file_mib") settings.file_bytes = std::strtoull(value, nullptr, 10) << 20;
    if (name == "--verify") settings.verify = {*value != '0'};
    if (name == "--threads") settings.threads = {std::atoi(value)};
    if (name == "--compression") {
      settings.compressions = {*value == 's' ? Compression::kSnappy : Compression::kNone};
    }
    if (name == "--value_bytes") {
      settings.value_bytes.clear();
      for (const char* at = value; *at != '\0';) {
        char* end;
        settings.value_bytes.push_back(std::strtoull(at, &end, 10));
        if (end == at) break;  // no number
        at = *end == ',' ? end + 1 : end;
      }
    }
  }
  return settings;
}

void RunAll(const Settings& settings) {
  (void)PosixFileSystem()->CreateDir(settings.dir);  // it may be there
  const table::InternalComparator order(BytewiseComparator());
  std::shared_ptr<const FilterPolicy> filter;
  if (settings.bloom_bits != 0) {
    filter =
        std::make_shared<table::InternalFilterPolicy>(NewBloomFilterPolicy(settings.bloom_bits));
  }
  for (const size_t value_bytes : settings.value_bytes) {
    for (const Compression compression : settings.compressions) {
      const Job job = MakeJob(settings, value_bytes, order, filter.get(), compression);
      const auto measure = settings.loading ? MeasureLoading : Measure;
      measure(settings, job, value_bytes, compression == Compression::kNone ? "none" : "snappy");
      RemoveInputs(job);
    }
  }
  (void)PosixFileSystem()->RemoveDir(settings.dir);  // unless there is more in it
}

}  // namespace
}  // namespace weft::compaction

int main(int argc, char** argv) {
  weft::base::StartProgram("compaction_bench");
  weft::compaction::RunAll(weft::compaction::ParseArguments(argc, argv));
  return 0;
}
