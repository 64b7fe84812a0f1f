#include "bench/trace/trace.h"

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/trace/byte_source.h"
#include "bench/trace/format.h"
#include "bench/trace/reader.h"
#include "bench/trace/trace_builder.h"

namespace weft::bench {

Result<Trace> ReadTrace(const std::string& path, const TraceOptions& options) {
  if (Status status = CheckFormatOptions(options); !status.ok()) return status;
  auto source = ByteSource::Open(path);
  if (!source) return source.error();
  std::string format;
  auto reader = MakeReader(std::move(*source), options, &format);
  if (!reader) return reader.error();
  TraceBuilder builder(TraceNameOf(path), options);
  while (options.limit == 0 || builder.requests() < options.limit) {
    ReadRequest request;
    auto more = (*reader)->Next(&request);
    if (!more) return more.error();
    if (!*more) break;
    const std::string wrong = builder.Add(request);
    if (!wrong.empty()) return (*reader)->Damaged(wrong);
  }
  if (builder.requests() == 0) {
    return Status(Code::kCorruption, fmt::format("{}: it has no request", path));
  }
  Trace trace = builder.Take();
  trace.format = std::move(format);
  return trace;
}

}  // namespace weft::bench
