#include "native_options.h"

#include <algorithm>

#include "env_files.h"
#include "leveldb/comparator.h"
#include "leveldb/env.h"

namespace leveldb {

Options::Options() : comparator(BytewiseComparator()), env(Env::Default()) {}

}  // namespace leveldb

namespace weft::compat {

namespace {

// LevelDB's own table cache takes ten of the files that a process may open.
constexpr int kOpenFilesMin = 64 + 10;
constexpr int kOpenFilesMax = 50'000;

Compression ToWeft(leveldb::CompressionType type) {
  switch (static_cast<int>(type)) {
    case leveldb::kSnappyCompression: return Compression::kSnappy;
    case static_cast<int>(Compression::kZstd): return Compression::kZstd;  // later LevelDBs' number
    default: return Compression::kNone;
  }
}

}  // namespace

NativeOptions::NativeOptions(const leveldb::Options& given) : env_(given.env) {
  options_.comparator = compat::ToWeft(given.comparator, &comparator_);
  options_.create_if_missing = given.create_if_missing;
  options_.error_if_exists = given.error_if_exists;
  options_.paranoid_checks = given.paranoid_checks;
  options_.ignore_damaged_logs = !given.paranoid_checks;  // as LevelDB has it
  if (env_ != leveldb::Env::Default()) {
    file_system_ = std::make_unique<EnvFileSystem>(env_);
    options_.file_system = file_system_.get();
  }
  options_.info_log = compat::ToWeft(given.info_log);

  options_.write_buffer_size = std::clamp<size_t>(given.write_buffer_size, 64u << 10, 1u << 30);
  options_.max_open_files = std::clamp(given.max_open_files, kOpenFilesMin, kOpenFilesMax);
  options_.block_cache = compat::ToWeft(given.block_cache);
  options_.block_size = std::clamp<size_t>(given.block_size, 1u << 10, 4u << 20);
  options_.block_restart_interval = std::max(given.block_restart_interval, 1);
  options_.max_file_size = std::clamp<size_t>(given.max_file_size, 1u << 20, 1u << 30);
  options_.compression = ToWeft(given.compression);
  options_.reuse_logs = given.reuse_logs;
  options_.filter_policy = compat::ToWeft(given.filter_policy);
}

void NativeOptions::OpenInfoLog(const std::string& dir) {
  if (options_.info_log != nullptr || file_system_ == nullptr) return;
  // A log that cannot be made is done without; what fails here shows again when files are made.
  env_->CreateDir(dir);
  env_->RenameFile(dir + "/LOG", dir + "/LOG.old");
  leveldb::Logger* made = nullptr;
  if (!env_->NewLogger(dir + "/LOG", &made).ok()) made = nullptr;
  info_log_.reset(made);
  options_.info_log = compat::ToWeft(made);
}

}  // namespace weft::compat
