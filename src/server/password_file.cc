#include "server/password_file.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

namespace weft::server {
namespace {

// The file's text, which is overwritten when it is no longer needed. A file that is longer by a
// byte than any that is accepted is refused for its ninth line, or for a long one.
struct Secret {
  ~Secret() { OPENSSL_cleanse(text.data(), text.size()); }
  std::array<char, PasswordFile::kLinesMax*(PasswordFile::kLineBytesMax + 2) + 1> text = {};
  size_t bytes = 0;
};

Status ReadSecret(const std::string& path, Secret* secret) {
  // A pipe would have the loop wait that reads it again.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Status::FromErrno(path, errno);
  struct stat about = {};
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(fd);
    return {Code::kInvalidArgument, path + " is no regular file"};
  }
  ssize_t n = 0;
  do {
    n = read(fd, secret->text.data() + secret->bytes, secret->text.size() - secret->bytes);
    if (n > 0) secret->bytes += static_cast<size_t>(n);
  } while (n > 0 || (n < 0 && errno == EINTR));
  const Status status = n < 0 ? Status::FromErrno(path, errno) : Status();
  close(fd);
  return status;
}

}  // namespace

std::string PasswordFile::PathOfEnvironment() {
  const char* const path = std::getenv("MEMCACHED_SASL_PWDB");
  return path == nullptr ? "" : path;
}

Result<PasswordFile> PasswordFile::Read(const std::string& path, Form form) {
  Secret secret;
  if (Status status = ReadSecret(path, &secret); !status.ok()) return status;
  const auto refused = [&path](size_t line, std::string_view why) {
    return Status(Code::kInvalidArgument, fmt::format("{}, line {}: {}", path, line, why));
  };
  PasswordFile file;
  std::string_view rest(secret.text.data(), secret.bytes);
  for (size_t number = 1; !rest.empty(); ++number) {
    if (number > kLinesMax) return refused(number, fmt::format("{} lines are allowed", kLinesMax));
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > kLineBytesMax)
      return refused(number, fmt::format("it is longer than {} bytes", kLineBytesMax));
    const size_t colon = line.find(':');
    if (colon == line.npos || colon == 0) return refused(number, "it should be user:password");
    std::string_view password = line.substr(colon + 1);
    if (form == Form::kSasl) password = password.substr(0, password.find(':'));
    if (password.empty()) return refused(number, "the password is empty");
    file.hashes_.push_back(HashOf(line.substr(0, colon), password));
  }
  if (file.hashes_.empty()) return Status(Code::kInvalidArgument, path + " names no user");
  return file;
}

bool PasswordFile::Admits(std::string_view user, std::string_view password) const {
  const Hash asked = HashOf(user, password);
  int is_there = 0;
  for (const Hash& hash : hashes_)
    is_there |= static_cast<int>(CRYPTO_memcmp(hash.data(), asked.data(), hash.size()) == 0);
  return is_there != 0;
}

// A NUL is in neither, so no two pairs have one text.
PasswordFile::Hash PasswordFile::HashOf(std::string_view user, std::string_view password) {
  std::string text;
  text.reserve(user.size() + 1 + password.size());
  text.append(user).append(1, '\0').append(password);
  Hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  OPENSSL_cleanse(text.data(), text.size());
  return hash;
}

}  // namespace weft::server
