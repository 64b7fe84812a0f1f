// sim/dram/organization.h: the counts of a memory: channels, ranks, banks, rows, columns.
//
// Units     counts; bits and bytes where the name says so. A line is 64 bytes.
// Threads   values.
// Errors    kInvalidArgument: a count is no power of two, or more than the controller keeps track
//           of.
// Source    the simulator's specification, section 2.1 and 2.4.
#pragma once

#include <cstdint>

#include "weft/status.h"

namespace weft::sim {

inline constexpr int kLineBytes = 64;

struct Organization {
  int channels;
  int ranks;        // of a channel
  int bank_groups;  // of a rank
  int banks_per_group;
  uint32_t rows;     // of a bank
  uint32_t columns;  // of a row; each is as wide as the channel
  int channel_bits;
  int burst_bytes;
  int devices;  // of a rank: they draw the currents
  // Row commands and column commands have a bus each, and may go in the same clock.
  bool has_column_bus = false;

  bool operator==(const Organization&) const = default;

  int banks() const { return bank_groups * banks_per_group; }  // of a rank
  // Banks are numbered through the groups in turns, so that neighbours are in different groups.
  int GroupOf(int bank) const { return bank & (bank_groups - 1); }
  uint32_t lines_per_row() const {
    return columns * static_cast<uint32_t>(channel_bits / 8) / kLineBytes;
  }
  // A line takes several column commands if a burst is shorter.
  int bursts_per_line() const { return kLineBytes / burst_bytes; }
  uint64_t lines() const {
    return static_cast<uint64_t>(channels) * ranks * banks() * rows * lines_per_row();
  }
};

Status Validate(const Organization& organization);

}  // namespace weft::sim
