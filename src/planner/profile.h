// planner/profile.h: what the planner knows of a workload, and when it has changed.
//
// Threads   values; pure functions.
// Source    paper 000, section III-A: GET ratio and mean sizes by counters; 10 % are a change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::planner {

// What chance explains of differences: beyond it are 6 of 10 million comparisons, and a busy
// planner makes some thousand a second.
inline constexpr double kChanceDeviations = 5;

// Shares are of the queries about a key; sizes in bytes.
struct Profile {
  double get_share = 1;     // reads
  double delete_share = 0;  // deletes; all else stores
  double hit_share = 1;     // of the reads
  double key_bytes = 16;
  double value_bytes = 64;     // of what was found or stored
  double zipf = 0;             // exponent of the keys' popularity; 0: uniform
  double objects = 1e6;        // in the store
  double batch_queries = 0;    // mean; 0: as large as the latency interval allows
  double looks_per_store = 0;  // at objects of victims, to make room (cache/emptying.h)
  // Queries that the shares and sizes were counted over: how far chance may have moved them.
  // 0: they are exact.
  double counted = 0;

  double store_share() const { return 1 - get_share - delete_share; }
};

// Whether `to` is so far from `from` that another plan may be the better one: a share, a mean or
// the skew differs by more than `threshold` of itself, and by more than chance explains.
// Of batches' sizes, which follow the load, three times as much.
bool HasMoved(const Profile& from, const Profile& to, double threshold = 0.1);

// All that has, for people: "GET share 0.95 to 1.00, value bytes 64.0 to 8.0". Empty: nothing.
std::string WhatMoved(const Profile& from, const Profile& to, double threshold = 0.1);

// One of the 24 workloads of paper 000 (section V-A), or another of that form: K16-G95-S is keys of
// 16 bytes with values of 64, 95 % GETs, Zipf with exponent 0.99 (U: uniform). kInvalidArgument
// with the reason for other texts.
Result<Profile> ProfileOfWorkload(std::string_view name);

// In words and figures, for people.
std::string Describe(const Profile& profile);

}  // namespace weft::planner
