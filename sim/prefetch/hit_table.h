// sim/prefetch/hit_table.h: for each bucket, the slot where it was last hit, in as few bits as a
// slot's number takes. That is 3 for 8 slots, so a 2 GB index has a table of 12 MB. All are 0 at
// first; there is no valid bit.
//
//     bucket   0   1   2   3 ...
//     bits   0-2 3-5 6-8 9-11        little-endian in bytes
//
// Buckets past its end count as hit in slot 0, and are not learnt.
//
// Units     entries; bytes() is exact.
// Threads   one owner.
// Source    paper 004, section 3.3, "hit table"; the simulator's specification, section 1.3.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::sim {

class HitTable {
 public:
  // REQUIRES: 1 <= slots_per_bucket <= 128
  HitTable(uint64_t buckets, int slots_per_bucket)
      : buckets_(buckets),
        bits_(std::bit_width(static_cast<unsigned>(slots_per_bucket - 1))),
        bytes_((buckets * static_cast<uint64_t>(bits_) + 7) / 8) {}

  uint64_t bytes() const { return bytes_.size(); }

  int Predict(uint64_t bucket) const {
    if (bucket >= buckets_) return 0;
    int slot = 0;
    for (int bit = 0; bit < bits_; ++bit) {
      const Place place = PlaceOf(bucket, bit);
      slot |= (bytes_[place.byte] >> place.shift & 1) << bit;
    }
    return slot;
  }
  // REQUIRES: slot < slots_per_bucket
  void Learn(uint64_t bucket, int slot) {
    if (bucket >= buckets_) return;
    for (int bit = 0; bit < bits_; ++bit) {
      const Place place = PlaceOf(bucket, bit);
      const auto mask = static_cast<uint8_t>(1 << place.shift);
      uint8_t& byte = bytes_[place.byte];
      byte = static_cast<uint8_t>((slot >> bit & 1) != 0 ? byte | mask : byte & ~mask);
    }
  }

 private:
  struct Place {
    size_t byte;
    int shift;
  };
  Place PlaceOf(uint64_t bucket, int bit) const {
    const uint64_t at = bucket * static_cast<uint64_t>(bits_) + static_cast<uint64_t>(bit);
    return {at / 8, static_cast<int>(at % 8)};
  }

  const uint64_t buckets_;
  const int bits_;
  std::vector<uint8_t> bytes_;
};

}  // namespace weft::sim
