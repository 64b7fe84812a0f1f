// bench/drive/hdr_log.h: histograms of intervals in a file that HdrHistogram's tools read, such as
// HistogramLogProcessor, whose percentiles hdr-plot draws, and HistogramLogAnalyzer.
//
// Layout    log format version 1.3: comments with the version, start time and base time, a legend,
//           then a line an interval: [Tag=NAME,]start,length,max,histogram. The histogram is the
//           base64 of: cookie u32, bytes u32 (big-endian), and the compressed bytes of
//           bench/drive/hdr_encoding.h.
// Units     histograms hold nanoseconds. In the file, start (since the log's) and length are
//           seconds, and max, which is exact, milliseconds. All three have three decimals.
// Threads   one owner.
// Errors    Open: kIoError; kUnsupported without zlib, and then no file is made. Add: kIoError,
//           such as a full disk. Both: kInvalidArgument for what the format cannot say.
// Cost      zlib's, which grows with the cells in use: not for a thread that is being measured. An
//           interval is in the file when Add returns, so a log can be read while it grows.
// Source    HdrHistogram's HistogramLogWriter.java and HistogramLogReader.java, by G. Tene.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/histogram.h"
#include "weft/status.h"

namespace weft::bench {

class HdrLog {
 public:
  // Makes the file anew. `start_time_s`: seconds since the epoch.
  static Result<HdrLog> Open(const std::string& path, double start_time_s);

  // `tag`: whose the interval is, without commas and blanks; empty: none. Tools look at one tag at
  // a time; if none is named, at intervals without. Intervals must come in order of their start.
  Status Add(std::string_view tag, double start_s, double length_s,
             const base::Histogram& latency_ns);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  HdrLog(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  Status Write(std::string_view text);

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace weft::bench
