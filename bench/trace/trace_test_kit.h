// bench/trace/trace_test_kit.h: files for the tests of traces, and what is read from them.
//
// Threads   one at a time.
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/folder_test_kit.h"
#include "bench/trace/decoder.h"
#include "bench/trace/trace.h"

#ifdef WEFT_BENCH_HAS_ZLIB
#include <zlib.h>
#endif
#ifdef WEFT_BENCH_HAS_LZMA
#include <lzma.h>
#endif
#ifdef WEFT_BENCH_HAS_ZSTD
#include <zstd.h>
#endif

namespace weft::bench {

// The ways of compressing that this build knows.
inline std::vector<Compression> KnownCompressions() {
  std::vector<Compression> known;
#ifdef WEFT_BENCH_HAS_ZLIB
  known.push_back(Compression::kGzip);
#endif
#ifdef WEFT_BENCH_HAS_LZMA
  known.push_back(Compression::kXz);
#endif
#ifdef WEFT_BENCH_HAS_ZSTD
  known.push_back(Compression::kZstd);
#endif
  return known;
}

// One member.
inline std::string Compressed(Compression compression, std::string_view text) {
  std::string out(text.size() * 2 + 1000, '\0');
  size_t bytes = 0;
  [[maybe_unused]] auto* to = reinterpret_cast<uint8_t*>(out.data());
  [[maybe_unused]] const auto* from = reinterpret_cast<const uint8_t*>(text.data());
  if (compression == Compression::kNone) return std::string(text);
#ifdef WEFT_BENCH_HAS_ZLIB
  if (compression == Compression::kGzip) {
    z_stream stream = {};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = const_cast<Bytef*>(from);
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = to;
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    bytes = stream.total_out;
    deflateEnd(&stream);
  }
#endif
#ifdef WEFT_BENCH_HAS_LZMA
  if (compression == Compression::kXz) {
    EXPECT_EQ(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr, from, text.size(), to, &bytes,
                                      out.size()),
              LZMA_OK);
  }
#endif
#ifdef WEFT_BENCH_HAS_ZSTD
  if (compression == Compression::kZstd) {
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    bytes = ZSTD_compress2(context, to, out.size(), from, text.size());
    EXPECT_EQ(ZSTD_isError(bytes), 0u);
    ZSTD_freeCCtx(context);
  }
#endif
  out.resize(bytes);
  return out;
}

class TraceTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view bytes) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // Reads a file that is a trace.
  Trace Read(std::string_view bytes, const TraceOptions& options = {},
             const std::string& name = "a") const {
    auto trace = ReadTrace(Write(name, bytes), options);
    EXPECT_TRUE(trace) << trace.error().ToString();
    return trace ? std::move(*trace) : Trace();
  }
  // What is wrong, without the path: "corruption: line 2: it has no key".
  std::string Wrong(std::string_view bytes, const TraceOptions& options = {},
                    const std::string& name = "a") const {
    const std::string path = Write(name, bytes);
    auto trace = ReadTrace(path, options);
    if (trace) return "nothing";
    std::string message(trace.error().message());
    if (message.starts_with(path + ": ")) message.erase(0, path.size() + 2);
    return std::string(CodeName(trace.error().code())) + ": " + message;
  }

  const base::TestFolder folder_;
};

// One member of all requests.
template <typename T>
std::vector<T> Each(const Trace& trace, T TraceRequest::*member) {
  std::vector<T> values;
  for (const TraceRequest& request : trace.requests) values.push_back(request.*member);
  return values;
}
inline std::vector<uint32_t> Records(const Trace& trace) {
  return Each(trace, &TraceRequest::record);
}
inline std::vector<uint32_t> Sizes(const Trace& trace) {
  return Each(trace, &TraceRequest::value_bytes);
}
inline std::vector<uint32_t> Times(const Trace& trace) {
  return Each(trace, &TraceRequest::time_s);
}
inline std::vector<uint32_t> Ttls(const Trace& trace) { return Each(trace, &TraceRequest::ttl_s); }

// Each operation as a letter: "gsd".
inline std::string Operations(const Trace& trace) {
  std::string letters;
  for (const TraceRequest& request : trace.requests) {
    letters += "gsd"[static_cast<size_t>(request.operation)];
  }
  return letters;
}

// A record of libCacheSim's oracleGeneral.
inline std::string OracleRecord(uint32_t time_s, uint64_t object, uint32_t bytes, int64_t next) {
  std::string record;
  record.append(reinterpret_cast<const char*>(&time_s), sizeof time_s);
  record.append(reinterpret_cast<const char*>(&object), sizeof object);
  record.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  record.append(reinterpret_cast<const char*>(&next), sizeof next);
  return record;
}

}  // namespace weft::bench
