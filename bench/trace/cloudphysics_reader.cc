// CloudPhysics' traces of virtual disks, as libCacheSim has them in text: lines of
// version,time,op,size,lbn, the first with these names or not.
//
// Every line is a get of the block lbn, whatever its op: a read and a write both want it cached.
// The time is in seconds, the size in bytes.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/trace/field.h"
#include "bench/trace/line_source.h"
#include "bench/trace/reader.h"

namespace weft::bench {
namespace {

enum CloudPhysicsColumn { kVersion, kTime, kOp, kSize, kBlock, kColumns };

class CloudPhysicsReader final : public TraceReader {
 public:
  explicit CloudPhysicsReader(std::unique_ptr<ByteSource> source) : lines_(std::move(source)) {}

  Result<bool> Next(ReadRequest* request) override {
    std::string_view line;
    auto more = lines_.Next(&line);
    if (more && *more && !has_begun_ && line == kCloudPhysicsNames) more = lines_.Next(&line);
    has_begun_ = true;
    if (!more || !*more) return more;
    const std::string wrong = Parse(line, request);
    if (!wrong.empty()) return Damaged(wrong);
    return true;
  }
  Status Damaged(std::string_view what) const override { return lines_.Damaged(what); }

 private:
  std::string Parse(std::string_view line, ReadRequest* request) {
    SplitFields(line, ',', &fields_);
    if (fields_.size() != kColumns) {
      return fmt::format("it has {} columns, not the {} of {}", fields_.size(), +kColumns,
                         kCloudPhysicsNames);
    }
    uint64_t version = 0, bytes = 0;
    std::string wrong = ReadCount("version", fields_[kVersion], UINT64_MAX, &version);
    if (wrong.empty()) wrong = ReadCount("time", fields_[kTime], UINT64_MAX, &request->time_s);
    if (wrong.empty()) wrong = ReadCount("size", fields_[kSize], UINT64_MAX, &bytes);
    if (wrong.empty()) wrong = ReadCount("lbn", fields_[kBlock], UINT64_MAX, &request->key);
    request->value_bytes = SizeIfKnown(bytes, false);
    return wrong;
  }

  LineSource lines_;
  bool has_begun_ = false;
  std::vector<std::string_view> fields_;
};

}  // namespace

MadeReader MakeCloudPhysicsReader(std::unique_ptr<ByteSource> source, const TraceOptions&) {
  return std::unique_ptr<TraceReader>(std::make_unique<CloudPhysicsReader>(std::move(source)));
}

}  // namespace weft::bench
