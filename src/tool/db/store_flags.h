// tool/db/store_flags.h: the options that all commands of `weft db` share, and the folder they are
// of.
//
// Threads   one at a time.
// Errors    kInvalidArgument: another comparator, or `dir` is no folder; kNotFound: it is not
//           there, or has no store in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tool/arguments.h"
#include "tool/console.h"
#include "weft/db.h"

namespace weft::tool {

class StoreFlags {
 public:
  // `dir` and the shared options; `writes`: those of what is written as well.
  void AddTo(Arguments* arguments, bool writes);
  // The same for what may do without `dir`, as the last word there is.
  void AddToOptional(Arguments* arguments);

  // What the options say; the store is never made.
  Result<DbOptions> Options(FileSystem* files) const;
  // The folder, without slashes at its end; empty where none was given.
  std::string dir() const;
  // Ok where there is a store, or files of one. Looks before anything is opened, because opening to
  // write makes files.
  Status CheckStore(FileSystem* files) const;
  // The two in one: the options of a store that is there.
  Result<DbOptions> OptionsOfStore(FileSystem* files) const;
  // Where `create`, a store may also be made: only where there is nothing of one, for beside files
  // of a damaged one a new one must not be.
  Status CheckOrCreate(FileSystem* files, bool create, DbOptions* options) const;
  // Opens the store to write. Once it is closed and *options is gone, damage that it read past has
  // been told on console.err.
  Result<std::unique_ptr<Db>> Open(const Console& console, DbOptions* options) const;

 private:
  void AddShared(Arguments* arguments);
  Status WhyNoFolder(FileSystem* files, const Status& status) const;

  std::string dir_;
  std::string comparator_ = "bytewise";
  std::string compression_ = "snappy";
  std::string compaction_device_ = "cpu";
  bool compaction_direct_io_ = false;
  uint64_t bloom_bits_ = 0;
  uint64_t cache_mib_ = 8;
  bool paranoid_ = false;
};

// `dir` without slashes at its end.
std::string WithoutSlashes(std::string dir);

}  // namespace weft::tool
