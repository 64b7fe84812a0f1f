// compaction/device/piece/job_in_device.h: what of a job is the same for all its pieces, in the
// device's memory; and what one piece leaves to the next.
//
// Threads   one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compaction/device/kernel/sort_kernels.h"
#include "compaction/job.h"
#include "compaction/key_prefix.h"

namespace weft::compaction::device {

// A number that a device has made can't be: the host must not rely on it.
inline Status CountedWrongly() {
  return {Code::kCorruption, "a device counted more entries than a piece has"};
}

// Entries at the end of a piece whose block or filter is not complete. They have memory of their
// own.
template <typename Device>
struct Carry {
  explicit Carry(Device* device) : memory(device) {}

  typename Device::Memory memory;
  Entries entries;
  uint32_t count = 0;
  std::vector<uint32_t> cuts;  // a table ends before these, by the grandparents' rule
};

template <typename T, typename Device>
T* CopyToDevice(Device* device, typename Device::Memory* memory, const std::vector<T>& values) {
  T* const to = memory->template Take<T>(values.size());
  device->CopyIn(to, values.data(), values.size() * sizeof(T));
  return to;
}

// *sum = sums[i], once the device has been waited for.
template <typename Device>
void FetchSum(Device* device, const uint64_t* sums, uint64_t i, uint64_t* sum) {
  if (device->status().ok()) device->Fetch(sum, sums + i, sizeof *sum);
}

template <typename Device>
KeyList KeysToDevice(Device* device, typename Device::Memory* memory,
                     const std::vector<std::string_view>& keys) {
  std::vector<uint64_t> at = {0};
  std::vector<uint8_t> bytes;
  for (const std::string_view key : keys) {
    bytes.insert(bytes.end(), key.begin(), key.end());
    at.push_back(bytes.size());
  }
  return {CopyToDevice(device, memory, bytes), CopyToDevice(device, memory, at),
          static_cast<uint32_t>(keys.size())};
}

template <typename Device>
struct JobInDevice {
  JobInDevice(Device* device, const Job& job)
      : memory(device), checksums(memory.template Take<ChecksumTables>(1)) {
    const ChecksumTables tables = ChecksumTables::Make();
    device->CopyIn(checksums, &tables, sizeof tables);
    const KeyPrefix prefix(job);
    const std::string_view shared = prefix.common();
    common = KeysToDevice(device, &memory, {shared}).bytes;
    common_bytes = static_cast<uint32_t>(shared.size());
    if (job.lifetime.has_value()) {
      lifetime = {.is_set = 1,
                  .expiry_offset = static_cast<uint32_t>(job.lifetime->expiry_offset),
                  .generation_offset = static_cast<uint32_t>(job.lifetime->generation_offset),
                  .now_s = job.lifetime->now_s,
                  .generation_floor = job.lifetime->generation_floor};
    }
    TakeSpans(device, job);
    std::vector<std::string_view> largest;
    for (const JobTable& table : job.grandparents) largest.push_back(table.largest);
    grandparents = KeysToDevice(device, &memory, largest);
  }

  typename Device::Memory memory;
  ChecksumTables* checksums;
  const uint8_t* common = nullptr;
  uint32_t common_bytes = 0;
  Lifetime lifetime;
  DeeperSpans deeper;
  KeyList grandparents;  // their largest keys

 private:
  void TakeSpans(Device* device, const Job& job) {
    std::vector<std::string_view> smallest;
    std::vector<std::string_view> largest;
    std::vector<uint32_t> level_begin = {0};
    for (const auto& level : job.deeper) {
      for (const UserKeySpan& span : level) {
        smallest.push_back(span.smallest);
        largest.push_back(span.largest);
      }
      level_begin.push_back(static_cast<uint32_t>(smallest.size()));
    }
    deeper = {.smallest = KeysToDevice(device, &memory, smallest),
              .largest = KeysToDevice(device, &memory, largest),
              .level_begin = CopyToDevice(device, &memory, level_begin),
              .levels = static_cast<uint32_t>(job.deeper.size())};
  }
};

}  // namespace weft::compaction::device
