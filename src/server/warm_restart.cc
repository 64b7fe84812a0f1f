#include "server/warm_restart.h"

#include <sys/stat.h>

#include <utility>

#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "server/process.h"

namespace weft::server {
namespace {

// A number for the folder: it is another one where the folder was made anew.
uint64_t FolderNumber(const std::string& dir) {
  struct stat about = {};
  if (stat(dir.c_str(), &about) != 0) return 0;
  return static_cast<uint64_t>(about.st_dev) * 0x9e3779b97f4a7c15u ^
         static_cast<uint64_t>(about.st_ino);
}

uint64_t MsSince(uint64_t start_ns) { return (base::NowNs() - start_ns) / 1'000'000; }

}  // namespace

Result<std::unique_ptr<WarmRestart>> WarmRestart::Open(const ServerOptions& options) {
  if (options.memory_path.empty()) return std::unique_ptr<WarmRestart>();
  auto file =
      cache::MemoryFile::Open({options.memory_path, options.memory_bytes, options.memory_on_disk});
  if (!file) return file.error();
  // The constructor is private, so make_unique cannot call it; the unique_ptr frees it.
  return std::unique_ptr<WarmRestart>(new WarmRestart(std::move(*file)));
}

Status WarmRestart::Restore(cache::Store* store, const tier::DiskTier* tier) {
  const uint64_t start_ns = base::NowNs();
  cache::RestartBelow below;
  if (tier != nullptr) below = {tier->opened_at(), FolderNumber(tier->options().dir)};
  auto restored = cache::RestoreStore(store, file_.get(), below);
  if (!restored) return restored.error();
  restored_ = std::move(*restored);
  restored_ms_ = MsSince(start_ns);
  return {};
}

void WarmRestart::Tell() const {
  if (!restored_.why_empty.empty()) {
    spdlog::info("-e {}: the cache is empty: {}", OneLine(file_->path()),
                 OneLine(restored_.why_empty));
    return;
  }
  spdlog::info("-e {}: {} items in {} MiB are back after {} ms", OneLine(file_->path()),
               restored_.items, restored_.bytes >> 20, restored_ms_);
  if (restored_.damaged_segments != 0)
    spdlog::warn("-e: {} segments were left out, because they are damaged",
                 restored_.damaged_segments);
  if (restored_.refused != 0)
    spdlog::warn("-e: {} items are not back, because the index had no place for them",
                 restored_.refused);
}

void WarmRestart::TellOfShortage(const cache::PageShortage& shortage) {
  if (told_of_shortage_ || shortage.refused.load(std::memory_order_relaxed) == 0) return;
  told_of_shortage_ = true;
  spdlog::warn(
      "-e {}: its file system is full: the cache holds less than -m, and tries again each second",
      OneLine(file_->path()));
}

void WarmRestart::Save(cache::Store* store, tier::DiskTier* tier) {
  const uint64_t start_ns = base::NowNs();
  cache::RestartBelow below;
  if (tier != nullptr) {
    const auto sequence = tier->End();
    if (!sequence) {
      spdlog::error("-e: the next server starts empty, because memory may differ from the disk: {}",
                    OneLine(sequence.error().message()));
      return;
    }
    below = {sequence.value(), FolderNumber(tier->options().dir)};
  }
  const auto saved = cache::SaveStore(store, file_.get(), below);
  if (saved)
    spdlog::info("-e: {} items in {} MiB are kept for the next server after {} ms",
                 saved.value().items, saved.value().bytes >> 20, MsSince(start_ns));
  else
    spdlog::error("-e: the next server starts empty: {}", OneLine(saved.error().message()));
}

}  // namespace weft::server
