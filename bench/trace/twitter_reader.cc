// Twitter's cache-trace (github.com/twitter/cache-trace): lines of
//
//   time in seconds, key, bytes of the key, bytes of the value, client, operation, time to live
//
// Keys are text, and may hold commas: the last five columns are counted from the right. A get that
// missed has no size (0), and gets have no time to live.

#include <memory>
#include <string>
#include <utility>

#include "base/hash.h"
#include "bench/trace/field.h"
#include "bench/trace/line_source.h"
#include "bench/trace/parsed_reader.h"

namespace weft::bench {
namespace {

// Cuts what stands behind the last comma off. False: there is none.
bool CutLastColumn(std::string_view* line, std::string_view* column) {
  const size_t comma = line->rfind(',');
  if (comma == std::string_view::npos) return false;
  *column = line->substr(comma + 1);
  line->remove_suffix(line->size() - comma);
  return true;
}

// An add has the whole value, too. What an append or an incr has is not the value's size where it
// is 0.
bool StoresWholeValue(std::string_view operation) {
  return operation == "set" || operation == "add" || operation == "replace" || operation == "cas";
}

std::string ParseTwitterLine(std::string_view text, ReadRequest* request) {
  const std::optional<TwitterLine> line = SplitTwitterLine(text);
  if (!line) return "it has fewer than 7 columns";
  uint64_t key_bytes = 0, value_bytes = 0, ttl_s = 0;
  std::string wrong = ReadCount("time", line->time, UINT64_MAX, &request->time_s);
  if (wrong.empty() && line->key.empty()) wrong = "it has no key";
  if (wrong.empty()) wrong = ReadCount("key's size", line->key_bytes, UINT32_MAX, &key_bytes);
  if (wrong.empty()) wrong = ReadCount("size", line->value_bytes, UINT64_MAX, &value_bytes);
  if (wrong.empty()) wrong = ReadCount("time to live", line->ttl, UINT32_MAX, &ttl_s);
  if (!wrong.empty()) return wrong;
  const std::optional<TraceOperation> operation = OperationOfWord(line->operation);
  if (!operation) return ShownField(line->operation) + " is not an operation";
  request->key = base::HashBytes(line->key);
  request->key_bytes = static_cast<uint32_t>(key_bytes);
  request->value_bytes = SizeIfKnown(value_bytes, StoresWholeValue(line->operation));
  request->ttl_s = static_cast<uint32_t>(ttl_s);
  request->operation = *operation;
  return "";
}

}  // namespace

std::optional<TwitterLine> SplitTwitterLine(std::string_view line) {
  TwitterLine split;
  std::string_view client;
  const bool has_last = CutLastColumn(&line, &split.ttl) &&
                        CutLastColumn(&line, &split.operation) && CutLastColumn(&line, &client) &&
                        CutLastColumn(&line, &split.value_bytes) &&
                        CutLastColumn(&line, &split.key_bytes);
  const size_t comma = line.find(',');
  if (!has_last || comma == std::string_view::npos) return std::nullopt;
  split.time = line.substr(0, comma);
  split.key = line.substr(comma + 1);
  return split;
}

MadeReader MakeTwitterReader(std::unique_ptr<ByteSource> source, const TraceOptions&) {
  return std::unique_ptr<TraceReader>(
      std::make_unique<ParsedReader<LineSource, ParseTwitterLine>>(std::move(source)));
}

}  // namespace weft::bench
