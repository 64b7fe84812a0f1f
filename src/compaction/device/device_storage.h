// compaction/device/device_storage.h: files that a device reads into its own memory and writes from
// there, past the host's.
//
// Threads   any; of a File's Read and Write, too.
// Errors    what fails is read or written by the host instead: nothing is lost with it but time.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::compaction::device {

class DeviceStorage {
 public:
  // Of one that is open; it must go before its descriptor is closed.
  class File {
   public:
    virtual ~File() = default;
    // Up to `bytes` at `offset`, fewer only at the end of the file; how many.
    // range, at: where in what Take has given
    virtual Result<uint64_t> Read(uint64_t offset, uint64_t bytes, char* range, uint64_t at) = 0;
    // All of it, or none is known to be written. REQUIRES: multiples of base::kDirectAlign
    virtual Status Write(uint64_t offset, uint64_t bytes, const char* range, uint64_t at) = 0;
  };

  virtual ~DeviceStorage() = default;
  // Memory of the device, for files to be read into or written from: the host can't look at it.
  // Null: there is none.
  virtual char* Take(uint64_t bytes) = 0;
  // REQUIRES: nothing reads it or reads into it any more
  virtual void GiveBack(char* range, uint64_t bytes) = 0;
  // To the host, from what Take has given. kDeviceLost.
  virtual Status CopyOut(char* to, const char* from, uint64_t bytes) = 0;
  // descriptor: RandomAccessFile::DirectDescriptor, or DirectPlace's
  virtual Result<std::unique_ptr<File>> Open(int descriptor) = 0;
};

// A range that is taken once it is needed, and anew where more is.
class StorageRange {
 public:
  explicit StorageRange(DeviceStorage* storage) : storage_(storage) {}
  StorageRange(const StorageRange&) = delete;
  StorageRange& operator=(const StorageRange&) = delete;
  ~StorageRange() { GiveBack(); }

  DeviceStorage* storage() const { return storage_; }
  char* data() const { return at_; }
  // Null where there is no such room; what was in it is lost. REQUIRES: a storage
  char* TakeAtLeast(uint64_t bytes) {
    if (bytes <= bytes_) return at_;
    GiveBack();
    at_ = storage_->Take(bytes);
    bytes_ = at_ == nullptr ? 0 : bytes;
    return at_;
  }

 private:
  void GiveBack() {
    if (at_ != nullptr) storage_->GiveBack(at_, bytes_);
  }

  DeviceStorage* const storage_;
  char* at_ = nullptr;
  uint64_t bytes_ = 0;
};

// What a job reads and writes so.
// Threads   any of those that say so; Open and Close are one thread's.
class JobStorage {
 public:
  // Null: nothing.
  explicit JobStorage(DeviceStorage* storage) : storage_(storage) {}

  DeviceStorage* get() const { return storage_; }
  // A file to be read, which must live until Close; null where the device can't.
  DeviceStorage::File* Open(const RandomAccessFile& file) {
    if (storage_ == nullptr || file.DirectDescriptor() < 0) return nullptr;
    const auto [found, is_new] = files_.try_emplace(&file);
    if (!is_new) return found->second.get();
    Result<std::unique_ptr<DeviceStorage::File>> opened = storage_->Open(file.DirectDescriptor());
    if (!opened) return nullptr;
    found->second = std::move(*opened);
    return found->second.get();
  }
  void Close() { files_.clear(); }

  // Any thread.
  void CountRead(uint64_t bytes) { read_.fetch_add(bytes, std::memory_order_relaxed); }
  void CountWritten(uint64_t bytes) { written_.fetch_add(bytes, std::memory_order_relaxed); }
  uint64_t bytes_read() const { return read_.load(std::memory_order_relaxed); }
  uint64_t bytes_written() const { return written_.load(std::memory_order_relaxed); }

 private:
  DeviceStorage* const storage_;
  std::map<const RandomAccessFile*, std::unique_ptr<DeviceStorage::File>> files_;
  std::atomic<uint64_t> read_{0};
  std::atomic<uint64_t> written_{0};
};

}  // namespace weft::compaction::device
