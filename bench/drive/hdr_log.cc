#include "bench/drive/hdr_log.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/base64.h"
#include "bench/drive/deflate.h"
#include "bench/drive/hdr_encoding.h"

namespace weft::bench {
namespace {

constexpr uint32_t kCompressedCookie = 0x1c849304 | 0x10;
constexpr double kMaxUnitsNs = 1e6;  // of an interval's maximum, by custom
constexpr double kTimeMaxS = 1e11;   // the year 5138

// A log has no sign and no exponent.
bool IsTime(double seconds) { return seconds >= 0 && seconds < kTimeMaxS; }

bool IsTag(std::string_view tag) {
  return std::none_of(tag.begin(), tag.end(), [](unsigned char c) { return c <= ' ' || c == ','; });
}

Result<std::string> HistogramText(const base::Histogram& histogram) {
  const auto compressed = Deflate(EncodeHdr(histogram));
  if (!compressed) return compressed.error();
  std::string bytes;
  AppendBigEndian(kCompressedCookie, &bytes);
  AppendBigEndian(static_cast<uint32_t>(compressed.value().size()), &bytes);
  bytes += compressed.value();
  std::string text(base::Base64Bytes(bytes.size()), '\0');
  base::Base64Encode(bytes, text.data());
  return text;
}

std::string Head(double start_time_s) {
  return fmt::format(
      "#[Logged with weft-bench]\n"
      "#[Histogram log format version 1.3]\n"
      "#[StartTime: {0:.3f} (seconds since epoch), {1:%FT%TZ}]\n"
      "#[BaseTime: {0:.3f} (seconds since epoch)]\n"
      "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
      start_time_s, fmt::gmtime(static_cast<std::time_t>(start_time_s)));
}

}  // namespace

Result<HdrLog> HdrLog::Open(const std::string& path, double start_time_s) {
  // Told now, not after the first interval.
  if (const auto probe = Deflate(""); !probe) return probe.error();
  if (!IsTime(start_time_s)) {
    return Status(Code::kInvalidArgument, fmt::format("{}: start time {} s", path, start_time_s));
  }
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return Status::FromErrno("open " + path, errno);
  HdrLog log(path, file);
  if (Status status = log.Write(Head(start_time_s)); !status.ok()) return status;
  return log;
}

Status HdrLog::Add(std::string_view tag, double start_s, double length_s,
                   const base::Histogram& latency_ns) {
  if (!IsTag(tag)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: tag '{}' has a comma or blank", path_, tag));
  }
  if (!IsTime(start_s) || !IsTime(length_s)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: an interval from {} s for {} s", path_, start_s, length_s));
  }
  const auto text = HistogramText(latency_ns);
  if (!text) return text.error();
  return Write(fmt::format("{}{}{}{:.3f},{:.3f},{:.3f},{}\n", tag.empty() ? "" : "Tag=", tag,
                           tag.empty() ? "" : ",", start_s, length_s,
                           static_cast<double>(latency_ns.max()) / kMaxUnitsNs, text.value()));
}

Status HdrLog::Write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
      std::fflush(file_.get()) != 0) {
    return Status::FromErrno("write " + path_, errno);
  }
  return {};
}

}  // namespace weft::bench
