// bench/trace/parsed_reader.h: a reader of a format in which each line or record is a request by
// itself: a source of these, and a function that parses one and returns "" or what is wrong.
//
// Threads, errors   see bench/trace/reader.h.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "bench/trace/reader.h"

namespace weft::bench {

// Source: LineSource or RecordSource. kMore: what it is made of besides the bytes.
template <typename Source, auto kParse, auto... kMore>
class ParsedReader final : public TraceReader {
 public:
  explicit ParsedReader(std::unique_ptr<ByteSource> source)
      : source_(std::move(source), kMore...) {}

  Result<bool> Next(ReadRequest* request) override {
    std::string_view text;
    auto more = source_.Next(&text);
    if (!more || !*more) return more;
    const std::string wrong = kParse(text, request);
    if (!wrong.empty()) return Damaged(wrong);
    return true;
  }
  Status Damaged(std::string_view what) const override { return source_.Damaged(what); }

 private:
  Source source_;
};

}  // namespace weft::bench
