#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/mutex.h"
#include "weft/file_system.h"
#include "weft/logger.h"

namespace weft {

namespace {

// "2026/11/21-14:03:59.123456 4711 " in local time.
std::string Prefix() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm date;
  ::localtime_r(&now.tv_sec, &date);
  static thread_local const long thread = ::syscall(SYS_gettid);
  char text[96];
  const int bytes = std::snprintf(text, sizeof text, "%04d/%02d/%02d-%02d:%02d:%02d.%06ld %ld ",
                                  date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, date.tm_hour,
                                  date.tm_min, date.tm_sec, now.tv_nsec / 1000, thread);
  return {text, static_cast<size_t>(bytes)};
}

class FileLogger final : public Logger {
 public:
  explicit FileLogger(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}

  // Errors are dropped: whoever logs has nobody to tell either, and the store goes on.
  void Log(std::string_view line) override {
    std::string text = Prefix();
    for (char c : line) text.push_back(c == '\n' || c == '\r' ? ' ' : c);
    text.push_back('\n');
    base::MutexLock lock(&mutex_);
    if (file_->Append(text).ok()) (void)file_->Flush();
  }

 private:
  base::Mutex mutex_;
  const std::unique_ptr<WritableFile> file_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::shared_ptr<Logger>> NewFileLogger(FileSystem* files, const std::string& path) {
  Result<std::unique_ptr<WritableFile>> file = files->NewWritableFile(path, FileUse::kOther);
  if (!file) return file.error();
  return std::shared_ptr<Logger>(std::make_shared<FileLogger>(std::move(*file)));
}

}  // namespace weft
