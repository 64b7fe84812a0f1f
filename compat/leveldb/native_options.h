// compat/leveldb/native_options.h: LevelDB's options as ours, with all adapters that they need.
//
// Numbers out of LevelDB's range are moved into it, as LevelDB does, where our store would refuse
// them.
//
// Lifetime  must outlive the store that is opened with options().
#pragma once

#include <memory>
#include <string>

#include "leveldb/options.h"
#include "policies.h"
#include "weft/db_options.h"

namespace weft::compat {

class NativeOptions {
 public:
  explicit NativeOptions(const leveldb::Options& given);
  NativeOptions(const NativeOptions&) = delete;
  NativeOptions& operator=(const NativeOptions&) = delete;

  const DbOptions& options() const { return options_; }

  // Where neither the program nor our store makes a log of what is done, because the files are an
  // Env's: asks the Env for one in `dir`, which is made where it is missing. As LevelDB does on
  // opening and repairing.
  void OpenInfoLog(const std::string& dir);

 private:
  leveldb::Env* const env_;
  std::unique_ptr<UserComparator> comparator_;
  std::unique_ptr<FileSystem> file_system_;    // null: the system's own
  std::unique_ptr<leveldb::Logger> info_log_;  // the Env's, where OpenInfoLog made one
  DbOptions options_;
};

}  // namespace weft::compat
