// cache/restart_meta.h: what a server that was stopped cleanly writes down beside its memory file:
// docs/formats/memory-file.md.
//
// Threads   values and pure functions.
// Errors    kUnsupported: another layout, or another byte order. kCorruption: it is no such text,
// or
//           not as it was written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::cache {

// Of the header of objects (task/object.h), of the table of segments and of this text.
inline constexpr uint32_t kRestartLayout = 1;
inline constexpr size_t kRestartMetaBytesMax = 4096;

struct RestartMeta {
  uint64_t stop_id = 0;  // that of the memory file which belongs to it; never 0

  // Must be the next server's own.
  uint64_t memory_bytes = 0;
  uint64_t object_bytes_max = 0;
  uint64_t segment_bytes = 0;
  uint64_t segment_count = 0;
  uint64_t keeps_versions = 0;  // 1: every object carries its version
  uint64_t evicts = 0;          // 1: something may be evicted
  uint64_t data_sequence = 0;   // of the durable store's last change; 0: there is none
  uint64_t data_folder = 0;     // a number for that store's folder
  // The clocks at the stop, in seconds since 1970: the store's own, and the system's date.
  uint64_t stopped_at_s = 0;
  uint64_t date_s = 0;
  // What goes on from where it was.
  uint64_t next_version = 0;
  uint64_t shown_version = 0;
  uint64_t flush_at_s = 0;
  uint64_t young_units = 0;
  uint64_t items = 0;
  uint64_t buckets = 0;  // of the index
  uint64_t is_cuckoo = 0;
  // The table of segments.
  uint64_t record_count = 0;
  uint64_t table_crc = 0;

  bool operator==(const RestartMeta&) const = default;
};

std::string EncodeRestartMeta(const RestartMeta& meta);
Result<RestartMeta> ParseRestartMeta(std::string_view text);

}  // namespace weft::cache
