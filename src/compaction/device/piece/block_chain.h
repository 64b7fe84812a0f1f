// compaction/device/piece/block_chain.h: all blocks of a piece's live entries: where each begins,
// and how long it is.
//
// Threads   one thread at a time.
// Errors    those of the device.
#pragma once

#include <algorithm>
#include <vector>

#include "compaction/device/kernel/pack_kernels.h"
#include "compaction/device/piece/job_in_device.h"

namespace weft::compaction::device {

// Fills a column with one number; or with another column.
struct FillColumn {
  uint32_t value;
  uint32_t* to;
  WEFT_HOST_DEVICE void operator()(uint64_t i) const { to[i] = value; }
};
struct CopyColumn {
  const uint32_t* from;
  uint32_t* to;
  WEFT_HOST_DEVICE void operator()(uint64_t i) const { to[i] = from[i]; }
};

template <typename Device>
class BlockChain {
 public:
  BlockChain(Device* device, typename Device::Memory* memory)
      : device_(*device), memory_(*memory) {}

  // Of `count` live entries, count > 0.
  Status Follow(const table::TableFormat& format, const Entries& entries, const uint32_t* live,
                uint32_t count, const std::vector<uint32_t>& cuts);

  BlockSizes sizes;
  uint32_t* shared = nullptr;  // by live entry, as what follows
  uint32_t* hash = nullptr;
  uint32_t* begins = nullptr;         // 1 where a block does
  uint64_t* blocks_before = nullptr;  // one more at the end
  uint32_t* first = nullptr;          // by block, one more at the end
  uint32_t* bytes = nullptr;          // by block
  std::vector<uint32_t> host_first;   // the same on the host
  std::vector<uint32_t> host_bytes;

 private:
  void Measure(const Entries& entries, const uint32_t* live, uint32_t count, uint32_t interval);
  void MarkBegins(uint32_t count);

  Device& device_;
  typename Device::Memory& memory_;
  uint32_t* next_ = nullptr;
};

template <typename Device>
Status BlockChain<Device>::Follow(const table::TableFormat& format, const Entries& entries,
                                  const uint32_t* live, uint32_t count,
                                  const std::vector<uint32_t>& cuts) {
  Measure(entries, live, count, static_cast<uint32_t>(format.block_restart_interval));
  next_ = memory_.template Take<uint32_t>(count);
  device_.Run(count,
              FindNextBlocks{sizes, format.block_size, CopyToDevice(&device_, &memory_, cuts),
                             static_cast<uint32_t>(cuts.size()), next_});
  MarkBegins(count);
  blocks_before = memory_.template Take<uint64_t>(uint64_t{count} + 1);
  device_.RunSums(begins, count, blocks_before);
  uint64_t blocks = 0;
  FetchSum(&device_, blocks_before, count, &blocks);
  if (!device_.Await().ok()) return device_.status();
  if (blocks == 0 || blocks > count) return CountedWrongly();
  first = memory_.template Take<uint32_t>(blocks + 1);
  bytes = memory_.template Take<uint32_t>(blocks);
  device_.Run(count, GatherBlocks{sizes, begins, blocks_before, next_, first, bytes});
  host_first.assign(blocks + 1, count);
  host_bytes.resize(blocks);
  if (!device_.status().ok()) return device_.status();
  device_.CopyIn(first + blocks, &count, sizeof count);
  device_.Fetch(host_first.data(), first, blocks * sizeof(uint32_t));
  device_.Fetch(host_bytes.data(), bytes, blocks * sizeof(uint32_t));
  if (!device_.Await().ok()) return device_.status();
  const bool is_chain =
      host_first.front() == 0 && std::is_sorted(host_first.begin(), host_first.end());
  return is_chain ? Status::Ok() : CountedWrongly();
}

template <typename Device>
void BlockChain<Device>::Measure(const Entries& entries, const uint32_t* live, uint32_t count,
                                 uint32_t interval) {
  shared = memory_.template Take<uint32_t>(count);
  hash = memory_.template Take<uint32_t>(count);
  auto* const plain = memory_.template Take<uint32_t>(count);
  auto* const extra = memory_.template Take<uint32_t>(count);
  auto* const plain_before = memory_.template Take<uint64_t>(uint64_t{count} + 1);
  auto* const extra_before = memory_.template Take<uint64_t>(uint64_t{count} + 1);
  sizes = {plain_before, extra_before, {count, interval}};
  device_.Run(count, MeasureEntries{entries, live, sizes.stride, shared, plain, extra, hash});
  device_.RunSums(plain, count, plain_before);
  device_.RunSums(extra, count, extra_before);
}

template <typename Device>
void BlockChain<Device>::MarkBegins(uint32_t count) {
  const uint32_t chunks = (count - 1) / kChunk + 1;
  auto* const leave = memory_.template Take<uint32_t>(count);
  auto* const enter = memory_.template Take<uint32_t>(chunks);
  begins = memory_.template Take<uint32_t>(count);
  device_.Run(count, CopyColumn{next_, leave});
  for (uint32_t round = 0; round < kChunkBits; round++)
    device_.Run(count, LeaveChunk{count, leave});
  device_.Run(chunks, FillColumn{count, enter});
  device_.Run(1, EnterChunks{count, leave, enter});
  device_.Fill(begins, 0, uint64_t{count} * sizeof(uint32_t));
  device_.Run(chunks, MarkBlocks{count, next_, enter, begins});
}

}  // namespace weft::compaction::device
