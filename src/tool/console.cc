#include "tool/console.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/clock.h"

namespace weft::tool {

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

}  // namespace

Exit Fail(const Console& console, const Status& status) {
  const bool is_damage = status.code() == Code::kCorruption;
  // What kind of error it is the message says by itself.
  console.err << "weft db: "
              << (is_damage || status.message().empty() ? status.ToString() : status.message())
              << '\n';
  return is_damage ? Exit::kDamaged : Exit::kCannotRun;
}

Progress::Progress(std::ostream& err, std::string what)
    : err_(err), what_(std::move(what)), next_ns_(base::NowNs() + kSecondNs) {}

void Progress::At(uint64_t done, uint64_t total, std::string_view where) {
  const uint64_t now = base::NowNs();
  if (now < next_ns_) return;
  next_ns_ = now + kSecondNs;
  err_ << what_ << ": " << BytesText(done) << " of " << BytesText(total) << ", " << where << '\n';
}

std::string BytesText(uint64_t bytes) {
  static constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  if (bytes < 1024) return std::to_string(bytes) + kUnits[0];
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); unit++) value /= 1024;
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 1).ptr;
  return std::string(text.data(), end) + kUnits[unit];
}

}  // namespace weft::tool
