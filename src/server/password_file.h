// server/password_file.h: who may enter: users and passwords from a file.
//
// A line is user:password; the first colon splits. In memory there is a hash of each line, no
// password. The form is that of memcached's -Y, and of its MEMCACHED_SASL_PWDB, where a further
// colon ends the password.
//
// Threads   immutable; any thread. A reload makes another one.
// Errors    kNotFound, kIoError: the file can't be read. kInvalidArgument: it is none of ours, with
//           the line's number; nothing of it is shown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.h"

namespace weft::server {

class PasswordFile {
 public:
  static constexpr size_t kLinesMax = 8;  // memcached drops those behind without a word
  static constexpr size_t kLineBytesMax = 256;
  enum class Form : uint8_t { kToken, kSasl };

  // What MEMCACHED_SASL_PWDB names; empty: nothing.
  static std::string PathOfEnvironment();
  static Result<PasswordFile> Read(const std::string& path, Form form);
  // Whether there is such a line. Takes the same time whatever is right about either.
  bool Admits(std::string_view user, std::string_view password) const;
  size_t size() const { return hashes_.size(); }

 private:
  using Hash = std::array<unsigned char, 32>;
  static Hash HashOf(std::string_view user, std::string_view password);

  std::vector<Hash> hashes_;
};

}  // namespace weft::server
