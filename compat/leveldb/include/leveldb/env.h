// compat/leveldb/include/leveldb/env.h: files, threads and time. Derive from Env, or from
// EnvWrapper to change a part, to put a store's files elsewhere or to make them fail in tests.
//
// Threads   Env, RandomAccessFile and Logger: any thread may make any call at any time. Sequential
//           and writable files: one thread at a time.
// Errors    functions that make an object set *result to null unless the answer is ok; the answer
//           for a missing file should be NotFound.
// Lifetime  the caller deletes the objects made.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>
#include <vector>

#include "leveldb/export.h"
#include "leveldb/status.h"

namespace leveldb {

class FileLock;
class Logger;
class RandomAccessFile;
class SequentialFile;
class Slice;
class WritableFile;

class LEVELDB_EXPORT Env {
 public:
  Env();
  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;
  virtual ~Env();

  // The system's. Lives forever; do not delete it.
  static Env* Default();

  virtual Status NewSequentialFile(const std::string& fname, SequentialFile** result) = 0;
  virtual Status NewRandomAccessFile(const std::string& fname, RandomAccessFile** result) = 0;
  // Makes an empty file, in place of any of that name.
  virtual Status NewWritableFile(const std::string& fname, WritableFile** result) = 0;
  // Appends to the file; makes it if it is missing. May be NotSupported, which is the default.
  virtual Status NewAppendableFile(const std::string& fname, WritableFile** result);

  virtual bool FileExists(const std::string& fname) = 0;
  // Names in a folder, without the folder; *result is replaced.
  virtual Status GetChildren(const std::string& dir, std::vector<std::string>* result) = 0;

  // RemoveFile and DeleteFile call each other unless overridden, for programs of either age; the
  // same holds for RemoveDir and DeleteDir. Override the Remove of each pair.
  virtual Status RemoveFile(const std::string& fname);
  virtual Status DeleteFile(const std::string& fname);
  virtual Status CreateDir(const std::string& dirname) = 0;
  virtual Status RemoveDir(const std::string& dirname);
  virtual Status DeleteDir(const std::string& dirname);

  virtual Status GetFileSize(const std::string& fname, uint64_t* file_size) = 0;
  virtual Status RenameFile(const std::string& src, const std::string& target) = 0;

  // Not ok, at once, if another holds it. Ends with the process at the latest. May make the file.
  virtual Status LockFile(const std::string& fname, FileLock** lock) = 0;
  // Gives up and deletes a lock that LockFile made.
  virtual Status UnlockFile(FileLock* lock) = 0;

  // Calls function(arg) once, in a background thread.
  virtual void Schedule(void (*function)(void* arg), void* arg) = 0;
  // Calls function(arg) in a new thread, which ends with it.
  virtual void StartThread(void (*function)(void* arg), void* arg) = 0;

  // A folder for tests; the same one each time within a process.
  virtual Status GetTestDirectory(std::string* path) = 0;
  virtual Status NewLogger(const std::string& fname, Logger** result) = 0;
  // Microseconds since some moment.
  virtual uint64_t NowMicros() = 0;
  virtual void SleepForMicroseconds(int micros) = 0;
};

class LEVELDB_EXPORT SequentialFile {
 public:
  SequentialFile() = default;
  SequentialFile(const SequentialFile&) = delete;
  SequentialFile& operator=(const SequentialFile&) = delete;
  virtual ~SequentialFile();

  // Reads up to n bytes; fewer only at the end. *result may point into scratch, which must have
  // room for n.
  virtual Status Read(size_t n, Slice* result, char* scratch) = 0;
  // OK even if the file ends before.
  virtual Status Skip(uint64_t n) = 0;
};

class LEVELDB_EXPORT RandomAccessFile {
 public:
  RandomAccessFile() = default;
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;
  virtual ~RandomAccessFile();

  // Reads up to n bytes at offset; fewer only at the end of the file. *result points into scratch,
  // which must have room for n, or into memory that lives as long as this object.
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
};

// Should buffer, because small pieces are appended.
class LEVELDB_EXPORT WritableFile {
 public:
  WritableFile() = default;
  WritableFile(const WritableFile&) = delete;
  WritableFile& operator=(const WritableFile&) = delete;
  virtual ~WritableFile();

  virtual Status Append(const Slice& data) = 0;
  virtual Status Close() = 0;
  virtual Status Flush() = 0;
  // Flush, and wait until the data survives a power cut.
  virtual Status Sync() = 0;
};

class LEVELDB_EXPORT Logger {
 public:
  Logger() = default;
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  virtual ~Logger();

  // One entry, given as to vprintf.
  virtual void Logv(const char* format, std::va_list ap) = 0;
};

// A file that LockFile locked.
class LEVELDB_EXPORT FileLock {
 public:
  FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  virtual ~FileLock();
};

// Does nothing if info_log is null.
LEVELDB_EXPORT void Log(Logger* info_log, const char* format, ...)
    __attribute__((__format__(__printf__, 2, 3)));

// Both handle the whole file. The first does not wait until it survives a power cut.
LEVELDB_EXPORT Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname);
LEVELDB_EXPORT Status ReadFileToString(Env* env, const std::string& fname, std::string* data);

// Hands every call on to another Env, which must outlive it.
class LEVELDB_EXPORT EnvWrapper : public Env {
 public:
  explicit EnvWrapper(Env* t) : target_(t) {}
  virtual ~EnvWrapper();

  Env* target() const { return target_; }

  Status NewSequentialFile(const std::string& f, SequentialFile** r) override;
  Status NewRandomAccessFile(const std::string& f, RandomAccessFile** r) override;
  Status NewWritableFile(const std::string& f, WritableFile** r) override;
  Status NewAppendableFile(const std::string& f, WritableFile** r) override;
  bool FileExists(const std::string& f) override;
  Status GetChildren(const std::string& dir, std::vector<std::string>* r) override;
  Status RemoveFile(const std::string& f) override;
  Status CreateDir(const std::string& d) override;
  Status RemoveDir(const std::string& d) override;
  Status GetFileSize(const std::string& f, uint64_t* s) override;
  Status RenameFile(const std::string& s, const std::string& t) override;
  Status LockFile(const std::string& f, FileLock** l) override;
  Status UnlockFile(FileLock* l) override;
  void Schedule(void (*f)(void*), void* a) override;
  void StartThread(void (*f)(void*), void* a) override;
  Status GetTestDirectory(std::string* path) override;
  Status NewLogger(const std::string& fname, Logger** result) override;
  uint64_t NowMicros() override;
  void SleepForMicroseconds(int micros) override;

 private:
  Env* target_;
};

}  // namespace leveldb
