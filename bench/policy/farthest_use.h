// bench/policy/farthest_use.h: records by their next use, the farthest first.
//
// Layout    a binary heap, and where in it each record is.
// Memory    4 bytes a record and 8 bytes one that is in it.
// Threads   one at a time.
// Cost      a logarithm of those in it.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::bench {

class FarthestUse {
 public:
  explicit FarthestUse(uint32_t records) : places_(records, kNowhere) {}

  bool Has(uint32_t record) const { return places_[record] != kNowhere; }
  bool empty() const { return heap_.empty(); }
  // Enters it, or moves it if it is already there.
  void Put(uint32_t record, uint32_t next_use);
  // REQUIRES: Has(record)
  void Remove(uint32_t record);
  // REQUIRES: !empty()
  uint32_t farthest() const { return heap_.front().record; }

 private:
  static constexpr uint32_t kNowhere = UINT32_MAX;

  struct Entry {
    uint32_t next_use;
    uint32_t record;
  };

  // Both write the entry to its proper place, from `place` on, over whatever is there.
  void Up(uint32_t place, Entry entry);
  void Down(uint32_t place, Entry entry);
  void Write(uint32_t place, Entry entry);

  std::vector<Entry> heap_;
  std::vector<uint32_t> places_;  // by record
};

}  // namespace weft::bench
