#include "compaction/cuda/cufile_storage.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/cuda/cuda_status.h"
#include "base/mutex.h"
#include "base/posix_direct.h"
#include "base/posix_fd.h"

namespace weft::compaction::device {

namespace {

// The library's binary interface, as far as it is used.
struct CufileError {
  int cufile;  // 0: none
  int cuda;
};
struct CufileFileOf {
  int type = 1;  // by a descriptor of the system
  union {
    int descriptor;
    void* other;
  } handle{};
  const void* operations = nullptr;  // none of ours
};
using CufileHandle = void*;

class Cufile {
 public:
  // Null where it is not to be used or does not open.
  static const Cufile* Get() {
    static const std::optional<Cufile> library = Load();
    return library ? &*library : nullptr;
  }

  CufileError (*register_file)(CufileHandle*, CufileFileOf*) = nullptr;
  void (*forget_file)(CufileHandle) = nullptr;
  CufileError (*register_range)(const void*, size_t, int flags) = nullptr;
  CufileError (*forget_range)(const void*) = nullptr;
  // Bytes; -1: errno says; less: the library's error, negated
  ssize_t (*read)(CufileHandle, void* range, size_t bytes, off_t offset, off_t at) = nullptr;
  ssize_t (*write)(CufileHandle, const void* range, size_t bytes, off_t offset, off_t at) = nullptr;

 private:
  static bool IsWanted() {
    const char* const said = std::getenv("WEFT_CUFILE");
    const std::string_view use = said == nullptr ? "" : said;
    if (use == "off") return false;
    return use == "on" || ::access("/proc/driver/nvidia-fs/version", F_OK) == 0;
  }
  static std::optional<Cufile> Load() {
    // Never closed: jobs of any thread may be in it until the program ends.
    void* const library = IsWanted() ? dlopen("libcufile.so.0", RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library == nullptr) return std::nullopt;
    Cufile found;
    CufileError (*open)() = nullptr;
    const bool has_all = Find(library, "cuFileDriverOpen", &open) &&
                         Find(library, "cuFileHandleRegister", &found.register_file) &&
                         Find(library, "cuFileHandleDeregister", &found.forget_file) &&
                         Find(library, "cuFileBufRegister", &found.register_range) &&
                         Find(library, "cuFileBufDeregister", &found.forget_range) &&
                         Find(library, "cuFileRead", &found.read) &&
                         Find(library, "cuFileWrite", &found.write);
    if (!has_all || open().cufile != 0) return std::nullopt;
    return found;
  }
  template <typename Function>
  static bool Find(void* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
  }
};

class CufileFile final : public DeviceStorage::File {
 public:
  CufileFile(const Cufile& library, int number, CufileHandle handle)
      : library_(library), number_(number), handle_(handle) {}
  CufileFile(const CufileFile&) = delete;
  CufileFile& operator=(const CufileFile&) = delete;
  ~CufileFile() override { library_.forget_file(handle_); }

  Result<uint64_t> Read(uint64_t offset, uint64_t bytes, char* range, uint64_t at) override {
    return Move(bytes, "cuFileRead", [&](uint64_t done) {
      return library_.read(handle_, range, bytes - done, static_cast<off_t>(offset + done),
                           static_cast<off_t>(at + done));
    });
  }
  Status Write(uint64_t offset, uint64_t bytes, const char* range, uint64_t at) override {
    Result<uint64_t> written = Move(bytes, "cuFileWrite", [&](uint64_t done) {
      return library_.write(handle_, range, bytes - done, static_cast<off_t>(offset + done),
                            static_cast<off_t>(at + done));
    });
    if (!written) return written.error();
    return *written == bytes ? Status::Ok() : Status(Code::kIoError, "cuFileWrite: wrote less");
  }

 private:
  // Calls `next` with how much is done, until that is `bytes` or there is no more.
  template <typename Next>
  Result<uint64_t> Move(uint64_t bytes, const char* call, const Next& next) {
    WEFT_CUDA_TRY(cudaSetDevice(number_));  // any thread's
    uint64_t done = 0;
    while (done < bytes) {
      const ssize_t got = next(done);
      if (got == -1) return base::PosixError(call, "a table", errno);
      if (got < 0) return Status(Code::kIoError, call + (": error " + std::to_string(-got)));
      done += static_cast<uint64_t>(got);
      if (got == 0 || done % base::kDirectAlign != 0) break;  // the end
    }
    return done;
  }

  const Cufile& library_;
  const int number_;
  const CufileHandle handle_;
};

// Ranges are kept from one job to the next: to make the library know one takes as long as to read
// into it.
class CufileStorage final : public DeviceStorage {
 public:
  CufileStorage(const Cufile& library, int number) : library_(library), number_(number) {}
  CufileStorage(const CufileStorage&) = delete;
  CufileStorage& operator=(const CufileStorage&) = delete;
  // REQUIRES: all is given back
  ~CufileStorage() override { ReleaseAll(); }

  char* Take(uint64_t bytes) override WEFT_EXCLUDES(mutex_) {
    bytes = std::max(bytes, kSmallestBytes);
    if (char* const kept = TakeKept(bytes); kept != nullptr) return kept;
    char* range = Allocate(bytes);
    if (range == nullptr) {
      ReleaseAll();
      range = Allocate(bytes);
    }
    if (range == nullptr) return nullptr;  // the host reads then
    // What the library does not know it reads into, too, by ways of its own.
    (void)library_.register_range(range, bytes, 0);
    base::MutexLock lock(&mutex_);
    bytes_of_[range] = bytes;
    return range;
  }

  void GiveBack(char* range, uint64_t) override WEFT_EXCLUDES(mutex_) {
    {
      base::MutexLock lock(&mutex_);
      const uint64_t bytes = bytes_of_[range];
      if (kept_bytes_ + bytes <= kKeptBytesMax) {
        kept_bytes_ += bytes;
        free_.emplace(bytes, range);
        return;
      }
      bytes_of_.erase(range);
    }
    Release(range);
  }

  Status CopyOut(char* to, const char* from, uint64_t bytes) override {
    if (cudaSetDevice(number_) == cudaSuccess &&
        cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) == cudaSuccess) {
      return Status::Ok();
    }
    (void)cudaGetLastError();
    return {Code::kDeviceLost, "could not copy the device's output from it"};
  }

  Result<std::unique_ptr<File>> Open(int descriptor) override {
    WEFT_CUDA_TRY(cudaSetDevice(number_));
    CufileFileOf file;
    file.handle.descriptor = descriptor;
    CufileHandle handle = nullptr;
    const CufileError error = library_.register_file(&handle, &file);
    if (error.cufile != 0) {
      return Status(Code::kUnsupported,
                    "cuFileHandleRegister: error " + std::to_string(error.cufile));
    }
    return std::unique_ptr<File>(new CufileFile(library_, number_, handle));
  }

 private:
  static constexpr uint64_t kSmallestBytes = uint64_t{1} << 20;
  static constexpr uint64_t kKeptBytesMax = uint64_t{1} << 30;

  // One that is not far too large; null: there is none.
  char* TakeKept(uint64_t bytes) WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    const auto found = free_.lower_bound(bytes);
    if (found == free_.end() || found->first > 2 * bytes) return nullptr;
    char* const range = found->second;
    kept_bytes_ -= found->first;
    free_.erase(found);
    return range;
  }
  char* Allocate(uint64_t bytes) {
    void* range = nullptr;
    if (cudaSetDevice(number_) == cudaSuccess && cudaMalloc(&range, bytes) == cudaSuccess)
      return static_cast<char*>(range);
    (void)cudaGetLastError();
    return nullptr;
  }
  void ReleaseAll() WEFT_EXCLUDES(mutex_) {
    std::multimap<uint64_t, char*> free;
    {
      base::MutexLock lock(&mutex_);
      free.swap(free_);
      kept_bytes_ = 0;
      for (const auto& [bytes, range] : free) bytes_of_.erase(range);
    }
    for (const auto& [bytes, range] : free) Release(range);
  }
  void Release(char* range) {
    if (cudaSetDevice(number_) != cudaSuccess) return;  // the device is lost, and all with it
    (void)library_.forget_range(range);
    (void)cudaFree(range);
  }

  const Cufile& library_;
  const int number_;
  base::Mutex mutex_;
  std::map<char*, uint64_t> bytes_of_ WEFT_GUARDED_BY(mutex_);  // of all ranges
  std::multimap<uint64_t, char*> free_ WEFT_GUARDED_BY(mutex_);
  uint64_t kept_bytes_ WEFT_GUARDED_BY(mutex_) = 0;  // of those
};

}  // namespace

std::unique_ptr<DeviceStorage> NewCufileStorage(int number) {
  if (cudaSetDevice(number) != cudaSuccess) {
    (void)cudaGetLastError();  // who makes the device meets it, too
    return nullptr;
  }
  const Cufile* const library = Cufile::Get();
  if (library == nullptr) return nullptr;
  return std::make_unique<CufileStorage>(*library, number);
}

}  // namespace weft::compaction::device
