// compaction/device/pack_piece.h: the third phase of a piece: what its tables' files are made of,
// on the host, and what is carried over to the next piece.
//
// Threads   one thread at a time.
// Errors    those of the device.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/crc32c.h"
#include "compaction/device/block_chain.h"
#include "compaction/device/gather_kernels.h"
#include "compaction/device/packed_piece.h"
#include "compaction/device/sort_piece.h"
#include "compaction/device/table_layout.h"
#include "table/filter_block_builder.h"
#include "table/stored_block.h"

namespace weft::compaction::device {

// Whether a piece is computed twice, so that what flips in the device's memory shows.
struct Repeat {
  bool is_wanted = false;
  const PackedPiece* first = nullptr;  // of the second time: then no data are taken
};

inline bool HasItsChecksum(const char* block, uint64_t bytes) {
  return base::Crc32c(block, bytes + 1) ==
         base::UnmaskCrc32c(base::DecodeFixed32(block + bytes + 1));
}

template <typename Device>
class PackPiece {
 public:
  PackPiece(Device* device, typename Device::Memory* memory, const Job& job,
            const JobInDevice<Device>& in_device, Repeat repeat)
      : device_(*device),
        memory_(*memory),
        job_(job),
        in_device_(in_device),
        repeat_(repeat),
        chain_(device, memory) {}

  // *carry: what the piece began with, and then what the next one begins with.
  Status Run(const Entries& entries, const SortPiece<Device>& sorted, bool is_last,
             TableLayout* layout, PackedPiece* packed, Carry<Device>* carry);

 private:
  std::vector<PackedBlock> PlanBlocks(const SortPiece<Device>& sorted, size_t count) const;
  Status WriteBlocks(size_t count, typename Device::Memory* memory, uint64_t* data_bytes,
                     PackedPiece* packed);
  Status Compress(std::vector<PackedBlock>* blocks, PackedPiece* packed);
  void TakeData(PackedPiece* packed);
  void WriteIndex(PackedPiece* packed);
  void MakeFilters(PackedPiece* packed);
  void TakeKeys(PackedPiece* packed);
  Status CarryOver(const SortPiece<Device>& sorted, uint32_t begin, Carry<Device>* carry);

  Device& device_;
  typename Device::Memory& memory_;
  const Job& job_;
  const JobInDevice<Device>& in_device_;
  const Repeat repeat_;
  Entries entries_;
  const uint32_t* live_ = nullptr;
  uint32_t count_ = 0;
  BlockChain<Device> chain_;
  uint8_t* data_ = nullptr;       // blocks with trailers, uncompressed
  uint64_t* block_at_ = nullptr;  // in it
  table::OutputBuffer compressed_;
};

template <typename Device>
Status PackPiece<Device>::Run(const Entries& entries, const SortPiece<Device>& sorted, bool is_last,
                              TableLayout* layout, PackedPiece* packed, Carry<Device>* carry) {
  entries_ = entries;
  live_ = sorted.live;
  count_ = sorted.count;
  if (count_ == 0) return device_.status();
  Status status = chain_.Follow(job_.format, entries_, live_, count_, sorted.cuts);
  if (!status.ok()) return status;
  // The last block's end is known with the piece behind it.
  const size_t blocks = chain_.host_bytes.size() - (is_last ? 0 : 1);
  std::vector<PackedBlock> plan = PlanBlocks(sorted, blocks);
  const bool compresses = job_.format.compression != Compression::kNone;
  if (compresses) {
    status = Compress(&plan, packed);
    if (!status.ok()) return status;
  }
  packed->places = layout->Place(plan, is_last);
  const size_t settled = packed->places.size();
  for (size_t i = 0; i < settled; i++) {
    packed->entries.push_back(chain_.host_first[i + 1] - chain_.host_first[i]);
  }
  TakeData(packed);
  WriteIndex(packed);
  MakeFilters(packed);
  TakeKeys(packed);
  return CarryOver(sorted, chain_.host_first[settled], carry);
}

template <typename Device>
std::vector<PackedBlock> PackPiece<Device>::PlanBlocks(const SortPiece<Device>& sorted,
                                                       size_t count) const {
  std::vector<PackedBlock> plan;
  plan.reserve(count);
  size_t cut = 0;
  for (size_t i = 0; i < count; i++) {
    const uint32_t end = chain_.host_first[i + 1];
    while (cut < sorted.cuts.size() && sorted.cuts[cut] < end) cut++;
    plan.push_back({.first = chain_.host_first[i],
                    .bytes = chain_.host_bytes[i],
                    .stored_bytes = chain_.host_bytes[i],
                    .is_cut_behind = cut < sorted.cuts.size() && sorted.cuts[cut] == end});
  }
  return plan;
}

// Writes the first `count` blocks, one behind the other, into `memory`.
template <typename Device>
Status PackPiece<Device>::WriteBlocks(size_t count, typename Device::Memory* memory,
                                      uint64_t* data_bytes, PackedPiece* packed) {
  std::vector<uint64_t> at;
  at.reserve(count);
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; i++) {
    at.push_back(bytes);
    bytes += chain_.host_bytes[i] + table::kBlockTrailerBytes;
  }
  *data_bytes = bytes;
  data_ = memory->template Take<uint8_t>(bytes);
  block_at_ = CopyToDevice(&device_, &memory_, at);
  device_.RunLanes(chain_.host_first[count],
                   WriteEntries{entries_, live_, chain_.shared, chain_.begins, chain_.blocks_before,
                                chain_.first, chain_.sizes, block_at_, data_});
  device_.RunLanes(count,
                   WriteRestarts{chain_.first, chain_.bytes, chain_.sizes, block_at_, data_});
  device_.RunLanes(count, WriteChecksums{chain_.bytes, block_at_, in_device_.checksums, data_});
  if (!repeat_.is_wanted) return device_.status();
  auto* const checksums = memory_.template Take<uint32_t>(count);
  device_.Run(count, GatherChecksums{chain_.bytes, block_at_, data_, checksums});
  packed->checksums.resize(count);
  device_.CopyOut(packed->checksums.data(), checksums, count * sizeof(uint32_t));
  return device_.status();
}

// By the host: what a compressor makes of a block is no part of the format, and these are the bytes
// that the CPU's executor writes.
template <typename Device>
Status PackPiece<Device>::Compress(std::vector<PackedBlock>* blocks, PackedPiece* packed) {
  uint64_t bytes = 0;
  Status status = WriteBlocks(blocks->size(), &memory_, &bytes, packed);
  if (!status.ok()) return status;
  if (repeat_.first != nullptr) {
    // Of the same blocks the same is made.
    if (packed->checksums != repeat_.first->checksums) return TwoAnswers();
    for (size_t i = 0; i < blocks->size(); i++)
      (*blocks)[i].stored_bytes = repeat_.first->stored_bytes[i];
    return Status::Ok();
  }
  std::string raw(bytes, '\0');
  device_.CopyOut(raw.data(), data_, bytes);
  table::BlockCompressor compressor(job_.format.compression, job_.format.zstd_level);
  uint64_t at = 0;
  for (PackedBlock& block : *blocks) {
    // What was written last is as it was when its checksum was made: compressed it gets another.
    if (repeat_.is_wanted && !HasItsChecksum(raw.data() + at, block.bytes)) return TwoAnswers();
    block.stored_bytes = table::AppendBlock(std::string_view(raw).substr(at, block.bytes),
                                            &compressor, &compressed_);
    at += block.bytes + table::kBlockTrailerBytes;
    if (repeat_.is_wanted) packed->stored_bytes.push_back(block.stored_bytes);
  }
  return device_.status();
}

template <typename Device>
void PackPiece<Device>::TakeData(PackedPiece* packed) {
  uint64_t bytes = 0;
  if (job_.format.compression != Compression::kNone) {
    if (repeat_.first != nullptr) return;
    for (const BlockPlace& place : packed->places) {
      bytes += place.stored_bytes + table::kBlockTrailerBytes;
    }
    packed->data.Append(compressed_.From(0).substr(0, bytes));
    return;
  }
  typename Device::Memory memory(&device_);
  if (!WriteBlocks(packed->places.size(), &memory, &bytes, packed).ok()) return;
  if (repeat_.first != nullptr) return;
  char* const to = packed->data.Reserve(bytes);
  packed->data.CommitTo(to + bytes);
  packed->data_ready = device_.BeginCopyOut(to, data_, bytes, std::move(memory));
}

template <typename Device>
void PackPiece<Device>::WriteIndex(PackedPiece* packed) {
  const size_t blocks = packed->places.size();
  auto* const bytes = memory_.template Take<uint32_t>(blocks);
  auto* const at = memory_.template Take<uint64_t>(blocks + 1);
  const IndexEntry index{entries_, live_, chain_.first, count_,
                         CopyToDevice(&device_, &memory_, packed->places)};
  device_.Run(blocks, MeasureIndexEntries{index, bytes});
  device_.RunSums(bytes, blocks, at);
  packed->index_at.resize(blocks + 1);
  device_.CopyOut(packed->index_at.data(), at, (blocks + 1) * sizeof(uint64_t));
  if (!device_.status().ok()) return;
  auto* const out = memory_.template Take<uint8_t>(packed->index_at.back());
  device_.Run(blocks, WriteIndexEntries{index, at, out});
  packed->index_bytes.resize(packed->index_at.back());
  device_.CopyOut(packed->index_bytes.data(), out, packed->index_at.back());
}

template <typename Device>
void PackPiece<Device>::MakeFilters(PackedPiece* packed) {
  if (job_.format.filter == nullptr) return;
  const BloomShape shape = job_.format.filter->bloom().value_or(BloomShape());
  std::vector<FilterWindow> windows;
  uint64_t bytes = 0;
  for (size_t i = 0; i < packed->places.size();) {
    const uint64_t number = packed->places[i].offset >> table::kFilterWindowBits;
    size_t end = i + 1;
    while (end < packed->places.size() && packed->places[end].offset != 0 &&
           packed->places[end].offset >> table::kFilterWindowBits == number) {
      end++;
    }
    FilterWindow& window = windows.emplace_back();
    window.first = chain_.host_first[i];
    window.end = chain_.host_first[end];
    const uint64_t bits = uint64_t{window.end - window.first} * shape.bits_per_key;
    if (bits > std::numeric_limits<uint32_t>::max() / 2) {
      return device_.Fail({Code::kUnsupported, "a filter of the job is too large for a device"});
    }
    window.bits = static_cast<uint32_t>((std::max<uint64_t>(bits, 64) + 7) / 8 * 8);
    window.probes = shape.probes;
    window.at = bytes;
    packed->filters.push_back({.window = number,
                               .block = static_cast<uint32_t>(i),
                               .at = bytes,
                               .bytes = window.bits / 8 + 1});
    bytes += (window.bits / 8 + 1 + 3) / 4 * 4;
    i = end;
  }
  auto* const out = memory_.template Take<uint8_t>(bytes);
  device_.Fill(out, 0, bytes);
  device_.RunLanes(windows.size(),
                   WriteFilters{CopyToDevice(&device_, &memory_, windows), chain_.hash, out});
  packed->filter_bytes.resize(bytes);
  device_.CopyOut(packed->filter_bytes.data(), out, bytes);
}

template <typename Device>
void PackPiece<Device>::TakeKeys(PackedPiece* packed) {
  std::vector<uint32_t> which;
  for (size_t i = 0; i < packed->places.size(); i++) {
    if (packed->places[i].offset == 0) which.push_back(chain_.host_first[i]);
    if (packed->places[i].ends_table != 0) which.push_back(chain_.host_first[i + 1] - 1);
  }
  const uint32_t* const which_there = CopyToDevice(&device_, &memory_, which);
  auto* const bytes = memory_.template Take<uint32_t>(which.size());
  auto* const at_there = memory_.template Take<uint64_t>(which.size() + 1);
  device_.Run(which.size(), MeasureKeys{entries_, live_, which_there, bytes});
  device_.RunSums(bytes, which.size(), at_there);
  std::vector<uint64_t> at(which.size() + 1);
  device_.CopyOut(at.data(), at_there, at.size() * sizeof(uint64_t));
  if (!device_.status().ok()) return;
  auto* const out = memory_.template Take<uint8_t>(at.back());
  device_.RunLanes(which.size(), CopyKeys{entries_, live_, which_there, at_there, out});
  std::string keys(at.back(), '\0');
  device_.CopyOut(keys.data(), out, keys.size());
  size_t i = 0;
  for (const BlockPlace& place : packed->places) {
    auto take = [&] { return keys.substr(at[i], at[i + 1] - at[i]); };
    if (place.offset == 0) packed->smallest.push_back(take()), i++;
    if (place.ends_table != 0) packed->largest.push_back(take()), i++;
  }
}

template <typename Device>
Status PackPiece<Device>::CarryOver(const SortPiece<Device>& sorted, uint32_t begin,
                                    Carry<Device>* carry) {
  Carry<Device> next(&device_);
  next.count = count_ - begin;
  for (const uint32_t cut : sorted.cuts) {
    if (cut > begin) next.cuts.push_back(cut - begin);
  }
  auto* const bytes = memory_.template Take<uint32_t>(next.count);
  auto* const at = memory_.template Take<uint64_t>(uint64_t{next.count} + 1);
  device_.Run(next.count, MeasureCarry{entries_, live_, begin, bytes});
  device_.RunSums(bytes, next.count, at);
  const uint64_t room_bytes = SumAt(&device_, at, next.count);
  if (!device_.status().ok()) return device_.status();
  auto* const room = next.memory.template Take<uint8_t>(room_bytes);
  next.entries = TakeEntries<Device>(&next.memory, next.count);
  device_.RunLanes(next.count, CarryOut{entries_, live_, begin, at, room, next.entries});
  *carry = std::move(next);
  return device_.status();
}

}  // namespace weft::compaction::device
