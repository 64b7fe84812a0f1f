// libCacheSim's oracleGeneral: records of 24 bytes, little-endian, without gaps:
//
//   u32 time in seconds | u64 object | u32 size in bytes | i64 the next request of it, from 0
//
// Every record is a get. The last member is for policies that look ahead; Trace has no use for it.

#include <memory>
#include <utility>

#include "base/coding.h"
#include "bench/trace/field.h"
#include "bench/trace/parsed_reader.h"
#include "bench/trace/record_source.h"

namespace weft::bench {
namespace {

constexpr size_t kOracleBytes = 24;
constexpr size_t kOracleKeyAt = 4, kOracleSizeAt = 12;

std::string ParseOracle(std::string_view record, ReadRequest* request) {
  request->time_s = base::DecodeFixed32(record.data());
  request->key = base::DecodeFixed64(record.data() + kOracleKeyAt);
  request->value_bytes = SizeIfKnown(base::DecodeFixed32(record.data() + kOracleSizeAt), false);
  return "";
}

}  // namespace

MadeReader MakeOracleGeneralReader(std::unique_ptr<ByteSource> source, const TraceOptions&) {
  return std::unique_ptr<TraceReader>(
      std::make_unique<ParsedReader<RecordSource, ParseOracle, kOracleBytes>>(std::move(source)));
}

}  // namespace weft::bench
