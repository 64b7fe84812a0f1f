// bench/trace/trace.h: a trace of what clients asked of a cache, in memory, and how it is read from
// a file.
//
// Records   each key of a trace is a record: 0, 1, 2, ... in the order in which they first appear.
//           So whatever is known of a key lies in an array.
// Sizes     bytes of the value alone. A trace without sizes is read with one size for all.
// Memory    20 bytes a request and one byte a record.
// Threads   values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/status.h"

namespace weft::bench {

enum class TraceOperation : uint8_t {
  kGet,
  kSet,  // the whole value, also where the trace has add, replace, append, incr or the like
  kDelete
};

struct TraceRequest {
  uint32_t record = 0;
  uint32_t value_bytes = 0;  // stored by it, or by whoever misses here
  uint32_t time_s = 0;       // since the first request; never falls
  uint32_t ttl_s = 0;        // of what is stored; 0: it never ends
  TraceOperation operation = TraceOperation::kGet;
};

struct Trace {
  std::string name;    // of the file, without folders and without endings that formats have
  std::string format;  // a name of TraceFormats()
  std::vector<TraceRequest> requests;
  std::vector<uint8_t> key_bytes;  // by record
  bool has_ttls = false;

  uint32_t records() const { return static_cast<uint32_t>(key_bytes.size()); }
};

// The sizes that values and keys may have: those that memcached takes.
inline constexpr uint32_t kTraceValueBytesMin = 8;
inline constexpr uint32_t kTraceValueBytesMax = 1'000'000;
inline constexpr uint32_t kTraceKeyBytesMin = 8;
inline constexpr uint32_t kTraceKeyBytesMax = 250;

struct TraceOptions {
  std::string format{};   // a name of TraceFormats(); empty: found from the file, or csv where
                          // columns are given
  std::string columns{};  // of the format csv, 'time=1,key=2,size=3,op=4,ttl=5' from 1, the key's
                          // at least; empty: from its first line
  uint64_t limit = 0;     // reads only so many requests, and ignores what follows; 0: all
  uint32_t value_bytes = 0;  // of every value, whatever the trace says; 0: as the trace says, and
                             // 1,000 where it does not
  uint32_t key_bytes = 0;    // of every key, likewise; 0: as the trace says, or 24
};

// Reads a file, compressed by xz, gzip or zstd, or not at all. Sizes beyond the limits above are
// moved to them. A get of unknown size has the last known size of its record, and the time to live
// of the record's last set. A time that falls by a minute at most counts as the one before; one
// that falls by more is damage. kNotFound, kIoError: the file. kCorruption: which record or line
// (from 1), or byte of a compressed file, is damaged, and how; also a trace without a request.
// kInvalidArgument: no such format, or it could not be found out; no such columns. kUnsupported:
// built without the library that decompresses it. kNoMemory: it needs more than 256 MiB to be
// decompressed.
Result<Trace> ReadTrace(const std::string& path, const TraceOptions& options);

struct TraceFormat {
  std::string name;     // "twitter"
  std::string meaning;  // a few words for --help
};
const std::vector<TraceFormat>& TraceFormats();

}  // namespace weft::bench
