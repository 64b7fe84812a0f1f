// A decimal number a line, of up to 64 bits: traces of the authors of LIRS, libCacheSim's txt.

#include <memory>
#include <string>
#include <utility>

#include "bench/trace/field.h"
#include "bench/trace/line_source.h"
#include "bench/trace/reader.h"

namespace weft::bench {
namespace {

class NumbersReader final : public TraceReader {
 public:
  explicit NumbersReader(std::unique_ptr<ByteSource> source) : lines_(std::move(source)) {}

  Result<bool> Next(ReadRequest* request) override {
    std::string_view line;
    auto more = lines_.Next(&line);
    if (!more || !*more) return more;
    const std::string wrong = ReadCount("key", line, UINT64_MAX, &request->key);
    if (!wrong.empty()) return Damaged(wrong);
    return true;
  }
  Status Damaged(std::string_view what) const override { return lines_.Damaged(what); }

 private:
  LineSource lines_;
};

}  // namespace

MadeReader MakeNumbersReader(std::unique_ptr<ByteSource> source, const TraceOptions&) {
  return std::unique_ptr<TraceReader>(std::make_unique<NumbersReader>(std::move(source)));
}

}  // namespace weft::bench
