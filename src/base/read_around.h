// base/read_around.h: reads files that cannot be read in places, such as those on a failing disk.
//
// A read that fails is repeated in halves, down to a sector. Unreadable sectors are filled with
// kUnreadableFill, under which no record or block of a store has a right checksum.
//
// Threads   one at a time.
// Errors    of opening, and of reading, where they are not the file's; Unreadable reports the
//           file's.
// Cost      of a file that reads: as reading it. Otherwise some 20 reads more for each place, and
//           two for each sector that can't be read.
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

// Whether an error of reading, or of opening to read, is the file's fault: it is gone, damaged or
// no file, or the disk does not give it. Otherwise the reader was refused (rights, descriptors,
// memory), and the file may be whole. An error counts as the latter unless the system's reason is
// known to be the file's.
bool IsOfTheFile(const Status& status);

// Whether the error says that a folder, a device or a pipe stands there.
bool IsNoRegularFile(const Status& status);

// The part of a file that could not be read.
struct Unreadable {
  uint64_t bytes = 0;
  uint64_t offset = 0;  // of the first
  Status why;           // of the first

  // "PATH: 512 bytes from byte 4096 on cannot be read: ...". REQUIRES: bytes > 0
  std::string ToString(const std::string& path) const;
};

// Reads `bytes` at `offset` to `to`, and returns how many there are: fewer at the file's end.
Result<size_t> ReadAround(const RandomAccessFile& file, uint64_t offset, size_t bytes, char* to,
                          Unreadable* unreadable);

// A file in order, read so.
class AroundFile final : public SequentialFile {
 public:
  static Result<std::unique_ptr<AroundFile>> Open(FileSystem* files, const std::string& path);

  Status Read(size_t bytes, std::string_view* result, char* scratch) override;
  Status Skip(uint64_t bytes) override;
  uint64_t bytes() const { return bytes_; }
  // In what was read so far.
  const Unreadable& unreadable() const { return unreadable_; }

 private:
  AroundFile(std::unique_ptr<RandomAccessFile> file, uint64_t bytes)
      : file_(std::move(file)), bytes_(bytes) {}

  const std::unique_ptr<RandomAccessFile> file_;
  const uint64_t bytes_;
  uint64_t offset_ = 0;
  Unreadable unreadable_;
};

// The same files, but never mapped into memory from the system's: there an unreadable sector would
// end the process (SIGBUS). Through reads it is an error.
FileSystem* WithoutMappings(FileSystem* files);

}  // namespace weft::base
