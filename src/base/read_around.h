// base/read_around.h: reads files that cannot be read in places, as those on a failing disk.
//
// A read that fails is made anew in halves, down to a sector; sectors that cannot be read are
// filled with kUnreadableFill, of which no record and no block of a store has its checksum right.
//
// Threads   one at a time.
// Errors    of opening, and those of reading that are none of the file; these are told by
//           Unreadable.
// Cost      of a file that reads: as reading it. Else some 20 reads more for each place, and two
//           for each sector that can't be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "weft/file_system.h"

namespace weft::base {

inline constexpr char kUnreadableFill = '\xff';

// Whether an answer to a read, or to opening for one, says that something is wrong with the file:
// it is gone, damaged or no file, or the disk does not give it. Otherwise whoever reads was refused
// (rights, descriptors, memory), and the file may be whole. What has no reason of the system's that
// is known to be of a file is taken for the latter.
bool IsOfTheFile(const Status& status);

// Whether it says that what stands there is a folder, a device or a pipe.
bool IsNoRegularFile(const Status& status);

// What of a file could not be read.
struct Unreadable {
  uint64_t bytes = 0;
  uint64_t offset = 0;  // of the first
  Status why;           // of the first

  // "PATH: 512 bytes from byte 4096 on cannot be read: ...". REQUIRES: bytes > 0
  std::string ToString(const std::string& path) const;
};

// Reads `bytes` at `offset` to `to`, and says how many there are: fewer at the file's end.
Result<size_t> ReadAround(const RandomAccessFile& file, uint64_t offset, size_t bytes, char* to,
                          Unreadable* unreadable);

// A file in order, read so.
class AroundFile final : public SequentialFile {
 public:
  static Result<std::unique_ptr<AroundFile>> Open(FileSystem* files, const std::string& path);

  Status Read(size_t bytes, std::string_view* result, char* scratch) override;
  Status Skip(uint64_t bytes) override;
  uint64_t bytes() const { return bytes_; }
  // Of what was read so far.
  const Unreadable& unreadable() const { return unreadable_; }

 private:
  AroundFile(std::unique_ptr<RandomAccessFile> file, uint64_t bytes)
      : file_(std::move(file)), bytes_(bytes) {}

  const std::unique_ptr<RandomAccessFile> file_;
  const uint64_t bytes_;
  uint64_t offset_ = 0;
  Unreadable unreadable_;
};

// The same files, but that none is mapped into memory where they are the system's: there a sector
// that cannot be read would end the process (SIGBUS), and is an error of a read instead.
FileSystem* WithoutMappings(FileSystem* files);

}  // namespace weft::base
