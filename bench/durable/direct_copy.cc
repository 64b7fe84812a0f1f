#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/posix_direct.h"
#include "bench/durable/merge.h"
#include "bench/store/store_meter.h"

namespace weft::bench {
namespace {

constexpr size_t kCallBytes = size_t{4} << 20;  // what our own compactions read and write at once

struct FreeAligned {
  void operator()(char* at) const { std::free(at); }
};
using Buffer = std::unique_ptr<char, FreeAligned>;

Status CopyTable(const compaction::JobTable& table, const std::string& to, char* buffer) {
  FileSystem* const files = PosixFileSystem()->Direct();
  auto reader = files->NewRandomAccessFile(table.path);
  if (!reader) return reader.error();
  auto writer = files->NewWritableFile(to, FileUse::kTable);
  if (!writer) return writer.error();
  for (uint64_t at = 0; at < table.bytes; at += kCallBytes) {
    std::string_view got;
    Status status = (*reader)->Read(at, kCallBytes, &got, buffer);
    if (status.ok()) status = (*writer)->Append(got);
    if (!status.ok()) return status;
    if (got.size() < std::min<uint64_t>(kCallBytes, table.bytes - at))
      return {Code::kCorruption, table.path + ": is shorter than it should be"};
  }
  if (Status status = (*writer)->Sync(); !status.ok()) return status;
  return (*writer)->Close();
}

std::vector<compaction::JobTable> TablesOf(const MergeInput& input) {
  std::vector<compaction::JobTable> tables;
  for (const auto& run : input.runs) tables.insert(tables.end(), run.begin(), run.end());
  return tables;
}

}  // namespace

bool HasDirectIo(const MergeInput& input) {
  if (input.runs.empty() || input.runs[0].empty()) return false;
  auto file = PosixFileSystem()->Direct()->NewRandomAccessFile(input.runs[0][0].path);
  return file.has_value() && (*file)->ReadAlignment() > 1;
}

Result<MergeTiming> CopyDirect(const MergeInput& input, int threads, const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  const std::vector<compaction::JobTable> tables = TablesOf(input);
  std::vector<Buffer> buffers;
  for (int i = 0; i < threads; ++i) {
    buffers.emplace_back(static_cast<char*>(std::aligned_alloc(base::kDirectAlign, kCallBytes)));
    WEFT_CHECK(buffers.back() != nullptr);
    std::fill_n(buffers.back().get(), kCallBytes, 0);  // so that the pages are there
  }
  std::vector<Status> copied(tables.size());
  std::atomic<size_t> next{0};
  const auto run = [&](char* buffer) {
    for (size_t i = next++; i < tables.size(); i = next++)
      copied[i] = CopyTable(tables[i], fmt::format("{}/{:06}.ldb", dir, i), buffer);
  };
  const CpuSeconds cpu = CpuOfThisProcess();
  const uint64_t start = base::NowNs();
  std::vector<std::thread> all;
  for (const Buffer& buffer : buffers) all.emplace_back(run, buffer.get());
  for (std::thread& thread : all) thread.join();
  MergeTiming timing;
  timing.wall_s = static_cast<double>(base::NowNs() - start) * 1e-9;
  timing.cpu = CpuOfThisProcess() - cpu;
  timing.input_mib = static_cast<double>(input.bytes) / (1 << 20);
  std::filesystem::remove_all(dir, error);
  for (const Status& status : copied)
    if (!status.ok()) return status;
  return timing;
}

}  // namespace weft::bench
