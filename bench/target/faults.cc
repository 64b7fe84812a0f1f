#include "bench/target/faults.h"

#include <fmt/format.h>

namespace weft::bench {
namespace {

constexpr size_t kQuotedMax = 60;

std::string Told(std::string_view why, std::string_view answer) {
  std::string text = fmt::format("{}: \"", why);
  for (const char c : answer.substr(0, kQuotedMax)) {
    if (c == '\r') {
      text += "\\r";
    } else if (c == '\n') {
      text += "\\n";
    } else if (c < ' ' || c > '~') {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text + (answer.size() > kQuotedMax ? "\"..." : "\"");
}

}  // namespace

void Faults::Note(std::string_view why, std::string_view answer) {
  if (first_.empty()) first_ = Told(why, answer);
}

void Faults::Break(std::string_view why, std::string_view answer) {
  Note(why, answer);
  if (broken_.ok()) broken_ = Status(Code::kCorruption, Told(why, answer));
}

}  // namespace weft::bench
