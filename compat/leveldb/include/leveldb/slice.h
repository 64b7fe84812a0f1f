// compat/leveldb/include/leveldb/slice.h: a pointer and a length: bytes that somebody else keeps.
//
// Threads   a value; const calls from several threads at once.
// Lifetime  the bytes must live as long as the slice is used.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <string>

#include "leveldb/export.h"

namespace leveldb {

class LEVELDB_EXPORT Slice {
 public:
  Slice() : data_(""), size_(0) {}
  Slice(const char* d, size_t n) : data_(d), size_(n) {}
  // Implicit, so that a slice may be a string or a literal.
  Slice(const std::string& s) : data_(s.data()), size_(s.size()) {}  // NOLINT
  Slice(const char* s) : data_(s), size_(std::strlen(s)) {}          // NOLINT

  Slice(const Slice&) = default;
  Slice& operator=(const Slice&) = default;

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // REQUIRES: n < size()
  char operator[](size_t n) const {
    assert(n < size_);
    return data_[n];
  }

  void clear() { *this = Slice(); }
  // REQUIRES: n <= size()
  void remove_prefix(size_t n) {
    assert(n <= size_);
    data_ += n;
    size_ -= n;
  }

  std::string ToString() const { return std::string(data_, size_); }

  // Below 0, 0 or above 0 in the order of unsigned bytes, a prefix first.
  int compare(const Slice& b) const {
    const size_t common = size_ < b.size_ ? size_ : b.size_;
    const int order = common == 0 ? 0 : std::memcmp(data_, b.data_, common);
    if (order != 0) return order;
    return size_ == b.size_ ? 0 : (size_ < b.size_ ? -1 : +1);
  }

  bool starts_with(const Slice& x) const {
    return size_ >= x.size_ && (x.size_ == 0 || std::memcmp(data_, x.data_, x.size_) == 0);
  }

 private:
  const char* data_;
  size_t size_;
};

inline bool operator==(const Slice& x, const Slice& y) {
  return x.size() == y.size() && x.starts_with(y);
}
inline bool operator!=(const Slice& x, const Slice& y) { return !(x == y); }

}  // namespace leveldb
