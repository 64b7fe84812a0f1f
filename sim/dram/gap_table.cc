#include "sim/dram/gap_table.h"

#include <algorithm>
#include <initializer_list>

namespace weft::sim {
namespace {

void Add(GapTable& table, Command command, std::initializer_list<Gap> gaps) {
  auto& of_command = table[static_cast<size_t>(command)];
  of_command.insert(of_command.end(), gaps);
}

void AddRefreshOfBanks(const Timing& t, GapTable& table) {
  using enum Command;
  using enum Scope;
  Add(table, kActivate,
      {{kRefreshBank, kBank, t.trc},
       {kRefreshBank, kBankGroup, t.trrd_l},
       {kRefreshBank, kRank, t.trrd_s}});
  Add(table, kPrecharge, {{kRefreshBank, kBank, t.trp}});
  Add(table, kRefreshBank,
      {{kActivate, kBank, t.trfc_pb},
       {kRefreshBank, kBank, t.trfc_pb},
       {kActivate, kRank, t.trrefd},
       {kRefreshBank, kRank, t.trrefd},
       {kRefresh, kRank, t.trfc_pb}});
  Add(table, kRefresh, {{kRefreshBank, kRank, t.trfc}});
}

void AddPowerDown(const Timing& t, GapTable& table) {
  using enum Command;
  using enum Scope;
  Add(table, kPrecharge, {{kPowerDown, kRank, t.trp}});  // WR's end is before PRE
  Add(table, kRead, {{kPowerDown, kRank, t.cl + t.tburst + 1}});
  Add(table, kRefreshBank, {{kPowerDown, kRank, t.trfc_pb}});
  Add(table, kRefresh, {{kPowerDown, kRank, t.trfc}});
  Add(table, kPowerDown, {{kPowerUp, kRank, t.tcke}});
  // Its banks are closed, so that RD and WR come later than ACT.
  Add(table, kPowerUp,
      {{kActivate, kRank, t.txp},
       {kRefresh, kRank, t.txp},
       {kRefreshBank, kRank, t.txp},
       {kPowerDown, kRank, t.tcke}});
}

}  // namespace

GapTable MakeGapTable(const Timing& t, bool powers_down) {
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
  // Only what is used: a command costs its gaps.
  if (t.trfc_pb > 0) AddRefreshOfBanks(t, table);
  if (powers_down) AddPowerDown(t, table);
  return table;
}

}  // namespace weft::sim
