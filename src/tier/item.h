// tier/item.h: the form in the durable store of an item, and of the tier's other state.
//
// Layout   of an item's value; numbers are little-endian; the store's key is the item's.
//    0  1  form        low half: 1; high half: marks (kMarkStale, ...)
//    1  4  generation  flushes that had been carried out when it was written
//    5  4  flags       the client's
//    9  4  expiry      second of 1970 at which it ends; 0: never
//   13  8  version     its cas
//   21  .  value
// The state lies under the empty key, which no client can send, in the same places. Its form is 2,
// its generation the greatest, and it has no expiry. Its flags are a generation above that of all
// items; its version is the bound of those that may have been given out. So whoever judges items
// only by generation and expiry keeps it. Behind that:
//   21  4  floor       items of a lower generation are flushed
//   25  4  flush at    second at which the next flush is due; 0: none
//
// Threads   pure.
// Errors    Decode* return false for bytes that are none.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace weft::tier {

inline constexpr size_t kGenerationOffset = 1;
inline constexpr size_t kExpiryOffset = 9;
inline constexpr size_t kItemHeaderBytes = 21;

inline constexpr uint8_t kMarkStale = 1;      // md I
inline constexpr uint8_t kMarkWinSent = 2;    // somebody was asked to refresh it
inline constexpr uint8_t kMarkBinaryKey = 4;  // the key came as base64

struct Item {
  uint8_t marks = 0;
  uint32_t generation = 0;
  uint32_t client_flags = 0;
  uint32_t expiry = 0;
  uint64_t version = 0;
  std::string_view value;
};

// Replaces *out.
void EncodeItem(const Item& item, std::string* out);
// item->value points into `bytes`.
bool DecodeItem(std::string_view bytes, Item* item);

inline constexpr std::string_view kStateKey = "";

struct State {
  uint64_t version_bound = 1;
  uint32_t generation_bound = 0;
  uint32_t floor = 0;
  uint32_t flush_at_s = 0;
};

std::string EncodeState(const State& state);
bool DecodeState(std::string_view bytes, State* state);

}  // namespace weft::tier
