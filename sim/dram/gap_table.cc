#include "sim/dram/gap_table.h"

#include <algorithm>

namespace weft::sim {

GapTable MakeGapTable(const Timing& t) {
  using enum Command;
  using enum Scope;
  // The direction turns when the last data left the bus, and it rested.
  const int read_to_write = t.cl + t.tburst + t.trtrs - t.cwl;
  const int write_to_read_of_other = std::max(1, t.cwl + t.tburst + t.trtrs - t.cl);
  const int written = t.cwl + t.tburst;

  GapTable table;
  table[static_cast<size_t>(kActivate)] = {
      {kActivate, kBank, t.trc},   {kRead, kBank, t.trcd_rd},    {kWrite, kBank, t.trcd_wr},
      {kPrecharge, kBank, t.tras}, {kActivate, kRank, t.trrd_s}, {kActivate, kBankGroup, t.trrd_l},
  };
  table[static_cast<size_t>(kPrecharge)] = {
      {kActivate, kBank, t.trp},
      {kRefresh, kRank, t.trp},
  };
  table[static_cast<size_t>(kRead)] = {
      {kPrecharge, kBank, t.trtp},
      {kRead, kBankGroup, std::max(t.tburst, t.tccd_l)},
      {kRead, kRank, std::max(t.tburst, t.tccd_s)},
      {kRead, kOtherRanks, t.tburst + t.trtrs},
      {kWrite, kRank, read_to_write},
      {kWrite, kOtherRanks, read_to_write},
  };
  table[static_cast<size_t>(kWrite)] = {
      {kPrecharge, kBank, written + t.twr},
      {kWrite, kBankGroup, std::max(t.tburst, t.tccd_l_wr)},
      {kWrite, kRank, std::max(t.tburst, t.tccd_s)},
      {kWrite, kOtherRanks, t.tburst + t.trtrs},
      {kRead, kBankGroup, written + t.twtr_l},
      {kRead, kRank, written + t.twtr_s},
      {kRead, kOtherRanks, write_to_read_of_other},
  };
  table[static_cast<size_t>(kRefresh)] = {
      {kActivate, kRank, t.trfc},
      {kRefresh, kRank, t.trfc},
  };
  return table;
}

}  // namespace weft::sim
