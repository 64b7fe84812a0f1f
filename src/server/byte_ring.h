// server/byte_ring.h: a bounded queue of bytes between two threads, without a lock.
//
// What is written is there as a whole or not at all: a writer never waits for room.
//
// Threads   one writes (Write, writable), another reads (readable, Read, Peek, Drop).
// Memory    as given, once; what was never written is not touched.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string_view>

namespace weft::server {

class ByteRing {
 public:
  explicit ByteRing(size_t bytes)
      : bytes_(bytes), data_(std::make_unique_for_overwrite<char[]>(bytes)) {}
  ByteRing(const ByteRing&) = delete;
  ByteRing& operator=(const ByteRing&) = delete;

  size_t size() const { return bytes_; }

  // The writer's. All of `pieces`, one behind the other. False: there is no room, and nothing was
  // written.
  bool Write(std::initializer_list<std::string_view> pieces) {
    size_t wanted = 0;
    for (const std::string_view piece : pieces) wanted += piece.size();
    const uint64_t begin = written_.load(std::memory_order_relaxed);
    // Pairs with Drop: what is overwritten was read.
    if (wanted > bytes_ - (begin - read_.load(std::memory_order_acquire))) return false;
    uint64_t at = begin;
    for (const std::string_view piece : pieces) {
      Put(at, piece);
      at += piece.size();
    }
    written_.store(at, std::memory_order_release);  // pairs with written()
    return true;
  }

  // The reader's. How many bytes were ever written: those before it may be read.
  uint64_t written() const { return written_.load(std::memory_order_acquire); }
  uint64_t read() const { return read_.load(std::memory_order_relaxed); }
  size_t readable() const { return static_cast<size_t>(written() - read()); }
  // Copies `n` bytes that begin `offset` behind the first one. REQUIRES: they may be read
  void Peek(size_t offset, void* out, size_t n) const {
    const size_t at = static_cast<size_t>((read() + offset) % bytes_);
    const size_t front = std::min(n, bytes_ - at);
    std::memcpy(out, data_.get() + at, front);
    std::memcpy(static_cast<char*>(out) + front, data_.get(), n - front);
  }
  // REQUIRES: n <= readable()
  void Drop(size_t n) { read_.store(read() + n, std::memory_order_release); }
  void Read(void* out, size_t n) {
    Peek(0, out, n);
    Drop(n);
  }

 private:
  void Put(uint64_t position, std::string_view piece) {
    const size_t at = static_cast<size_t>(position % bytes_);
    const size_t front = std::min(piece.size(), bytes_ - at);
    std::memcpy(data_.get() + at, piece.data(), front);
    std::memcpy(data_.get(), piece.data() + front, piece.size() - front);
  }

  const size_t bytes_;
  const std::unique_ptr<char[]> data_;
  alignas(64) std::atomic<uint64_t> written_{0};
  alignas(64) std::atomic<uint64_t> read_{0};
};

}  // namespace weft::server
