#include "tool/store_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "lsm/file_names.h"

namespace weft::tool {

namespace {

Result<Compression> CompressionOf(const std::string& name) {
  if (name == "none") return Compression::kNone;
  if (name == "snappy") return Compression::kSnappy;
  if (name == "zstd") return Compression::kZstd;
  return Status(Code::kInvalidArgument, "--compression: none, snappy or zstd, not " + name);
}

}  // namespace

std::string WithoutSlashes(std::string dir) {
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  return dir;
}

void StoreFlags::AddTo(CLI::App* app, bool writes) {
  app->add_option("DIR", dir_, "the store's folder")->required();
  app->add_option("--comparator", comparator_, "order of the keys: bytewise, the only one built in")
      ->type_name("NAME");
  app->add_option("--bloom-bits", bloom_bits_, "a bloom filter of so many bits a key; 0: none")
      ->type_name("N")
      ->check(CLI::Range(0, 100));
  app->add_option("--cache-mb", cache_mib_, "memory for blocks, in MiB (8)")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20));
  app->add_flag("--paranoid", paranoid_, "stop at damage that could be passed over");
  if (!writes) return;
  app->add_option("--compression", compression_, "of new tables: none, snappy (default), zstd")
      ->type_name("NAME");
}

Result<DbOptions> StoreFlags::Options(FileSystem* files) const {
  if (comparator_ != "bytewise" && comparator_ != BytewiseComparator()->Name()) {
    return Status(Code::kInvalidArgument,
                  "--comparator " + comparator_ +
                      ": only bytewise is built in; a store with an order of its own is opened by "
                      "the program that has it");
  }
  auto compression = CompressionOf(compression_);
  if (!compression) return compression.error();
  DbOptions options;
  options.file_system = files;
  options.paranoid_checks = paranoid_;
  options.compression = *compression;
  options.block_cache = NewLruBlockCache(cache_mib_ << 20);
  if (bloom_bits_ > 0) options.filter_policy = NewBloomFilterPolicy(bloom_bits_);
  return options;
}

std::string StoreFlags::dir() const { return WithoutSlashes(dir_); }

Status StoreFlags::CheckStore(FileSystem* files) const {
  std::vector<std::string> names;
  if (Status status = files->GetChildren(dir(), &names); !status.ok()) {
    if (status.code() != Code::kNotFound && files->FileExists(dir())) return status;
    return {Code::kInvalidArgument, dir() + ": there is no such folder"};
  }
  const bool some = std::ranges::any_of(names, [](const std::string& name) {
    lsm::ParsedFileName parsed;
    return lsm::ParseFileName(name, &parsed) && parsed.type != lsm::FileType::kLock &&
           parsed.type != lsm::FileType::kInfoLog;
  });
  if (!some) return {Code::kInvalidArgument, dir() + ": there is no store in it"};
  return {};
}

}  // namespace weft::tool
