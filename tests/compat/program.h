// tests/compat/program.h: helpers that the sample programs for LevelDB share: text, sums, random
// numbers.
//
// The programs know only LevelDB's interface and print all that it returns. So built against two
// libraries they must print the same.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/iterator.h"

namespace program {

// A string with everything that is no plain character as \xNN.
inline std::string Shown(const leveldb::Slice& bytes, size_t bytes_max = 40) {
  std::string text;
  for (size_t i = 0; i < bytes.size() && i < bytes_max; i++) {
    const unsigned char c = static_cast<unsigned char>(bytes[i]);
    char room[8];
    std::snprintf(room, sizeof room, c >= ' ' && c < 0x7f && c != '\\' ? "%c" : "\\x%02x", c);
    text += room;
  }
  if (bytes.size() > bytes_max) text += "... (" + std::to_string(bytes.size()) + ")";
  return text;
}

inline void Print(const char* what, const std::string& text) {
  std::printf("%-32s %s\n", what, text.c_str());
}
inline void Print(const char* what, const leveldb::Status& status) {
  Print(what, status.ToString());
}
inline void Print(const char* what, uint64_t number) { Print(what, std::to_string(number)); }
inline void PrintKind(const char* what, const leveldb::Status& s) {
  Print(what, std::string(s.ok() ? "ok " : "") + (s.IsNotFound() ? "not-found " : "") +
                  (s.IsCorruption() ? "corruption " : "") + (s.IsIOError() ? "io-error " : "") +
                  (s.IsNotSupportedError() ? "not-supported " : "") +
                  (s.IsInvalidArgument() ? "invalid-argument " : ""));
}

// FNV-1a over bytes and their lengths.
class Sum {
 public:
  void Add(const leveldb::Slice& bytes) {
    for (size_t i = 0; i < bytes.size(); i++) AddByte(static_cast<unsigned char>(bytes[i]));
    for (int i = 0; i < 4; i++) AddByte(static_cast<unsigned char>(bytes.size() >> (8 * i)));
    count_++;
  }
  std::string Text() const {
    char room[64];
    std::snprintf(room, sizeof room, "%llu items, sum %016llx",
                  static_cast<unsigned long long>(count_), static_cast<unsigned long long>(sum_));
    return room;
  }

 private:
  void AddByte(unsigned char byte) { sum_ = (sum_ ^ byte) * 1099511628211ull; }
  uint64_t sum_ = 14695981039346656037ull;
  uint64_t count_ = 0;
};

// The same numbers on every machine and with every library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t Next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return state_ >> 33;
  }
  uint64_t Below(uint64_t limit) { return Next() % limit; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // Bytes that compress to about a half.
  std::string Bytes(size_t size) {
    std::string bytes;
    while (bytes.size() < size) {
      const char c = static_cast<char>(Next());
      bytes.append(1 + Below(12), c);
    }
    bytes.resize(size);
    return bytes;
  }

 private:
  uint64_t state_;
};

inline std::string Scan(leveldb::Iterator* it) {
  Sum sum;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    sum.Add(it->key());
    sum.Add(it->value());
  }
  return sum.Text() + " " + it->status().ToString();
}
inline std::string ScanBack(leveldb::Iterator* it) {
  Sum sum;
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    sum.Add(it->key());
    sum.Add(it->value());
  }
  return sum.Text() + " " + it->status().ToString();
}
// The whole store, both ways.
inline void PrintContents(const char* what, leveldb::DB* db, const leveldb::ReadOptions& options) {
  leveldb::Iterator* it = db->NewIterator(options);
  Print(what, Scan(it));
  Print(what, ScanBack(it));
  delete it;
}

}  // namespace program
