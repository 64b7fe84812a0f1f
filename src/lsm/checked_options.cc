#include "lsm/checked_options.h"

#include <algorithm>
#include <string>
#include <thread>

#include "compaction/device/executors.h"

namespace weft::lsm {

namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr size_t kGiB = 1024 * kMiB;
constexpr size_t kOwnCacheBytes = 8 * kMiB;
constexpr int kFilesBesideTables = 10;  // log, manifest, lock, ...
constexpr int kThreadsMax = 64;
// More than any store has, and far from where sums and products of it would wrap around.
constexpr uint64_t kLevelBytesMax = uint64_t{1} << 56;

// A longer value no batch can hold, so that no number stands behind it.
constexpr size_t kValueOffsetMax = UINT32_MAX;

Status Nonsense(const std::string& what) { return {Code::kInvalidArgument, "options: " + what}; }

Status CheckSense(const DbOptions& options) {
  if (options.comparator == nullptr) return Nonsense("comparator is null");
  if (options.file_system == nullptr) return Nonsense("file_system is null");
  if (options.background_threads < 0 || options.background_threads > kThreadsMax) {
    return Nonsense("background_threads must be from 0 to 64");
  }
  if (options.level0_compaction_trigger < 1 ||
      options.level0_slowdown_trigger < options.level0_compaction_trigger ||
      options.level0_stop_trigger < options.level0_slowdown_trigger) {
    return Nonsense("level 0 triggers must satisfy 1 <= compaction <= slowdown <= stop");
  }
  if (std::ranges::find(options.listeners, nullptr) != options.listeners.end()) {
    return Nonsense("a listener is null");
  }
  if (options.lifetime && options.lifetime->limits == nullptr) {
    return Nonsense("lifetime has no limits");
  }
  if (options.lifetime && std::max(options.lifetime->expiry_offset,
                                   options.lifetime->generation_offset) > kValueOffsetMax) {
    return Nonsense("lifetime's offsets are beyond the largest possible value");
  }
  if (Status status = compaction::device::CheckName(options.compaction_device); !status.ok()) {
    return Nonsense(std::string(status.message()));
  }
  switch (options.compression) {
    case Compression::kNone:
    case Compression::kSnappy:
    case Compression::kZstd: break;
    default: return Nonsense("compression is unknown");
  }
  return {};
}

}  // namespace

Result<DbOptions> CheckedOptions(DbOptions options) {
  if (Status status = CheckSense(options); !status.ok()) return status;
  options.max_open_files = std::clamp(options.max_open_files, 64 + kFilesBesideTables, 50'000);
  options.write_buffer_size = std::clamp(options.write_buffer_size, 64 * kKiB, kGiB);
  options.max_file_size = std::clamp(options.max_file_size, kMiB, kGiB);
  options.block_size = std::clamp(options.block_size, kKiB, 4 * kMiB);
  options.block_restart_interval = std::max(options.block_restart_interval, 1);
  options.zstd_compression_level = std::clamp(options.zstd_compression_level, -5, 22);
  options.level1_bytes_max = std::clamp(options.level1_bytes_max, kMiB, kLevelBytesMax);
  if (options.block_cache == nullptr) options.block_cache = NewLruBlockCache(kOwnCacheBytes);
  if (options.background_threads == 0) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    options.background_threads = std::clamp(cores / 2, 1, 4);
  }
  return options;
}

}  // namespace weft::lsm
