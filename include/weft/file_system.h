// weft/file_system.h: the files of a durable store. Implement it to put them elsewhere, to encrypt
// them, or to make them fail in tests.
//
// Threads   FileSystem and RandomAccessFile: any number at once. Sequential and writable files: one
//           at a time, except for WritableFile::SyncFlushed.
// Errors    kNotFound if a file to open is missing; kRetryLater if there is no descriptor for it,
//           and the store tries again; kIoError otherwise. The message names the file.
// Promises  the store relies on: data appended before Sync() returned ok survives a power cut. Its
//           file keeps its name if SyncDir() of its folder returned ok after it got that name.
//           RenameFile replaces in one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.h"

namespace weft {

class SequentialFile {
 public:
  virtual ~SequentialFile() = default;
  // Reads up to `bytes`; fewer only at the end. *result may point into scratch, which has room for
  // `bytes` and must live as long as *result is used.
  virtual Status Read(size_t bytes, std::string_view* result, char* scratch) = 0;
  virtual Status Skip(uint64_t bytes) = 0;
};

class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  // Reads up to `bytes` at `offset`; fewer only at the end of the file. *result points into scratch
  // or into memory that lives as long as this file object.
  virtual Status Read(uint64_t offset, size_t bytes, std::string_view* result,
                      char* scratch) const = 0;
  // Announces that these bytes will be read soon: starts fetching them and returns at once. A hint.
  virtual void WillNeed(uint64_t offset, size_t bytes) const { (void)offset, (void)bytes; }
  // Announces that this object reads the file once, in order, from now on. A hint.
  virtual void ReadsInOrder() const {}
  // The whole file in memory if Read hands out pointers into it, otherwise empty. Lets readers skip
  // the call.
  virtual std::string_view Mapped() const { return {}; }
  // Reads whose offset, size and scratch are all multiples of this power of two go straight to
  // scratch; others may be copied on the way.
  virtual size_t ReadAlignment() const { return 1; }
  // A descriptor, valid while this object lives, for devices that read the file themselves, past
  // the page cache and the host's memory. Negative: they can't.
  virtual int DirectDescriptor() const { return -1; }
};

// A place in a file of the system, for devices that write there themselves.
struct DirectPlace {
  int descriptor = -1;
  uint64_t offset = 0;
};

class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status Append(std::string_view data) = 0;
  // Appends `bytes` that the caller writes to the address returned, from any thread, before
  // its next Flush, Sync or Close. kUnsupported if FileSystem::WritesInPlace is false.
  virtual Result<char*> Extend(uint64_t bytes) {
    return (void)bytes, Status(Code::kUnsupported, "the file is not written in place");
  }
  // The end of the file, where the caller may write past the page cache and this object, in
  // multiples of 4 KiB. Holds until the next call; AppendedDirect says how many bytes were written.
  // kUnsupported: direct writes are impossible, or the end is no multiple of 4 KiB.
  virtual Result<DirectPlace> DirectEnd() {
    return Status(Code::kUnsupported, "the file is not written by direct I/O");
  }
  virtual void AppendedDirect(uint64_t bytes) { (void)bytes; }
  // Hands what was appended to the system, where it survives the end of this process.
  virtual Status Flush() = 0;
  // Flush, and wait until the data survives a power cut.
  virtual Status Sync() = 0;
  // Waits until everything that Flush handed over before this call survives a power cut. The store
  // calls it on a log while another thread appends and flushes: override it if Sync cannot be
  // called that way.
  virtual Status SyncFlushed() { return Sync(); }
  // Flush and close. Nothing may follow.
  virtual Status Close() = 0;
};

// An advisory lock that ends with the process at the latest.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// What a new file is for; how it is buffered depends on it.
enum class FileUse : uint8_t {
  kTable,     // large appends, one Sync at the end, then Close
  kLog,       // small appends, each with a Flush
  kManifest,  // small appends, each with a Sync
  kOther,
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<SequentialFile>> NewSequentialFile(const std::string& path) = 0;
  virtual Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string& path) = 0;
  // Makes an empty file, in place of any of that name.
  virtual Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                                FileUse use) = 0;
  // Appends to the file; makes it if it is missing.
  virtual Result<std::unique_ptr<WritableFile>> NewAppendableFile(const std::string& path,
                                                                  FileUse use) = 0;
  virtual bool FileExists(const std::string& path) = 0;
  // Names in a folder, without the folder, in no particular order.
  virtual Status GetChildren(const std::string& dir, std::vector<std::string>* names) = 0;
  virtual Status RemoveFile(const std::string& path) = 0;
  virtual Status CreateDir(const std::string& dir) = 0;
  virtual Status RemoveDir(const std::string& dir) = 0;
  virtual Result<uint64_t> GetFileSize(const std::string& path) = 0;
  virtual Status RenameFile(const std::string& from, const std::string& to) = 0;
  // Gives a file a second name (hard link). kUnsupported: there are no links, copy instead.
  virtual Status LinkFile(const std::string& from, const std::string& to) = 0;
  // Cuts a file to `bytes`.
  virtual Status Truncate(const std::string& path, uint64_t bytes) = 0;
  // Makes the names made, changed and removed in `dir` survive a power cut.
  virtual Status SyncDir(const std::string& dir) = 0;
  // Whether files lie in memory that whoever fills them, such as a device, may write to. Then
  // WritableFile::Extend works.
  virtual bool WritesInPlace() const { return false; }
  // The same files, but random reads, and writes of tables, bypass the system's page cache (direct
  // I/O): for data that is read or written once. Returns itself where there is no direct I/O. Lives
  // as long as this object.
  virtual FileSystem* Direct() { return this; }
  // Makes the file. kRetryLater: another process, or another call of this one, holds it.
  virtual Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) = 0;
};

// The system's files. Lives forever.
FileSystem* PosixFileSystem();

}  // namespace weft
