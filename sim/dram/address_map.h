// sim/dram/address_map.h: which channel, rank, bank, row and column a line lies in.
//
// rank-il   row, column, bank, rank, channel, the most significant first: neighbouring lines take
//           channels and ranks in turns. The default.
// scheme2   channel, row, column, bank, rank: DRAMSim2's only one with the rank lowest. Anything of
//           less than half of the memory is in one channel.
// row-il    row, channel, rank, bank, column: neighbours share a row.
// xor-bank  rank-il with the bank's bits flipped by as many of the row's lowest.
//
// Units     lines of 64 bytes.
// Threads   const after construction.
// Errors    kInvalidArgument: there is no map of that name.
// Source    the simulator's specification, section 2.3.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/dram/organization.h"
#include "weft/status.h"

namespace weft::sim {

// Where a line is. `column` counts lines in the row, `bank` the banks of a rank.
struct Place {
  int channel = 0;
  int rank = 0;
  int bank = 0;
  uint32_t row = 0;
  uint32_t column = 0;

  bool operator==(const Place&) const = default;
};

enum class Interleave : uint8_t { kRank, kScheme2, kRow, kXorBank };

Result<Interleave> ParseInterleave(std::string_view name);

class AddressMap {
 public:
  // REQUIRES: Validate(organization).ok()
  AddressMap(Interleave interleave, const Organization& organization);

  // REQUIRES: line < lines()
  Place PlaceOf(uint64_t line) const;
  // The line for which PlaceOf returns `place`.
  uint64_t LineOf(const Place& place) const;
  uint64_t lines() const { return lines_; }

 private:
  enum Field : uint8_t { kChannel, kRank, kBank, kRow, kColumn, kFields };
  struct Bits {
    int shift = 0;
    int count = 0;
  };

  uint64_t Get(uint64_t line, Field field) const {
    return line >> bits_[field].shift & ((uint64_t{1} << bits_[field].count) - 1);
  }

  std::array<Bits, kFields> bits_{};
  uint64_t lines_;
  uint32_t turned_bank_bits_;  // of the row; 0: none
};

}  // namespace weft::sim
