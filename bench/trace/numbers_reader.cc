// A decimal number a line, of up to 64 bits: traces of the authors of LIRS, libCacheSim's txt.

#include <memory>
#include <string>
#include <utility>

#include "bench/trace/field.h"
#include "bench/trace/line_source.h"
#include "bench/trace/parsed_reader.h"

namespace weft::bench {
namespace {

std::string ParseNumber(std::string_view line, ReadRequest* request) {
  return ReadCount("key", line, UINT64_MAX, &request->key);
}

}  // namespace

MadeReader MakeNumbersReader(std::unique_ptr<ByteSource> source, const TraceOptions&) {
  return std::unique_ptr<TraceReader>(
      std::make_unique<ParsedReader<LineSource, ParseNumber>>(std::move(source)));
}

}  // namespace weft::bench
