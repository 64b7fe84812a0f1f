// 32-bit big-endian integers, one a request: traces of the Caffeine simulator and of cache2k.

#include <cstdint>
#include <memory>
#include <utility>

#include "bench/trace/parsed_reader.h"
#include "bench/trace/record_source.h"

namespace weft::bench {
namespace {

std::string ParseBe32(std::string_view record, ReadRequest* request) {
  const auto* at = reinterpret_cast<const uint8_t*>(record.data());
  request->key = uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
  return "";
}

}  // namespace

MadeReader MakeBe32Reader(std::unique_ptr<ByteSource> source, const TraceOptions&) {
  return std::unique_ptr<TraceReader>(
      std::make_unique<ParsedReader<RecordSource, ParseBe32, sizeof(uint32_t)>>(std::move(source)));
}

}  // namespace weft::bench
