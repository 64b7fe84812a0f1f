// compaction/device/piece/unpack_piece.h: the first phase of a piece: its blocks on the device,
// checked and taken apart into columns.
//
// Threads   one thread at a time.
// Errors    kUnsupported where the CPU must look at the job: damage, keys out of order or outside
//           the tables' bounds; kNoMemory; those of the device.
#pragma once

#include <algorithm>
#include <vector>

#include "compaction/device/piece/job_in_device.h"
#include "compaction/device/piece/piece_loader.h"

namespace weft::compaction::device {

// Keys whole take more than in their blocks.
inline constexpr uint64_t kKeyRoomBytesMax = uint64_t{512} << 20;

// Where a run's entries begin and end, and those of its first and of its last block.
struct RunEdges {
  uint32_t begin = 0;
  uint32_t first_block_end = 0;
  uint32_t last_block_begin = 0;
  uint32_t end = 0;
};

struct FindRunEdges {
  const uint32_t* run_blocks;   // one more at the end
  const uint64_t* group_begin;  // by block, one more at the end
  const uint64_t* entry_begin;  // by group, one more at the end
  uint32_t first_entry;
  uint32_t runs;
  RunEdges* edges;
  uint32_t* run_begin;  // one more at the end

  WEFT_HOST_DEVICE void operator()(uint64_t run) const {
    const uint32_t begin = run_blocks[run];
    const uint32_t end = run_blocks[run + 1];
    const bool any = begin != end;
    edges[run] = {FirstEntry(begin), FirstEntry(any ? begin + 1 : begin),
                  FirstEntry(any ? end - 1 : end), FirstEntry(end)};
    run_begin[run] = edges[run].begin;
    if (run + 1 == runs) run_begin[runs] = edges[run].end;
  }
  WEFT_HOST_DEVICE uint32_t FirstEntry(uint32_t block) const {
    return first_entry + static_cast<uint32_t>(entry_begin[group_begin[block]]);
  }
};

// Puts what was carried over before a piece's own entries.
struct CarryIn {
  Entries from;
  Entries to;

  WEFT_HOST_DEVICE void operator()(uint64_t i) const {
    to.key[i] = from.key[i];
    to.key_bytes[i] = from.key_bytes[i];
    to.value[i] = from.value[i];
    to.value_bytes[i] = from.value_bytes[i];
    to.prefix[i] = 0;
  }
};

template <typename Device>
Entries TakeEntries(typename Device::Memory* memory, uint64_t count, uint32_t bytes_max,
                    uint64_t all_bytes) {
  Entries entries;
  entries.bytes_max = bytes_max;
  entries.all_bytes = all_bytes;
  entries.key = memory->template Take<uint8_t*>(count);
  entries.key_bytes = memory->template Take<uint32_t>(count);
  entries.value = memory->template Take<const uint8_t*>(count);
  entries.value_bytes = memory->template Take<uint32_t>(count);
  entries.prefix = memory->template Take<uint64_t>(count);
  return entries;
}

template <typename Device>
class UnpackPiece {
 public:
  // What is given must outlive this. Columns and blocks are in `memory`.
  UnpackPiece(Device* device, typename Device::Memory* memory, const JobInDevice<Device>& job)
      : device_(*device), memory_(*memory), job_(job) {}

  // bytes: where loaded.bytes are on the device.
  Status Run(const Piece& piece, const LoadedPiece& loaded, const uint8_t* bytes,
             const Carry<Device>& carry);

  Entries entries;
  std::vector<RunRange> ranges;  // by run: the piece's own
  uint32_t entry_count = 0;      // of all ranges
  bool is_mistyped = false;      // Run has failed for blocks that the host should look at first
  Findings* findings = nullptr;  // on the device

 private:
  void TakeBlocks(const LoadedPiece& loaded, const uint8_t* bytes);
  Status CountEntries();
  Status Decode(const Carry<Device>& carry);
  Status FindRanges(const Piece& piece, const LoadedPiece& loaded);
  Status AwaitFindings();
  static bool IsInside(const Piece::Run& run, const RunEdges& edges, const RunRange& range);

  Device& device_;
  typename Device::Memory& memory_;
  const JobInDevice<Device>& job_;
  InputBlocks blocks_;
  uint32_t block_count_ = 0;
  uint64_t block_bytes_ = 0;  // of all of them, once they are open
  uint64_t group_count_ = 0;
  uint64_t key_room_bytes_ = 0;
  uint64_t decoded_ = 0;      // entries
  uint32_t first_entry_ = 0;  // behind those carried over
  uint64_t* group_begin_ = nullptr;
  uint64_t* entry_begin_ = nullptr;
  uint64_t* key_begin_ = nullptr;
};

template <typename Device>
Status UnpackPiece<Device>::Run(const Piece& piece, const LoadedPiece& loaded, const uint8_t* bytes,
                                const Carry<Device>& carry) {
  findings = memory_.template Take<Findings>(1);
  device_.Fill(findings, 0, sizeof(Findings));
  TakeBlocks(loaded, bytes);
  Status status = CountEntries();
  if (status.ok()) status = Decode(carry);
  if (status.ok()) status = FindRanges(piece, loaded);
  return status;
}

template <typename Device>
void UnpackPiece<Device>::TakeBlocks(const LoadedPiece& loaded, const uint8_t* bytes) {
  block_count_ = static_cast<uint32_t>(loaded.blocks.size());
  for (const LoadedBlock& block : loaded.blocks) {
    const uint32_t opened = std::max(block.bytes, block.opened_bytes);
    block_bytes_ += opened;
    blocks_.bytes_max = std::max(blocks_.bytes_max, opened);
  }
  blocks_.at = memory_.template Take<InputBlock>(block_count_);
  const LoadedBlock* const there = CopyToDevice(&device_, &memory_, loaded.blocks);
  device_.Run(block_count_, FindBlocks{there, bytes, blocks_.at});
  device_.RunLanes(block_count_, CheckBlocks{there, blocks_, job_.checksums, findings});
  if (loaded.opened_bytes == 0) return;
  auto* const room = memory_.template Take<uint8_t>(loaded.opened_bytes);
  device_.Run(block_count_, OpenBlocks{there, room, blocks_, findings});
}

// Waits for the device, and so for what was to be fetched, too.
template <typename Device>
Status UnpackPiece<Device>::AwaitFindings() {
  Findings found;
  if (!device_.CopyOut(&found, findings, sizeof found).ok()) return device_.status();
  if (!found.any_wrong()) return Status::Ok();
  is_mistyped = found.mistyped != 0;
  return {Code::kUnsupported, "the job has tables that only the CPU can judge"};
}

template <typename Device>
Status UnpackPiece<Device>::CountEntries() {
  auto* const groups = memory_.template Take<uint32_t>(block_count_);
  group_begin_ = memory_.template Take<uint64_t>(block_count_ + 1);
  device_.Run(block_count_, CountBlockGroups{blocks_, groups, findings});
  device_.RunSums(groups, block_count_, group_begin_);
  FetchSum(&device_, group_begin_, block_count_, &group_count_);
  Status status = AwaitFindings();
  if (!status.ok()) return status;
  // Each has a restart point.
  if (group_count_ > block_bytes_ / sizeof(uint32_t)) return CountedWrongly();

  auto* const entries_of = memory_.template Take<uint32_t>(group_count_);
  auto* const key_bytes_of = memory_.template Take<uint32_t>(group_count_);
  entry_begin_ = memory_.template Take<uint64_t>(group_count_ + 1);
  key_begin_ = memory_.template Take<uint64_t>(group_count_ + 1);
  device_.Run(group_count_, CountGroupEntries{blocks_, block_count_, group_begin_, entries_of,
                                              key_bytes_of, findings});
  device_.RunSums(entries_of, group_count_, entry_begin_);
  device_.RunSums(key_bytes_of, group_count_, key_begin_);
  FetchSum(&device_, entry_begin_, group_count_, &decoded_);
  FetchSum(&device_, key_begin_, group_count_, &key_room_bytes_);
  return AwaitFindings();
}

template <typename Device>
Status UnpackPiece<Device>::Decode(const Carry<Device>& carry) {
  first_entry_ = carry.count;
  if (decoded_ > block_bytes_) return CountedWrongly();
  if (decoded_ + first_entry_ >= ~uint32_t{0} || key_room_bytes_ > kKeyRoomBytesMax) {
    return {Code::kUnsupported, "a piece of the job has too many entries or too long keys"};
  }
  uint32_t bytes_max = blocks_.bytes_max;
  uint64_t all_bytes = block_bytes_ + key_room_bytes_;
  if (carry.count != 0) {
    bytes_max = std::max(bytes_max, carry.entries.bytes_max);
    all_bytes += carry.entries.all_bytes;
  }
  entries = TakeEntries<Device>(&memory_, decoded_ + first_entry_, bytes_max, all_bytes);
  device_.Run(carry.count, CarryIn{carry.entries, entries});
  auto* const key_room = memory_.template Take<uint8_t>(key_room_bytes_);
  device_.Run(group_count_,
              DecodeGroups{blocks_, block_count_, group_begin_, entry_begin_, key_begin_,
                           first_entry_, key_room, job_.common_bytes, entries});
  return device_.status();
}

template <typename Device>
Status UnpackPiece<Device>::FindRanges(const Piece& piece, const LoadedPiece& loaded) {
  const uint64_t runs = piece.runs.size();
  auto* const edges_there = memory_.template Take<RunEdges>(runs);
  auto* const run_begin = memory_.template Take<uint32_t>(runs + 1);
  auto* const ranges_there = memory_.template Take<RunRange>(runs);
  const uint32_t* const run_blocks = CopyToDevice(&device_, &memory_, loaded.run_blocks);
  device_.Run(runs, FindRunEdges{run_blocks, group_begin_, entry_begin_, first_entry_,
                                 static_cast<uint32_t>(runs), edges_there, run_begin});
  device_.Run(decoded_, CheckOrder{entries,
                                   first_entry_,
                                   run_begin,
                                   static_cast<uint32_t>(runs),
                                   {job_.common, job_.common_bytes},
                                   findings});
  std::vector<std::string_view> bounds(2);
  if (piece.first.has_value()) bounds[0] = *piece.first;
  if (piece.end.has_value()) bounds[1] = *piece.end;
  device_.Run(runs, FindRunRanges{entries, run_begin, KeysToDevice(&device_, &memory_, bounds),
                                  piece.first.has_value() ? 1u : 0u,
                                  piece.end.has_value() ? 1u : 0u, ranges_there});
  std::vector<RunEdges> edges(runs);
  ranges.resize(runs);
  device_.Fetch(edges.data(), edges_there, runs * sizeof(RunEdges));
  device_.Fetch(ranges.data(), ranges_there, runs * sizeof(RunRange));
  Status status = AwaitFindings();
  if (!status.ok()) return status;
  for (size_t run = 0; run < runs; run++) {
    if (edges[run].end > first_entry_ + decoded_) return CountedWrongly();
    if (!IsInside(piece.runs[run], edges[run], ranges[run])) {
      return {Code::kUnsupported, "the job has a table whose index is wrong about its keys"};
    }
    ranges[run].place = entry_count;
    entry_count += ranges[run].end - ranges[run].begin;
    if (entry_count > decoded_) return CountedWrongly();
  }
  return Status::Ok();
}

// What lies outside the piece's range must be a neighbouring piece's, too.
template <typename Device>
bool UnpackPiece<Device>::IsInside(const Piece::Run& run, const RunEdges& edges,
                                   const RunRange& range) {
  const bool begins_well = run.begins_before && range.begin <= edges.first_block_end;
  const bool ends_well = run.reaches_beyond && range.end >= edges.last_block_begin;
  const bool is_range =
      edges.begin <= range.begin && range.begin <= range.end && range.end <= edges.end;
  return is_range && (range.begin == edges.begin || begins_well) &&
         (range.end == edges.end || ends_well);
}

}  // namespace weft::compaction::device
