#include "tool/db/store_flags.h"

#include <algorithm>
#include <vector>

#include "lsm/file_names.h"
#include "tool/db/damage_notes.h"

namespace weft::tool {

namespace {

Result<Compression> CompressionOf(const std::string& name) {
  if (name == "none") return Compression::kNone;
  if (name == "snappy") return Compression::kSnappy;
  if (name == "zstd") return Compression::kZstd;
  return Status(Code::kInvalidArgument, "--compression must be none, snappy or zstd, not " + name);
}

}  // namespace

std::string WithoutSlashes(std::string dir) {
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  return dir;
}

void StoreFlags::AddToOptional(Arguments* arguments) {
  arguments->AddOptionalWord("DIR", "the store's folder", &dir_);
  AddShared(arguments);
}

void StoreFlags::AddShared(Arguments* arguments) {
  arguments->AddOption("--comparator", "NAME", "order of the keys; only bytewise is built in",
                       &comparator_);
  arguments->AddOption("--bloom-bits", "N", "bits a key of the Bloom filter; 0: no filter",
                       &bloom_bits_, 100);
  arguments->AddOption("--cache-mb", "N", "memory for cached blocks in MiB (default 8)",
                       &cache_mib_, 1 << 20);
  arguments->AddFlag("--paranoid", "stop at damage that could be skipped", &paranoid_);
}

void StoreFlags::AddTo(Arguments* arguments, bool writes) {
  arguments->AddWord("DIR", "the store's folder", &dir_);
  AddShared(arguments);
  if (!writes) return;
  arguments->AddOption("--compaction-device", "NAME",
                       "processor that merges tables: cpu (default), auto, cuda:N or plain",
                       &compaction_device_);
  arguments->AddFlag("--compaction-direct-io", "bypass the system's page cache when merging tables",
                     &compaction_direct_io_);
  arguments->AddOption("--compression", "NAME",
                       "compression of new tables: none, snappy (default) or zstd", &compression_);
}

Result<DbOptions> StoreFlags::Options(FileSystem* files) const {
  if (comparator_ != "bytewise" && comparator_ != BytewiseComparator()->Name()) {
    return Status(Code::kInvalidArgument,
                  "--comparator " + comparator_ +
                      ": only bytewise is built in; only the program that defines another order "
                      "can open such a store");
  }
  auto compression = CompressionOf(compression_);
  if (!compression) return compression.error();
  DbOptions options;
  options.file_system = files;
  options.paranoid_checks = paranoid_;
  options.compression = *compression;
  options.compaction_device = compaction_device_;
  options.compaction_direct_io = compaction_direct_io_;
  options.block_cache = NewLruBlockCache(cache_mib_ << 20);
  if (bloom_bits_ > 0) options.filter_policy = NewBloomFilterPolicy(static_cast<int>(bloom_bits_));
  return options;
}

std::string StoreFlags::dir() const { return WithoutSlashes(dir_); }

// Why the folder can't be listed.
Status StoreFlags::WhyNoFolder(FileSystem* files, const Status& status) const {
  if (status.code() == Code::kNotFound) return {status.code(), dir() + ": no such folder"};
  auto file = files->NewSequentialFile(dir());
  char scratch;
  std::string_view byte;
  if (file && (*file)->Read(1, &byte, &scratch).ok()) {
    return {Code::kInvalidArgument, dir() + ": this is a file; a store is a folder"};
  }
  return status;
}

Status StoreFlags::CheckOrCreate(FileSystem* files, bool create, DbOptions* options) const {
  Status status = CheckStore(files);
  options->create_if_missing = create && status.code() == Code::kNotFound;
  return options->create_if_missing ? Status() : status;
}

Result<std::unique_ptr<Db>> StoreFlags::Open(const Console& console, DbOptions* options) const {
  (void)DamageNotes::AddTo(options, console);
  return Db::Open(*options, dir());
}

Result<DbOptions> StoreFlags::OptionsOfStore(FileSystem* files) const {
  auto options = Options(files);
  if (!options) return options;
  Status status = CheckStore(files);
  if (!status.ok()) return status;
  return options;
}

Status StoreFlags::CheckStore(FileSystem* files) const {
  if (dir_.empty()) return {Code::kInvalidArgument, "the name of the store's folder is empty"};
  std::vector<std::string> names;
  if (Status status = files->GetChildren(dir(), &names); !status.ok()) {
    return WhyNoFolder(files, status);
  }
  const bool some = std::ranges::any_of(names, [](const std::string& name) {
    lsm::ParsedFileName parsed;
    return lsm::ParseFileName(name, &parsed) && parsed.type != lsm::FileType::kLock &&
           parsed.type != lsm::FileType::kInfoLog;
  });
  if (!some) return {Code::kNotFound, dir() + ": this folder contains no store"};
  return {};
}

}  // namespace weft::tool
