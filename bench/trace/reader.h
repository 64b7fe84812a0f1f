// bench/trace/reader.h: the requests of a file, one by one, in one of the formats.
//
// Keys      are numbers. A key that is text, as in csv and twitter, is known by its 64-bit hash
//           alone (base/hash.h). Two texts of one hash count as one key: among 100 million keys the
//           odds are 1 in 3,700. One request of many is then a hit by mistake.
// Threads   one at a time.
// Errors    ByteSource's. kCorruption: a record or line that is damaged; the message names
//           the file, its number from 1 and what is wrong. kInvalidArgument: the options.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "bench/trace/byte_source.h"
#include "bench/trace/trace.h"
#include "weft/status.h"

namespace weft::bench {

// A request as in the file. Nothing is moved to a limit yet.
struct ReadRequest {
  uint64_t key = 0;
  uint32_t key_bytes = 0;               // 0: the format does not say
  std::optional<uint64_t> value_bytes;  // none: the format does not say, or not here
  uint64_t time_s = 0;
  uint32_t ttl_s = 0;
  TraceOperation operation = TraceOperation::kGet;
};

class TraceReader {
 public:
  virtual ~TraceReader() = default;
  // False: there are no more. Sets each member of `request` that the format knows, and leaves the
  // others as they are.
  virtual Result<bool> Next(ReadRequest* request) = 0;
  // kCorruption that names the file and the place of the last request.
  virtual Status Damaged(std::string_view what) const = 0;
};

using MadeReader = Result<std::unique_ptr<TraceReader>>;

// One file implements each; it says what the format has.
MadeReader MakeBe32Reader(std::unique_ptr<ByteSource> source, const TraceOptions& options);
MadeReader MakeNumbersReader(std::unique_ptr<ByteSource> source, const TraceOptions& options);
MadeReader MakeCloudPhysicsReader(std::unique_ptr<ByteSource> source, const TraceOptions& options);
MadeReader MakeOracleGeneralReader(std::unique_ptr<ByteSource> source, const TraceOptions& options);
MadeReader MakeCsvReader(std::unique_ptr<ByteSource> source, const TraceOptions& options);
MadeReader MakeTwitterReader(std::unique_ptr<ByteSource> source, const TraceOptions& options);

// The first line of CloudPhysics' traces.
inline constexpr std::string_view kCloudPhysicsNames = "version,time,op,size,lbn";

// A line of Twitter's. Its numbers are still text, as `operation` is.
struct TwitterLine {
  std::string_view time, key, key_bytes, value_bytes, operation, ttl;
};
// None: it has too few columns.
std::optional<TwitterLine> SplitTwitterLine(std::string_view line);

}  // namespace weft::bench
