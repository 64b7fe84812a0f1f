// Any bytes as the files of a trace's folder. The first byte says how many cores' files there are,
// and whether they are made to fit: headers with the records that there are, and a layout as long
// as the index. What can be read without an error is the same when it is written and read again;
// an error names its file, and the record.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/folder_test_kit.h"
#include "sim/base/text_test_kit.h"
#include "sim/trace/file_trace.h"
#include "sim/trace/trace_facts.h"

namespace weft::sim {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{1} << 32;
constexpr size_t kMessageBytesMax = 400;
constexpr size_t kFittedLayoutBytesMax = size_t{64} << 10;
constexpr size_t kRecordsAt = 56;  // in a header

struct Files {
  std::vector<std::string> cores;
  std::string layout;
};

// A length in two bytes is before each core's file; the rest is the layout.
Files Split(std::string_view bytes, size_t cores) {
  Files files;
  for (size_t core = 0; core < cores && bytes.size() >= 2; ++core) {
    const size_t length =
        static_cast<uint8_t>(bytes[0]) + static_cast<size_t>(static_cast<uint8_t>(bytes[1])) * 256;
    files.cores.emplace_back(bytes.substr(2, length));
    bytes.remove_prefix(std::min(bytes.size(), 2 + length));
  }
  files.layout = bytes;
  return files;
}

void Fit(Files* files) {
  for (std::string& file : files->cores) {
    if (file.size() < kTraceHeaderBytes) continue;
    const uint64_t records = (file.size() - kTraceHeaderBytes) / kTraceRecordBytes;
    std::memcpy(&file[kRecordsAt], &records, sizeof records);
    file.resize(kTraceHeaderBytes + records * kTraceRecordBytes);
  }
  if (files->cores.empty() || files->cores[0].size() < kTraceHeaderBytes) return;
  const Result<TraceHeader> header = DecodeHeader(
      std::span<const char, kTraceHeaderBytes>(files->cores[0].data(), kTraceHeaderBytes));
  if (!header) return;
  const StoreShape& shape = header.value().shape;
  const uint64_t bytes =
      shape.buckets * static_cast<uint64_t>(shape.slots_per_bucket) * kLayoutSlotBytes;
  if (bytes <= kFittedLayoutBytesMax) files->layout.resize(bytes);
}

std::string CorePath(const std::string& folder, size_t core) {
  return folder + "/core-" + std::to_string(core) + ".trace";
}
void Spill(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void CheckMessage(const Status& error, const std::string& folder, std::string_view what) {
  WEFT_CHECK(error.code() == Code::kCorruption);
  const std::string_view message = error.message();
  WEFT_CHECK(message.starts_with(folder + "/") && message.size() <= kMessageBytesMax);
  WEFT_CHECK(message.find(what) != std::string_view::npos);
}

// Can all of the trace in the folder be read?
bool ReadAll(const std::string& folder, const Files& files) {
  auto trace = FileTrace::Open(folder, kMemoryBytes);
  if (!trace) {
    // A file that isn't there is the system's error.
    if (trace.error().code() != Code::kIoError) CheckMessage(trace.error(), folder, ": ");
    return false;
  }
  FileTrace& read = *trace.value();
  const TableImage table = read.InitialTable();
  WEFT_CHECK(static_cast<size_t>(read.cores()) <= files.cores.size());
  WEFT_CHECK(table.buckets() * static_cast<uint64_t>(table.slots_per_bucket()) * kLayoutSlotBytes ==
             files.layout.size());
  bool is_whole = true;
  for (int core = 0; core < read.cores(); ++core) {
    const std::string& file = files.cores[static_cast<size_t>(core)];
    WEFT_CHECK(kTraceHeaderBytes + read.records(core) * kTraceRecordBytes == file.size());
    std::vector<Record> of_core;
    for (Record record;;) {
      const Result<bool> more = read.Next(core, &record);
      if (!more) {
        CheckMessage(more.error(), folder,
                     ".trace: record " + std::to_string(of_core.size() + 1) + ": ");
        is_whole = false;
        break;
      }
      if (!more.value()) break;
      of_core.push_back(record);
    }
    WEFT_CHECK(of_core.size() <= read.records(core));
    const std::string_view taken(reinterpret_cast<const char*>(of_core.data()),
                                 of_core.size() * kTraceRecordBytes);
    WEFT_CHECK(std::string_view(file).substr(kTraceHeaderBytes).starts_with(taken));
  }
  return is_whole;
}

void WriteAndReadAgain(const std::string& folder, const std::string& again, const Files& files) {
  auto source = FileTrace::Open(folder, kMemoryBytes);
  WEFT_CHECK(WriteTrace(*source.value(), again, UINT64_MAX).ok());
  auto first = FileTrace::Open(folder, kMemoryBytes);
  auto second = FileTrace::Open(again, kMemoryBytes);
  WEFT_CHECK(second.has_value());
  WEFT_CHECK(second.value()->shape() == first.value()->shape());
  WEFT_CHECK(second.value()->InitialTable() == first.value()->InitialTable());
  WEFT_CHECK(FactsOf(*second.value()).value() == FactsOf(*first.value()).value());
  for (int core = 0; core < first.value()->cores(); ++core) {
    const std::string& was = files.cores[static_cast<size_t>(core)];
    const std::string is = TextOf(CorePath(again, static_cast<size_t>(core)));
    WEFT_CHECK(is.size() == was.size());
    WEFT_CHECK(is.substr(kTraceHeaderBytes) == was.substr(kTraceHeaderBytes));
  }
}

void Run(std::string_view bytes) {
  static const base::TestFolder kept;
  const std::string folder = kept / "trace";
  const std::string again = kept / "again";
  const auto choice = static_cast<uint8_t>(bytes[0]);
  Files files = Split(bytes.substr(1), 1 + choice % 4);
  if ((choice & 4) != 0) Fit(&files);
  for (const std::string& path : {folder, again}) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
  }
  for (size_t core = 0; core < files.cores.size(); ++core) {
    Spill(CorePath(folder, core), files.cores[core]);
  }
  Spill(folder + "/layout.bin", files.layout);
  if (ReadAll(folder, files)) WriteAndReadAgain(folder, again, files);
}

}  // namespace
}  // namespace weft::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes > 0) weft::sim::Run({reinterpret_cast<const char*>(data), bytes});
  return 0;
}
