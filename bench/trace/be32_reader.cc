// 32-bit big-endian integers, one a request: traces of the Caffeine simulator and of cache2k.

#include <cstdint>
#include <memory>
#include <utility>

#include "bench/trace/reader.h"
#include "bench/trace/record_source.h"

namespace weft::bench {
namespace {

class Be32Reader final : public TraceReader {
 public:
  explicit Be32Reader(std::unique_ptr<ByteSource> source)
      : records_(std::move(source), sizeof(uint32_t)) {}

  Result<bool> Next(ReadRequest* request) override {
    auto record = records_.Next();
    if (!record) return record.error();
    if (*record == nullptr) return false;
    const auto* at = reinterpret_cast<const uint8_t*>(*record);
    request->key = uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
    return true;
  }
  Status Damaged(std::string_view what) const override { return records_.Damaged(what); }

 private:
  RecordSource records_;
};

}  // namespace

MadeReader MakeBe32Reader(std::unique_ptr<ByteSource> source, const TraceOptions&) {
  return std::unique_ptr<TraceReader>(std::make_unique<Be32Reader>(std::move(source)));
}

}  // namespace weft::bench
