// lsm/lost_files.h: second names, in the folder lost of a store, for files that are about to go.
//
// A file is kept before its first name is removed, so that no crash between the two loses it. It is
// linked where the file system can, else copied, and is never half there under its name: a copy is
// made as a .dbtmp file and renamed. What a run that was cut short has kept is found and not kept
// twice. A file of that name with other contents, of a repair before, stays: the newer one gets a
// number of its own. Of a file that cannot be read in places a copy has the rest of it.
//
// Threads   one.
// Errors    of the files.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

class LostFiles {
 public:
  // `dir` is the store's.
  LostFiles(FileSystem* files, const std::string& dir)
      : files_(files), dir_(dir), lost_(dir + "/lost") {}

  // Raises *next_number above the numbers of all files that were kept before.
  Status Count(uint64_t* next_number) const;
  // Adds these numbers.
  Status Numbers(std::set<uint64_t>* numbers) const;
  // Keeps the store's file `name`. *kept: how it is called in lost. Takes *next_number, and raises
  // it, where the name is another file's.
  Status Keep(const std::string& name, uint64_t* next_number, std::string* kept);
  // What is none can't have a second name, or none that another file system takes: a folder, a link
  // to nothing or to a device. It is moved.
  bool IsFile(const std::string& name) const;
  Status Move(const std::string& name, uint64_t* next_number, std::string* kept);
  // What was kept survives a power cut then.
  Status Sync();

 private:
  Status Make();
  Status LinkOrCopyTo(const std::string& from, const std::string& to, uint64_t number);

  FileSystem* const files_;
  const std::string dir_;
  const std::string lost_;
  bool made_ = false;  // the folder is there
};

}  // namespace weft::lsm
