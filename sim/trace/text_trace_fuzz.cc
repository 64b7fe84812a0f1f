// Any bytes as a trace of text: the first byte says of which form, the second how it is read. What
// is read is the same when it is written and read again, as text of its form and as a folder; an
// error names its line.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/folder_test_kit.h"
#include "sim/trace/file_trace.h"
#include "sim/trace/text_trace.h"

namespace weft::sim {
namespace {

constexpr size_t kMessageBytesMax = 400;
constexpr uint32_t kInstructionsPerClock[] = {24, 1, 4'000'000'000, 3};

TextOptions OptionsOf(uint8_t choice) {
  return {.instructions_per_clock = kInstructionsPerClock[choice % 4],
          .op_accesses = 1 + choice / 4u % 4,
          .memory_bytes = (choice & 16) != 0 ? 1000 : uint64_t{16} << 30};
}

// "FILE:LINE: what", in letters that a terminal shows, of a line that is there.
void CheckMessage(const Status& error, const std::string& path, std::string_view text) {
  WEFT_CHECK(error.code() == Code::kInvalidArgument);
  const std::string_view message = error.message();
  WEFT_CHECK(message.size() <= kMessageBytesMax && message.starts_with(path + ":"));
  WEFT_CHECK(
      std::all_of(message.begin(), message.end(), [](char c) { return c >= 32 && c < 127; }));
  uint64_t line = 0;
  const auto [stop, failure] =
      std::from_chars(message.data() + path.size() + 1, message.data() + message.size(), line);
  WEFT_CHECK(failure == std::errc() && *stop == ':' && line >= 1);
  const auto breaks = std::count(text.begin(), text.end(), '\n');
  WEFT_CHECK(line <= static_cast<uint64_t>(breaks) + (text.ends_with('\n') ? 0 : 1));
}

std::vector<Record> RecordsOf(TraceSource& source) {
  std::vector<Record> records;
  for (Record record; source.Next(0, &record).value();) records.push_back(record);
  return records;
}

void Run(TextFormat format, const TextOptions& options, std::string_view text) {
  static const base::TestFolder folder;
  const std::string path = folder / "text";
  std::ofstream(path, std::ios::binary) << text;
  const auto source = ReadTextTrace(path, format, options);
  if (!source) return CheckMessage(source.error(), path, text);
  const std::vector<Record> records = RecordsOf(*source.value());
  WEFT_CHECK(records.size() <= 3 * text.size());

  const auto to_text = ReadTextTrace(path, format, options);
  WEFT_CHECK(WriteTextTrace(*to_text.value(), 0, folder / "again", format, options).ok());
  const auto again = ReadTextTrace(folder / "again", format, options);
  WEFT_CHECK(again.has_value() && RecordsOf(*again.value()) == records);

  const auto to_folder = ReadTextTrace(path, format, options);
  WEFT_CHECK(WriteTrace(*to_folder.value(), folder / "folder", UINT64_MAX).ok());
  const auto read = FileTrace::Open(folder / "folder", options.memory_bytes);
  WEFT_CHECK(read.has_value() && RecordsOf(*read.value()) == records);
  WEFT_CHECK(read.value()->shape() == source.value()->shape());
}

}  // namespace
}  // namespace weft::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes < 2) return 0;
  weft::sim::Run(static_cast<weft::sim::TextFormat>(data[0] % 4), weft::sim::OptionsOf(data[1]),
                 {reinterpret_cast<const char*>(data) + 2, bytes - 2});
  return 0;
}
