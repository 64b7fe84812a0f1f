#include "bench/experiment/scale.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/system_memory.h"
#include "bench/drive/driver.h"
#include "bench/harness/machine.h"
#include "bench/store/place.h"
#include "bench/target/targets.h"
#include "bench/workload/builtin_mixes.h"

namespace weft::bench {
namespace {

constexpr double kSpread = 2;  // of a store that compacts, over its data
constexpr double kGiB = 1u << 30;

double BytesOf(const RecordOptions& record) {
  return record.key_bytes.Mean() + record.value_bytes.Mean();
}

uint64_t FreeBytesOf(const std::string& where) {
  auto place = Place::Make(where);
  if (!place) return UINT64_MAX;  // opening the store says why
  std::error_code error;
  const auto space =
      std::filesystem::space(std::filesystem::path(place->Fresh("space")).parent_path(), error);
  return error ? UINT64_MAX : space.available;
}

}  // namespace

DataRoom RoomFor(const MeasureOptions& options) {
  DataRoom room;
  room.memory_bytes = static_cast<uint64_t>(ThisMachine().memory_gib * kGiB);
  for (const std::string& target : options.targets) {
    if (!IsDurable(target)) {
      room.cache_bytes = options.target.memory_mb << 20;
      continue;
    }
    room.free_bytes = std::min(room.free_bytes, FreeBytesOf(options.target.place));
    if (const uint64_t memory = base::MemoryToBeHad(); memory > 0)
      room.free_bytes = std::min(room.free_bytes, memory);
  }
  return room;
}

DataSize ScaledRecords(const RecordOptions& record, double fraction, const DataRoom& room) {
  const double asked = static_cast<double>(room.memory_bytes) * fraction / BytesOf(record);
  const double fit = std::min(static_cast<double>(room.free_bytes) / kSpread / BytesOf(record),
                              static_cast<double>(RecordsThatFit(record, room.cache_bytes)));
  const double records = std::clamp(std::min(asked, fit), 1.0, static_cast<double>(kRecordsMax));
  return {.records = static_cast<uint64_t>(records), .is_limited = fit < asked};
}

std::string ToText(const DataSize& size, const RecordOptions& record, const DataRoom& room) {
  const double bytes = static_cast<double>(size.records) * BytesOf(record);
  return fmt::format("{} records of {:.0f} B, {:.3g} of {:.1f} GiB{}", size.records,
                     BytesOf(record), bytes / static_cast<double>(room.memory_bytes),
                     static_cast<double>(room.memory_bytes) / kGiB,
                     size.is_limited ? ": no more fit" : "");
}

}  // namespace weft::bench
