// compat/leveldb/native_options.h: LevelDB's options as ours, with all adapters that they need.
//
// Numbers out of LevelDB's range that our store would refuse are moved into it, as LevelDB does.
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

  // If the files are an Env's, perhaps neither the program nor our store makes an info log. This
  // then asks the Env for one in `dir`, which is made if it is missing. LevelDB does so on opening
  // and repairing.
  void OpenInfoLog(const std::string& dir);

 private:
  leveldb::Env* const env_;
  std::unique_ptr<UserComparator> comparator_;
  std::unique_ptr<FileSystem> file_system_;    // null: the system's own
  std::unique_ptr<leveldb::Logger> info_log_;  // the Env's, if OpenInfoLog made one
  DbOptions options_;
};

}  // namespace weft::compat
