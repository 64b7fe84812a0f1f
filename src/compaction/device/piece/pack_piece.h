// compaction/device/piece/pack_piece.h: the third phase of a piece: fetches the contents of its
// tables' files to the host, and carries the rest over to the next piece.
//
// Threads   one thread at a time.
// Errors    those of the device.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/crew.h"
#include "base/posix_direct.h"
#include "compaction/device/kernel/gather_kernels.h"
#include "compaction/device/piece/block_chain.h"
#include "compaction/device/piece/compressed_blocks.h"
#include "compaction/device/piece/packed_piece.h"
#include "compaction/device/piece/sort_piece.h"
#include "compaction/device/piece/table_layout.h"
#include "table/filter_block_builder.h"

namespace weft::compaction::device {

static_assert(kTypeAndChecksumBytes == table::kBlockTrailerBytes);

// Whether a piece is computed twice, so that bits flipped in the device's memory show.
struct Repeat {
  bool is_wanted = false;
  const PackedPiece* first = nullptr;  // set the second time: then no data are fetched
};

// Host-side helpers of the phase; all must outlive it.
struct PackHost {
  base::Crew* crew;
  CompressedBlocks* compressed;
  // Begins tables whose files are written in place, and gives them rooms; null: there are none.
  std::function<void(PackedPiece*)> begin_tables;
  const JobStorage* storage;

  bool writes_direct() const { return storage->bytes_read() != 0; }
};

template <typename Device>
class PackPiece {
 public:
  PackPiece(Device* device, typename Device::Memory* memory, const Job& job,
            const JobInDevice<Device>& in_device, const PackHost& host, Repeat repeat)
      : device_(*device),
        memory_(*memory),
        made_(device),
        job_(job),
        in_device_(in_device),
        host_(host),
        repeat_(repeat),
        chain_(device, memory) {}

  // *carry: the entries that the piece begins with, then those that the next one begins with.
  Status Run(const Entries& entries, const SortPiece<Device>& sorted, bool is_last,
             TableLayout* layout, PackedPiece* packed, Carry<Device>* carry);

 private:
  bool compresses() const { return job_.format.compression != Compression::kNone; }
  std::vector<PackedBlock> PlanBlocks(const SortPiece<Device>& sorted, size_t count) const;
  void WriteBlocks(size_t count, typename Device::Memory* memory, PackedPiece* packed);
  Status Compress(std::vector<PackedBlock>* blocks, PackedPiece* packed);
  void MeasureIndex(const PackedPiece& packed);
  void WriteIndex(PackedPiece* packed);
  void MakeFilters(PackedPiece* packed);
  void MeasureTableEnds(const PackedPiece& packed);
  void CopyTableEnds();
  void TakeTableEnds(PackedPiece* packed);
  void MeasureCarried(uint32_t begin);
  void CarryOver(const SortPiece<Device>& sorted, Carry<Device>* carry);
  void TakeBack(const uint8_t* from, uint64_t bytes, table::OutputBuffer* to);
  uint64_t MakeRooms(size_t align, PackedPiece* packed);
  void MakeDirectRooms(PackedPiece* packed);
  void TakeData(PackedPiece* packed);

  Device& device_;
  typename Device::Memory& memory_;
  typename Device::Memory made_;  // data fetched while the device goes on
  std::vector<RangeOut> taken_back_;
  const Job& job_;
  const JobInDevice<Device>& in_device_;
  const PackHost& host_;
  const Repeat repeat_;
  Entries entries_;
  const uint32_t* live_ = nullptr;
  uint32_t count_ = 0;
  BlockChain<Device> chain_;
  uint8_t* data_ = nullptr;       // blocks with trailers, uncompressed
  uint64_t* block_at_ = nullptr;  // where blocks lie in data_
  uint64_t data_bytes_ = 0;
  IndexEntry index_;
  uint64_t* index_at_ = nullptr;      // by block
  std::vector<uint32_t> table_ends_;  // live entries: the first and last of tables, in order
  const uint32_t* table_ends_there_ = nullptr;
  uint64_t* keys_at_ = nullptr;  // by table end, in keys_there_
  std::vector<uint64_t> host_keys_at_;
  std::string keys_;
  uint32_t carry_begin_ = 0;
  uint64_t* carry_at_ = nullptr;
  uint64_t carry_bytes_ = 0;
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
  // The last block's end is known only with the next piece.
  const size_t blocks = chain_.host_bytes.size() - (is_last ? 0 : 1);
  // Some of them may be made again with the next piece: the host finds out while they are made.
  if (!compresses()) WriteBlocks(blocks, &made_, packed);
  std::vector<PackedBlock> plan = PlanBlocks(sorted, blocks);
  if (compresses()) {
    status = Compress(&plan, packed);
    if (!status.ok()) return status;
  }
  packed->places = layout->Place(plan, is_last);
  for (const TablePart& part : PartsOf(packed->places)) packed->parts.push_back({.blocks = part});
  const size_t settled = packed->places.size();
  packed->entries.resize(settled);
  for (size_t i = 0; i < settled; i++)
    packed->entries[i] = chain_.host_first[i + 1] - chain_.host_first[i];
  MakeFilters(packed);
  // The one wait is for all sizes of rooms together.
  MeasureIndex(*packed);
  MeasureTableEnds(*packed);
  MeasureCarried(chain_.host_first[settled]);
  packed->index_at.resize(settled + 1);
  host_keys_at_.resize(table_ends_.size() + 1);
  device_.Fetch(packed->index_at.data(), index_at_, packed->index_at.size() * sizeof(uint64_t));
  device_.Fetch(host_keys_at_.data(), keys_at_, host_keys_at_.size() * sizeof(uint64_t));
  FetchSum(&device_, carry_at_, count_ - carry_begin_, &carry_bytes_);
  if (!device_.Await().ok()) return device_.status();
  // An index entry has a trailer, a handle and two lengths besides its key.
  constexpr uint64_t kIndexEntryBytesMax = 48;
  const uint64_t index_bytes_max = entries_.all_bytes + kIndexEntryBytesMax * settled;
  for (const auto& [sums, most] : {std::pair(&packed->index_at, index_bytes_max),
                                   std::pair(&host_keys_at_, 2 * entries_.all_bytes)}) {
    if (sums->back() > most || !std::is_sorted(sums->begin(), sums->end())) return CountedWrongly();
  }
  if (carry_bytes_ > entries_.all_bytes) return CountedWrongly();
  WriteIndex(packed);
  CopyTableEnds();
  CarryOver(sorted, carry);
  if (!device_.Await().ok()) return device_.status();
  TakeTableEnds(packed);
  TakeData(packed);
  packed->ready = device_.BeginCopyOut(std::move(taken_back_), std::move(made_));
  return device_.status();
}

template <typename Device>
std::vector<PackedBlock> PackPiece<Device>::PlanBlocks(const SortPiece<Device>& sorted,
                                                       size_t count) const {
  std::vector<PackedBlock> plan(count);
  size_t cut = 0;
  for (size_t i = 0; i < count; i++) {
    const uint32_t end = chain_.host_first[i + 1];
    while (cut < sorted.cuts.size() && sorted.cuts[cut] < end) cut++;
    plan[i] = {.first = chain_.host_first[i],
               .bytes = chain_.host_bytes[i],
               .stored_bytes = chain_.host_bytes[i],
               .is_cut_behind = cut < sorted.cuts.size() && sorted.cuts[cut] == end};
  }
  return plan;
}

// Writes the first `count` blocks, one after the other, into `memory`.
template <typename Device>
void PackPiece<Device>::WriteBlocks(size_t count, typename Device::Memory* memory,
                                    PackedPiece* packed) {
  data_bytes_ = count * table::kBlockTrailerBytes;
  for (size_t i = 0; i < count; i++) data_bytes_ += chain_.host_bytes[i];
  // Besides its key and its value: three varints, a restart point, and a block's end.
  constexpr uint64_t kEntryBytesMax = 32;
  if (data_bytes_ > entries_.all_bytes + kEntryBytesMax * count_)
    return device_.Fail(CountedWrongly());
  auto* const stored_bytes = memory_.template Take<uint32_t>(count);
  block_at_ = memory_.template Take<uint64_t>(count + 1);
  device_.Run(count, AddTrailers{chain_.bytes, stored_bytes});
  device_.RunSums(stored_bytes, count, block_at_);
  data_ = memory->template Take<uint8_t>(data_bytes_);
  device_.RunLanes(chain_.host_first[count],
                   WriteEntries{entries_, live_, chain_.shared, chain_.begins, chain_.blocks_before,
                                chain_.first, chain_.sizes, block_at_, data_});
  device_.RunLanes(count, WriteRestarts{chain_.first, chain_.bytes, chain_.sizes, block_at_, data_,
                                        data_bytes_});
  device_.RunLanes(
      count, WriteChecksums{chain_.bytes, block_at_, in_device_.checksums, data_, data_bytes_});
  if (!repeat_.is_wanted) return;
  auto* const checksums = memory_.template Take<uint32_t>(count);
  device_.Run(count, GatherChecksums{chain_.bytes, block_at_, data_, checksums});
  packed->checksums.resize(count);
  device_.Fetch(packed->checksums.data(), checksums, count * sizeof(uint32_t));
}

template <typename Device>
Status PackPiece<Device>::Compress(std::vector<PackedBlock>* blocks, PackedPiece* packed) {
  WriteBlocks(blocks->size(), &memory_, packed);
  if (!device_.Await().ok()) return device_.status();
  if (repeat_.first != nullptr) {
    // The same blocks compress to the same bytes.
    if (packed->checksums != repeat_.first->checksums) return TwoAnswers();
    for (size_t i = 0; i < blocks->size(); i++)
      (*blocks)[i].stored_bytes = repeat_.first->stored_bytes[i];
    return Status::Ok();
  }
  table::OutputBuffer raw(device_.host_memory());
  char* const to = raw.Reserve(data_bytes_);
  raw.CommitTo(to + data_bytes_);
  Status status =
      device_.BeginCopyOut({{to, data_, data_bytes_}}, typename Device::Memory(&device_))();
  if (!status.ok()) return status;
  if (!host_.compressed->Make(raw.From(0), repeat_.is_wanted, host_.crew, blocks))
    return TwoAnswers();
  if (!repeat_.is_wanted) return Status::Ok();
  for (const PackedBlock& block : *blocks) packed->stored_bytes.push_back(block.stored_bytes);
  return Status::Ok();
}

// `from` lies in made_.
template <typename Device>
void PackPiece<Device>::TakeBack(const uint8_t* from, uint64_t bytes, table::OutputBuffer* to) {
  char* const room = to->Reserve(bytes);
  to->CommitTo(room + bytes);
  taken_back_.push_back({room, from, bytes});
}

// Rooms in packed->data. The address of each equals the part's place in the file, modulo `align`,
// so that writes past the page cache need no copy. Returns the number of bytes without gaps.
template <typename Device>
uint64_t PackPiece<Device>::MakeRooms(size_t align, PackedPiece* packed) {
  uint64_t bytes = 0;
  for (const PackedPart& part : packed->parts) bytes += part.blocks.bytes;
  char* at = packed->data.Reserve(bytes + packed->parts.size() * (align - 1));
  for (PackedPart& part : packed->parts) {
    at += (part.blocks.offset - reinterpret_cast<uintptr_t>(at)) % align;
    part.room = at;
    at += part.blocks.bytes;
  }
  packed->data.CommitTo(at);
  return bytes;
}

// Fetches into the tables' files, if those give room.
template <typename Device>
void PackPiece<Device>::TakeData(PackedPiece* packed) {
  if (repeat_.first != nullptr) return;
  if (host_.begin_tables != nullptr) host_.begin_tables(packed);
  if (!packed->begun.ok() || packed->parts.empty()) return;
  if (compresses()) {
    const uint64_t bytes = MakeRooms(1, packed);
    return host_.compressed->CopyTo(packed->data.data(), bytes, host_.crew);
  }
  if (!packed->parts[0].is_in_place) {
    MakeRooms(base::kDirectAlign, packed);
    MakeDirectRooms(packed);
  }
  const uint8_t* from = data_;
  for (const PackedPart& part : packed->parts) {
    const uint64_t head = part.direct_bytes == 0 ? part.blocks.bytes : part.head_bytes;
    const uint64_t behind = head + part.direct_bytes;
    taken_back_.push_back({part.room, from, head});
    device_.CopyThere(packed->storage_range.data() + part.direct_at, from + head,
                      part.direct_bytes);
    taken_back_.push_back({part.room + behind, from + behind, part.blocks.bytes - behind});
    from += part.blocks.bytes;
  }
}

// If the device writes files by itself, as it reads them: rooms of whole pages of the parts.
template <typename Device>
void PackPiece<Device>::MakeDirectRooms(PackedPiece* packed) {
  if (!host_.writes_direct()) return;
  uint64_t all = 0;
  for (PackedPart& part : packed->parts) {
    const uint64_t bytes = part.blocks.bytes;
    const uint64_t head = (0 - part.blocks.offset) % base::kDirectAlign;
    if (bytes < head + base::kDirectAlign) continue;
    part.head_bytes = head;
    part.direct_bytes = (bytes - head) / base::kDirectAlign * base::kDirectAlign;
    part.direct_at = all;
    all += part.direct_bytes;
  }
  if (all == 0 || packed->storage_range.TakeAtLeast(all) != nullptr) return;
  for (PackedPart& part : packed->parts) part.direct_bytes = 0;
}

template <typename Device>
void PackPiece<Device>::MeasureIndex(const PackedPiece& packed) {
  const size_t blocks = packed.places.size();
  auto* const bytes = memory_.template Take<uint32_t>(blocks);
  index_at_ = memory_.template Take<uint64_t>(blocks + 1);
  index_ = {entries_, live_, chain_.first, count_, CopyToDevice(&device_, &memory_, packed.places)};
  device_.Run(blocks, MeasureIndexEntries{index_, bytes});
  device_.RunSums(bytes, blocks, index_at_);
}

template <typename Device>
void PackPiece<Device>::WriteIndex(PackedPiece* packed) {
  const uint64_t bytes = packed->index_at.back();
  auto* const out = made_.template Take<uint8_t>(bytes);
  device_.Run(packed->places.size(), WriteIndexEntries{index_, index_at_, out});
  TakeBack(out, bytes, &packed->index_bytes);
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
  auto* const out = made_.template Take<uint8_t>(bytes);
  device_.Fill(out, 0, bytes);
  device_.RunLanes(windows.size(), WriteFilters{CopyToDevice(&device_, &memory_, windows),
                                                chain_.hash, count_, shape.probes, out});
  TakeBack(out, bytes, &packed->filter_bytes);
}

template <typename Device>
void PackPiece<Device>::MeasureTableEnds(const PackedPiece& packed) {
  for (const PackedPart& part : packed.parts) {
    if (part.blocks.begins_table) table_ends_.push_back(chain_.host_first[part.blocks.first]);
    if (part.blocks.ends_table) table_ends_.push_back(chain_.host_first[part.blocks.end] - 1);
  }
  table_ends_there_ = CopyToDevice(&device_, &memory_, table_ends_);
  auto* const bytes = memory_.template Take<uint32_t>(table_ends_.size());
  keys_at_ = memory_.template Take<uint64_t>(table_ends_.size() + 1);
  device_.Run(table_ends_.size(), MeasureKeys{entries_, live_, table_ends_there_, bytes});
  device_.RunSums(bytes, table_ends_.size(), keys_at_);
}

template <typename Device>
void PackPiece<Device>::CopyTableEnds() {
  keys_.resize(host_keys_at_.back());
  auto* const out = memory_.template Take<uint8_t>(keys_.size());
  device_.RunLanes(table_ends_.size(), CopyKeys{entries_, live_, table_ends_there_, keys_at_, out});
  device_.Fetch(keys_.data(), out, keys_.size());
}

template <typename Device>
void PackPiece<Device>::TakeTableEnds(PackedPiece* packed) {
  size_t i = 0;
  const auto take = [&] {
    i++;
    return keys_.substr(host_keys_at_[i - 1], host_keys_at_[i] - host_keys_at_[i - 1]);
  };
  for (const PackedPart& part : packed->parts) {
    if (part.blocks.begins_table) packed->smallest.push_back(take());
    if (part.blocks.ends_table) packed->largest.push_back(take());
  }
}

template <typename Device>
void PackPiece<Device>::MeasureCarried(uint32_t begin) {
  carry_begin_ = begin;
  const uint32_t count = count_ - begin;
  auto* const bytes = memory_.template Take<uint32_t>(count);
  carry_at_ = memory_.template Take<uint64_t>(uint64_t{count} + 1);
  device_.Run(count, MeasureCarry{entries_, live_, begin, bytes});
  device_.RunSums(bytes, count, carry_at_);
}

template <typename Device>
void PackPiece<Device>::CarryOver(const SortPiece<Device>& sorted, Carry<Device>* carry) {
  Carry<Device> next(&device_);
  next.count = count_ - carry_begin_;
  for (const uint32_t cut : sorted.cuts) {
    if (cut > carry_begin_) next.cuts.push_back(cut - carry_begin_);
  }
  auto* const room = next.memory.template Take<uint8_t>(carry_bytes_);
  next.entries = TakeEntries<Device>(&next.memory, next.count, entries_.bytes_max, carry_bytes_);
  device_.RunLanes(next.count,
                   CarryOut{entries_, live_, carry_begin_, carry_at_, room, next.entries});
  *carry = std::move(next);
}

}  // namespace weft::compaction::device
