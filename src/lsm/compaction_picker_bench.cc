// What picking costs and what it makes the store write: tables without files, keys evenly spread,
// memtables over the whole range. Counters: bytes that compactions write for each byte flushed, and
// the same by level.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/coding.h"
#include "lsm/compaction_picker.h"

namespace weft::lsm {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::string KeyAt(double where) {
  const uint64_t number = __builtin_bswap64(static_cast<uint64_t>(where * 0x1p62));
  std::string key(reinterpret_cast<const char*>(&number), sizeof number);
  table::AppendInternalKey(&key, "", 1, table::ValueType::kValue);
  return key;
}

double Where(std::string_view user_key) {
  return static_cast<double>(__builtin_bswap64(base::DecodeFixed64(user_key.data()))) / 0x1p62;
}

// A store that has only the sizes of its tables.
class Sizes {
 public:
  // `target_buffer`: what the level targets take for the write buffer.
  Sizes(uint64_t target_buffer, uint64_t file_bytes) {
    options_.write_buffer_size = target_buffer;
    options_.max_file_size = file_bytes;
    options_.seek_compaction = false;
    picker_ = std::make_unique<CompactionPicker>(options_, &pointers_);
    version_ = Version::MakeEmpty(&comparator_, nullptr);
  }

  void Flush(uint64_t bytes) {
    VersionEdit edit;
    edit.AddFile(0, ++number_, bytes, KeyAt(0), KeyAt(0.999999));
    version_ = version_->Apply(edit).value();
    flushed_ += bytes;
    while (const auto compaction = picker_->Pick(version_)) Compact(*compaction);
  }

  double WrittenFor(int level) const {
    return static_cast<double>(written_[static_cast<size_t>(level)]) /
           static_cast<double>(flushed_);
  }
  uint64_t picks() const { return picks_; }

 private:
  // Outputs of equal size over the range of the inputs.
  void Compact(const Compaction& compaction) {
    ++picks_;
    VersionEdit edit;
    compaction.AddTo(&edit);
    if (!compaction.trivial_move) {
      const uint64_t bytes = compaction.InputBytes();
      const uint64_t outputs = std::max<uint64_t>(1, bytes / options_.max_file_size);
      const double begin = Where(compaction.smallest);
      const double step = (Where(compaction.largest) - begin) / static_cast<double>(outputs);
      for (uint64_t i = 0; i < outputs; ++i) {
        const double from = begin + step * static_cast<double>(i);
        edit.AddFile(compaction.output_level, ++number_, bytes / outputs, KeyAt(from),
                     KeyAt(from + step * 0.999));
      }
      written_[static_cast<size_t>(compaction.output_level)] += bytes;
    }
    picker_->Release(compaction);
    version_ = version_->Apply(edit).value();
  }

  DbOptions options_;
  CompactPointers pointers_;
  const table::InternalComparator comparator_{BytewiseComparator()};
  std::unique_ptr<CompactionPicker> picker_;
  VersionRef version_;
  uint64_t number_ = 0;
  uint64_t flushed_ = 0;
  uint64_t picks_ = 0;
  std::array<uint64_t, kLevels> written_{};
};

// Arguments: MiB of a memtable, MiB that the targets take it for, GiB written.
void WriteAmplification(benchmark::State& state) {
  const uint64_t buffer = static_cast<uint64_t>(state.range(0)) * kMiB;
  const uint64_t total = static_cast<uint64_t>(state.range(2)) * 1024 * kMiB;
  for (auto _ : state) {
    Sizes store(static_cast<uint64_t>(state.range(1)) * kMiB, 2 * kMiB);
    for (uint64_t bytes = 0; bytes < total; bytes += buffer) store.Flush(buffer);
    double sum = 0;
    for (int level = 1; level < 5; ++level) {
      state.counters["level" + std::to_string(level)] = store.WrittenFor(level);
      sum += store.WrittenFor(level);
    }
    state.counters["written_per_byte"] = sum;
    state.counters["picks"] = static_cast<double>(store.picks());
  }
}
BENCHMARK(WriteAmplification)
    ->ArgNames({"buffer", "as", "gib"})
    ->Args({4, 1, 1})
    ->Args({4, 4, 1})
    ->Args({64, 1, 4})
    ->Args({64, 64, 4})
    ->Args({64, 1, 16})
    ->Args({64, 64, 16})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::lsm

BENCHMARK_MAIN();
