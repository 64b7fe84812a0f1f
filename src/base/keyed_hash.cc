#include "base/keyed_hash.h"

#include <sys/random.h>

#include <cerrno>

namespace weft::base {

Result<KeyedHash> KeyedHash::Random() {
  KeyedHash hash;
  auto* const bytes = reinterpret_cast<uint8_t*>(&hash.secret_);
  for (size_t done = 0; done < sizeof hash.secret_;) {
    const ssize_t got = getrandom(bytes + done, sizeof hash.secret_ - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Status::FromErrno("get random numbers for the hash of keys", errno);
    done += static_cast<size_t>(got);
  }
  return hash;
}

KeyedHash KeyedHash::FromSeed(uint64_t seed) {
  KeyedHash hash;
  auto* const bytes = reinterpret_cast<uint8_t*>(&hash.secret_);
  for (size_t at = 0; at < sizeof hash.secret_; at += sizeof seed) {
    seed += 0x9e3779b97f4a7c15u;
    const uint64_t word = Mixed(seed);
    std::memcpy(bytes + at, &word, sizeof word);
  }
  return hash;
}

}  // namespace weft::base
