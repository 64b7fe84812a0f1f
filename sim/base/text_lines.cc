#include "sim/base/text_lines.h"

#include <cerrno>

#include <fmt/format.h>

namespace weft::sim {

Result<std::optional<std::string_view>> TextLines::Next(std::istream& in) {
  in.getline(room_.data(), static_cast<std::streamsize>(room_.size()));
  if (in.bad()) return Status::FromErrno("read " + name_, errno);
  const auto taken = static_cast<size_t>(in.gcount());  // with the break, where there is one
  if (in.fail() && taken == 0) return std::optional<std::string_view>();
  ++number_;
  if (in.fail()) return Wrong(fmt::format("a line has more than {} bytes", kBytesMax));
  return std::optional(std::string_view(room_.data(), in.eof() ? taken : taken - 1));
}

Status TextLines::Wrong(std::string_view what) const {
  return {Code::kInvalidArgument, fmt::format("{}:{}: {}", name_, number_, what)};
}

}  // namespace weft::sim
