// Appends of a record of 290 bytes to a log, each flushed: through the mapping and by plain writes.
//
//   build/release/src/base/posix_log_bench FOLDER
#include <fcntl.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/posix_log.h"
#include "base/posix_writers.h"
#include "base/program.h"
#include "weft/file_system.h"

namespace weft::base {
namespace {

double CpuSeconds() { return static_cast<double>(ThreadCpuNs()) * 1e-9; }

using std::chrono::steady_clock;

std::unique_ptr<WritableFile> Open(const std::string& path, bool mapped) {
  Result<Fd> fd = OpenFd(path, O_RDWR | O_CREAT | O_TRUNC);
  WEFT_CHECK(fd.has_value());
  if (mapped) return std::make_unique<MappedLogFile>(std::move(*fd), path, 0, kLogWindowBytesMax);
  return std::make_unique<BufferedWritableFile>(std::move(*fd), path, 64 << 10);
}

// Seconds of this thread for `records` appends with Close.
double Round(const std::string& path, bool mapped, int records) {
  const std::string record(290, 'r');
  const double start = CpuSeconds();
  auto file = Open(path, mapped);
  for (int i = 0; i < records; i++) {
    WEFT_CHECK(file->Append(record).ok());
    WEFT_CHECK(file->Flush().ok());
  }
  WEFT_CHECK(file->Close().ok());
  const double seconds = CpuSeconds() - start;
  WEFT_CHECK(PosixFileSystem()->RemoveFile(path).ok());
  return seconds;
}

// Seconds that pass for `records` appends, each synced.
double SyncRound(const std::string& path, bool mapped, int records) {
  const std::string record(290, 'r');
  auto file = Open(path, mapped);
  const auto start = steady_clock::now();
  for (int i = 0; i < records; i++) {
    WEFT_CHECK(file->Append(record).ok());
    WEFT_CHECK(file->Sync().ok());
  }
  const double seconds = std::chrono::duration<double>(steady_clock::now() - start).count();
  WEFT_CHECK(file->Close().ok());
  WEFT_CHECK(PosixFileSystem()->RemoveFile(path).ok());
  return seconds;
}

void Run(const std::string& folder) {
  constexpr int kRecords = 500000, kSyncs = 2000;
  const std::string path = folder + "/weft-log-bench";
  for (int round = 0; round < 3; round++) {
    for (bool mapped : {true, false}) {
      std::printf("%s %s: %.0f ns of processor time a record flushed, %.1f us a record synced\n",
                  folder.c_str(), mapped ? "mapped" : "write ",
                  Round(path, mapped, kRecords) / kRecords * 1e9,
                  SyncRound(path, mapped, kSyncs) / kSyncs * 1e6);
    }
  }
}

}  // namespace
}  // namespace weft::base

int main(int argc, char** argv) {
  weft::base::StartProgram("posix_log_bench");
  for (int i = 1; i < argc; i++) weft::base::Run(argv[i]);
  return 0;
}
