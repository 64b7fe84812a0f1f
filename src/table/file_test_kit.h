// table/file_test_kit.h: what the tests of this room share: files in memory and made-up keys.
//
// Threads   one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/seed_test_kit.h"
#include "weft/file_system.h"

namespace weft::table {

using base::TestSeed;

class StringFile final : public WritableFile {
 public:
  Status Append(std::string_view data) override {
    if (contents_.size() + data.size() > bytes_max_) return {Code::kIoError, "test: disk is full"};
    contents_.append(data);
    appends_++;
    return Status::Ok();
  }
  Status Flush() override { return Status::Ok(); }
  Status Sync() override { return Status::Ok(); }
  Status Close() override { return Status::Ok(); }

  void set_bytes_max(size_t bytes) { bytes_max_ = bytes; }
  const std::string& contents() const { return contents_; }
  int appends() const { return appends_; }

 private:
  std::string contents_;
  size_t bytes_max_ = ~size_t{0};
  int appends_ = 0;
};

// The shapes that keys and values take in tests.
class Strings {
 public:
  explicit Strings(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t limit) { return random_.Below(limit); }
  // Any bytes, `bytes` of them.
  std::string Bytes(size_t bytes) {
    std::string text(bytes, '\0');
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
      const uint64_t word = random_.Next();
      std::memcpy(text.data() + at, &word, std::min(bytes - at, sizeof word));
    }
    return text;
  }
  // Text that halves under compression.
  std::string Compressible(size_t bytes) {
    const std::string half = Bytes(bytes / 2 + 1);
    return (half + half).substr(0, bytes);
  }
  // Empty, short, long, with a shared beginning, ending in 0xff, of zeros.
  std::string Key() {
    switch (Below(8)) {
      case 0: return Bytes(Below(3));
      case 1: return "user/profile/" + std::to_string(Below(100000));
      case 2: return std::string(Below(12), '\xff') + Bytes(Below(2));
      case 3: return std::string(Below(12), '\0') + Bytes(Below(2));
      case 4: return Bytes(Below(300));
      case 5: return std::string(Below(40), 'a') + Bytes(Below(4));
      default: return Bytes(8 + Below(16));
    }
  }

 private:
  base::Random random_;
};

}  // namespace weft::table
