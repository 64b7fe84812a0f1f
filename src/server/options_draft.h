// server/options_draft.h: options while the command line is being read. Only for options*.cc.
//
// Threads: values; one thread.
#pragma once

#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "server/options.h"

namespace weft::server {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;

struct Draft {
  ParsedOptions* parsed;
  ServerOptions* options;
  bool prints = false;              // -h, -V, -i: nothing is served
  std::string steers_data = {};     // a flag that was given and needs --data
  std::string steers_planner = {};  // ... and needs --plan auto
  bool binds = false;               // -B was given
  int32_t udp_port = 0;             // -U
  bool seals = false;               // -Z was given
  net::TlsOptions tls = {};         // what -o says about it
  std::string steers_tls = {};      // a suboption that was given and needs -Z
  std::string listen_text = {};     // -l, all of them joined by commas; empty: none given

  // One line for a flag that is accepted and steers nothing.
  void NoEffect(std::string_view flag, std::string_view reason) {
    parsed->notes.push_back(std::string(flag) + " has no effect: " + std::string(reason));
  }
};

// One flag. `take` gets the value, or nothing for a flag that has none.
struct Flag {
  const char* group;
  const char* names;
  const char* value_name;  // null: a flag without a value
  const char* help;
  Status (*take)(Draft& draft, std::string_view value);
};
// In the order of the help text.
std::span<const Flag> Flags();

inline Status BadUsage(std::string message) {
  return Status(Code::kInvalidArgument, std::move(message));
}

// Why base::ParseNumber refuses `text`: `complaint`, or that it is too large, where that is the
// reason.
template <typename Number>
Status RefusedNumber(std::string_view text, std::string complaint) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool beyond = error == std::errc::result_out_of_range && end == text.data() + text.size();
  if (!beyond || text.front() == '-') return BadUsage(std::move(complaint));
  constexpr bool fraction = std::is_floating_point_v<Number>;  // may be too small, too
  return BadUsage(fraction ? "the number is out of range" : "the number is too large");
}

// TLS: options_tls.cc. A suboption of -o; then all of them together; then an address of -l.
Status TakeTls(Draft& draft, std::string_view name, std::string_view value);
Status ResolveTls(Draft& draft);
Status CheckTls(const Draft& draft, net::TlsMode mode);

// Takes -o's comma list.
Status TakeExtended(Draft& draft, std::string_view list);
// What -o may say, for the help text.
std::string ExtendedHelp();

}  // namespace weft::server
