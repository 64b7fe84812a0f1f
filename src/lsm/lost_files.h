// lsm/lost_files.h: second names, in a store's folder lost, for files that are about to go.
//
// A file is kept before its first name is removed, so that no crash between the two loses it. It is
// linked if the file system can do that, and copied otherwise. It is never half there under its
// name: a copy is made as a .dbtmp file and renamed. A file that an interrupted run has kept is
// found, and not kept twice. If an earlier repair left another file of that name, the newer one
// gets a new number. A copy of a file with unreadable places has the rest of it.
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
  // Adds the numbers of these files.
  Status Numbers(std::set<uint64_t>* numbers) const;
  // Keeps the store's file `name`. *kept: its name in lost. If that name is another file's, takes
  // *next_number and raises it.
  Status Keep(const std::string& name, uint64_t* next_number, std::string* kept);
  // False for a folder, or a link to nothing or to a device: such a thing can't have a second name,
  // or other file systems won't take it. It is moved.
  bool IsFile(const std::string& name) const;
  Status Move(const std::string& name, uint64_t* next_number, std::string* kept);
  // After it, what was kept survives a power cut.
  Status Sync();

 private:
  Status Make();
  Status LinkOrCopyTo(const std::string& from, const std::string& to, uint64_t number);

  FileSystem* const files_;
  const std::string dir_;
  const std::string lost_;
  bool made_ = false;  // the folder exists
};

}  // namespace weft::lsm
