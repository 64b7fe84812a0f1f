// sim/record/arena_map.h: where the memory of a recorded store lies in the traced memory.
//
// Each arena begins at a multiple of 2 MiB behind the one before it, the first at 0. So records
// don't depend on where the system put the memory.
//
// Units     bytes.
// Threads   one owner.
// Source    the simulator's specification, section 3.5.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::sim {

enum class ArenaKind : uint8_t {
  kIndex,   // the table's buckets
  kLog,     // objects
  kBuffer,  // what a batch reads its keys from and writes its replies to
  kOther,   // counters that many queries share
};

struct Arena {
  const uint8_t* begin = nullptr;
  uint64_t bytes = 0;
  uint64_t base = 0;  // in the traced memory
  ArenaKind kind = ArenaKind::kOther;

  bool Has(const void* at) const {
    const auto* const byte = static_cast<const uint8_t*>(at);
    return byte >= begin && byte < begin + bytes;
  }
  uint64_t OffsetOf(const void* at) const {
    return base + static_cast<uint64_t>(static_cast<const uint8_t*>(at) - begin);
  }
};

class ArenaMap {
 public:
  static constexpr uint64_t kAlignment = uint64_t{2} << 20;

  // REQUIRES: it overlaps none that is there
  const Arena& Add(const void* begin, uint64_t bytes, ArenaKind kind) {
    const uint64_t base = (limit_ + kAlignment - 1) / kAlignment * kAlignment;
    limit_ = base + bytes;
    arenas_.push_back({static_cast<const uint8_t*>(begin), bytes, base, kind});
    return arenas_.back();
  }
  // Null if nothing traced lies there.
  const Arena* Find(const void* at) const {
    for (const Arena& arena : arenas_) {
      if (arena.Has(at)) return &arena;
    }
    return nullptr;
  }
  const std::vector<Arena>& arenas() const { return arenas_; }
  uint64_t limit() const { return limit_; }  // of the traced memory that is used

 private:
  std::vector<Arena> arenas_;
  uint64_t limit_ = 0;
};

}  // namespace weft::sim
