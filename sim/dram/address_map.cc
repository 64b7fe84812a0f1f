#include "sim/dram/address_map.h"

#include <bit>
#include <string>

namespace weft::sim {

Result<Interleave> ParseInterleave(std::string_view name) {
  if (name == "rank-il") return Interleave::kRank;
  if (name == "scheme2") return Interleave::kScheme2;
  if (name == "row-il") return Interleave::kRow;
  if (name == "xor-bank") return Interleave::kXorBank;
  return Status(Code::kInvalidArgument, "map '" + std::string(name) +
                                            "' must be one of: rank-il, scheme2, row-il, xor-bank");
}

AddressMap::AddressMap(Interleave interleave, const Organization& organization)
    : lines_(organization.lines()),
      turned_bank_bits_(interleave == Interleave::kXorBank
                            ? static_cast<uint32_t>(organization.banks() - 1)
                            : 0) {
  static constexpr std::array<std::array<Field, kFields>, 4> kLowestFirst = {{
      {kChannel, kRank, kBank, kColumn, kRow},
      {kRank, kBank, kColumn, kRow, kChannel},
      {kColumn, kBank, kRank, kChannel, kRow},
      {kChannel, kRank, kBank, kColumn, kRow},
  }};
  const std::array<uint64_t, kFields> counts = {
      static_cast<uint64_t>(organization.channels), static_cast<uint64_t>(organization.ranks),
      static_cast<uint64_t>(organization.banks()), organization.rows, organization.lines_per_row()};
  int shift = 0;
  for (const Field field : kLowestFirst[static_cast<size_t>(interleave)]) {
    bits_[field] = {shift, std::countr_zero(counts[field])};
    shift += bits_[field].count;
  }
}

Place AddressMap::PlaceOf(uint64_t line) const {
  const auto row = static_cast<uint32_t>(Get(line, kRow));
  const auto bank = static_cast<uint32_t>(Get(line, kBank)) ^ (row & turned_bank_bits_);
  return {.channel = static_cast<int>(Get(line, kChannel)),
          .rank = static_cast<int>(Get(line, kRank)),
          .bank = static_cast<int>(bank),
          .row = row,
          .column = static_cast<uint32_t>(Get(line, kColumn))};
}

uint64_t AddressMap::LineOf(const Place& place) const {
  const uint64_t bank = static_cast<uint64_t>(place.bank) ^ (place.row & turned_bank_bits_);
  return static_cast<uint64_t>(place.channel) << bits_[kChannel].shift |
         static_cast<uint64_t>(place.rank) << bits_[kRank].shift | bank << bits_[kBank].shift |
         static_cast<uint64_t>(place.row) << bits_[kRow].shift |
         static_cast<uint64_t>(place.column) << bits_[kColumn].shift;
}

}  // namespace weft::sim
