#include "compaction/device/piece/piece_loader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "base/read_on.h"
#include "table/block_reader.h"
#include "table/decompress.h"

namespace weft::compaction::device {

namespace {

using table::BlockFile;

// Blocks that lie one behind the other in a file.
struct Extent {
  const BlockFile* file;
  uint64_t align = 1;  // RandomAccessFile::ReadAlignment
  uint64_t offset;
  uint64_t bytes = 0;
  uint64_t at;  // in what is read
  size_t first_block;
  size_t blocks = 0;
};

Status TooLarge() { return {Code::kUnsupported, "a piece of the job is too large for a device"}; }

// Of loops that a crew runs.
Status FirstError(const std::vector<Status>& all) {
  const auto error =
      std::find_if(all.begin(), all.end(), [](const Status& each) { return !each.ok(); });
  return error == all.end() ? Status::Ok() : *error;
}

class Loader {
 public:
  Loader(const PiecePlan& plan, base::Crew* crew, LoadedPiece* loaded)
      : plan_(plan), crew_(*crew), loaded_(*loaded) {}

  Status Load(const Piece& piece, const base::BufferMemory* memory, JobStorage* storage) {
    if (Status status = LayOut(piece); !status.ok()) return status;
    if (TakeInPlace(memory)) return Status::Ok();
    loaded_.ranges.clear();
    if (extents_.empty()) return Status::Ok();
    if (Status status = Probe(); !status.ok()) return status;
    if (in_place_ && ReadByDevice(storage)) return Status::Ok();
    if (Status status = ReadExtents(); !status.ok()) return status;
    Status status = TakeBlocks();
    loaded_.ranges = {{loaded_.bytes.data(), loaded_.bytes.size()}};
    return status;
  }

 private:
  Status LayOut(const Piece& piece) {
    for (const Piece::Run& run : piece.runs) {
      for (const PieceBlock& block : run.blocks) {
        if (Status status = Add(block); !status.ok()) return status;
      }
      loaded_.run_blocks.push_back(static_cast<uint32_t>(handles_.size()));
    }
    loaded_.blocks.resize(handles_.size());
    return Status::Ok();
  }

  Status Add(const PieceBlock& block) {
    const BlockFile& file = plan_.file(block.table);
    const table::BlockHandle& handle = block.handle;
    if (handle.bytes > file.bytes || handle.offset > file.bytes - handle.bytes ||
        file.bytes - handle.bytes - handle.offset < table::kBlockTrailerBytes) {
      return table::BlockCorruption(file, handle.offset, "is outside the file");
    }
    const uint64_t stored = handle.bytes + table::kBlockTrailerBytes;
    const bool follows = !extents_.empty() && extents_.back().file == &file &&
                         extents_.back().offset + extents_.back().bytes == handle.offset &&
                         extents_.back().bytes < kExtentBytes;
    if (!follows) {
      const uint64_t align = file.mapped.empty() ? file.file->ReadAlignment() : 1;
      const uint64_t at = PlaceFor(handle.offset, align);
      extents_.push_back({.file = &file,
                          .align = align,
                          .offset = handle.offset,
                          .at = at,
                          .first_block = handles_.size()});
      bytes_ = at;
    }
    extents_.back().bytes += stored;
    extents_.back().blocks++;
    handles_.push_back(handle);
    bytes_ += stored;
    return bytes_ > kPieceBytesMax ? TooLarge() : Status::Ok();
  }

  // Where an extent from `offset` on of its file goes: behind what the one before is read with, and
  // so that it can be read without a copy, together with what the file has around it.
  uint64_t PlaceFor(uint64_t offset, uint64_t align) const {
    const uint64_t end = extents_.empty() ? 0 : EndOf(extents_.back());
    return (end + align - 1) / align * align + offset % align;
  }
  // Of what is read with the extent.
  static uint64_t EndOf(const Extent& extent) {
    return (extent.at + extent.bytes + extent.align - 1) / extent.align * extent.align;
  }

  // Whether all blocks go to the device from where they lie.
  bool TakeInPlace(const base::BufferMemory* memory) {
    const BlockFile* file = nullptr;
    for (const Extent& extent : extents_) {
      const char* const in_memory = extent.file->mapped.data();
      if (in_memory == nullptr) return false;
      const char* const from = in_memory + extent.offset;
      if (extent.file != file) {
        if (memory != nullptr && !memory->IsLike(in_memory)) return false;
        file = extent.file;
      } else if (loaded_.ranges.back().from + loaded_.ranges.back().bytes == from) {
        loaded_.ranges.back().bytes += extent.bytes;
        continue;
      }
      loaded_.ranges.push_back({from, extent.bytes});
    }
    std::atomic<bool> are_devices{true};
    crew_.ForEach(extents_.size(), [&](size_t i) {
      if (!Describe(extents_[i])) are_devices.store(false, std::memory_order_relaxed);
    });
    if (are_devices) loaded_.bytes_read = bytes_;
    return are_devices && PlaceOpened();
  }

  // Of blocks that lie in memory: false where one has to be opened here. Of each a byte is looked
  // at, or a few more, which are in no cache: those of blocks further on are fetched meanwhile.
  bool Describe(const Extent& extent) {
    constexpr size_t kAhead = 16;
    const char* const from = extent.file->mapped.data();
    const size_t end = extent.first_block + extent.blocks;
    uint64_t at = extent.at;
    bool are_compressed = false;
    for (size_t i = extent.first_block; i < end; i++) {
      const table::BlockHandle& ahead = handles_[std::min(i + kAhead, end - 1)];
      __builtin_prefetch(from + ahead.offset + ahead.bytes);
      if (are_compressed) __builtin_prefetch(from + ahead.offset);
      const table::BlockHandle& handle = handles_[i];
      LoadedBlock& block = loaded_.blocks[i];
      block = {.at = at, .bytes = static_cast<uint32_t>(handle.bytes), .is_stored = 1};
      if (!IsForDevice(from + handle.offset, handle, &block.opened_bytes)) return false;
      are_compressed = block.opened_bytes != 0;
      at += handle.bytes + table::kBlockTrailerBytes;
    }
    return true;
  }

  // Where the blocks go that the device opens; false where that is too much.
  bool PlaceOpened() {
    loaded_.opened_bytes = 0;
    for (LoadedBlock& block : loaded_.blocks) {
      block.opened_at = loaded_.opened_bytes;
      loaded_.opened_bytes += block.opened_bytes;
      if (loaded_.opened_bytes > kPieceBytesMax) return false;
    }
    return true;
  }

  // Where the first block is opened here most are, as a rule: then what was read is not what goes
  // to the device.
  Status Probe() {
    table::OutputBuffer first;
    Extent probe = extents_[0];
    probe.at = 0;
    probe.align = 1;
    probe.bytes = handles_[0].bytes + table::kBlockTrailerBytes;
    if (Status status = Read(probe, first.Reserve(probe.bytes)); !status.ok()) return status;
    in_place_ = IsForDevice(first.Reserve(0), handles_[0], &opened_bytes_of_first_);
    bytes_ = EndOf(extents_.back());
    return Status::Ok();
  }

  // Whether the device could read all of it. What it has read nobody has looked at.
  bool ReadByDevice(JobStorage* storage) {
    if (opened_bytes_of_first_ != 0) return false;
    std::vector<DeviceStorage::File*> files;
    for (const Extent& extent : extents_) {
      DeviceStorage::File* const file =
          extent.file->mapped.empty() ? storage->Open(*extent.file->file) : nullptr;
      if (file == nullptr) return false;
      files.push_back(file);
    }
    char* const range = loaded_.storage_range.TakeAtLeast(bytes_);
    if (range == nullptr) return false;
    std::atomic<bool> all{true};
    crew_.ForEach(extents_.size(), [&](size_t i) {
      const Extent& extent = extents_[i];
      const uint64_t before = extent.at % extent.align;
      const uint64_t at = extent.at - before;
      Result<uint64_t> got = files[i]->Read(extent.offset - before, EndOf(extent) - at, range, at);
      if (!got || *got < before + extent.bytes) all.store(false, std::memory_order_relaxed);
    });
    if (!all) return false;
    loaded_.on_device = range;
    for (const Extent& extent : extents_) {
      loaded_.bytes_read += extent.bytes;
      uint64_t at = extent.at;
      for (size_t i = extent.first_block; i < extent.first_block + extent.blocks; i++) {
        loaded_.blocks[i] = {
            .at = at, .bytes = static_cast<uint32_t>(handles_[i].bytes), .is_stored = 1};
        at += handles_[i].bytes + table::kBlockTrailerBytes;
      }
    }
    storage->CountRead(loaded_.bytes_read);
    return true;
  }

  Status ReadExtents() {
    table::OutputBuffer* const into = in_place_ ? &loaded_.bytes : &loaded_.files;
    read_ = into->Reserve(bytes_);
    into->CommitTo(read_ + bytes_);
    std::vector<Status> read(extents_.size());
    crew_.ForEach(extents_.size(),
                  [&](size_t i) { read[i] = Read(extents_[i], read_ + extents_[i].at); });
    for (const Extent& extent : extents_) loaded_.bytes_read += extent.bytes;
    return FirstError(read);
  }

  // REQUIRES: there is room for what is read before and behind it
  static Status Read(const Extent& extent, char* to) {
    const uint64_t before = extent.at % extent.align;
    std::string_view read;
    Status status = base::ReadOnAt(*extent.file->file, extent.offset - before,
                                   EndOf(extent) - (extent.at - before), before + extent.bytes,
                                   &read, to - before);
    if (!status.ok()) return status;
    if (read.size() < before + extent.bytes)
      return table::BlockCorruption(*extent.file, extent.offset, "ends early");
    if (read.data() != to - before) std::memcpy(to, read.data() + before, extent.bytes);
    return Status::Ok();
  }

  // Whether the device takes the block as it stands. *opened_bytes: what it makes of it, or 0.
  static bool IsForDevice(const char* stored, const table::BlockHandle& handle,
                          uint32_t* opened_bytes) {
    *opened_bytes = 0;
    const auto type = static_cast<Compression>(stored[handle.bytes]);
    if (type != Compression::kSnappy) return type == Compression::kNone;
    Result<size_t> bytes = table::DecompressedBytes(type, {stored, handle.bytes});
    if (!bytes || *bytes == 0 || *bytes > kPieceBytesMax) return false;
    *opened_bytes = static_cast<uint32_t>(*bytes);
    return true;
  }

  // Blocks that are as the device wants them stay where they are, or are copied; the others are
  // opened.
  Status TakeBlocks() {
    std::vector<Status> done(extents_.size());
    crew_.ForEach(extents_.size(), [&](size_t i) { done[i] = Look(extents_[i]); });
    if (Status status = FirstError(done); !status.ok()) return status;
    uint64_t end = in_place_ ? bytes_ : 0;
    for (LoadedBlock& block : loaded_.blocks) {
      if (in_place_ && block.is_stored != 0) continue;
      block.at = end;
      end += block.bytes + (block.is_stored != 0 ? table::kBlockTrailerBytes : 0);
      if (end > kPieceBytesMax) return TooLarge();
    }
    if (!PlaceOpened()) return TooLarge();
    // What was read is moved where there is no room behind it.
    char* const more = loaded_.bytes.Reserve(end - loaded_.bytes.size());
    loaded_.bytes.CommitTo(more + (end - loaded_.bytes.size()));
    if (in_place_) read_ = loaded_.bytes.data();
    crew_.ForEach(extents_.size(), [&](size_t i) { done[i] = Place(extents_[i]); });
    return FirstError(done);
  }

  // What the extent's blocks will take.
  Status Look(const Extent& extent) {
    uint64_t at = extent.at;
    for (size_t i = extent.first_block; i < extent.first_block + extent.blocks; i++) {
      const table::BlockHandle& handle = handles_[i];
      LoadedBlock& block = loaded_.blocks[i];
      block.is_stored = IsForDevice(read_ + at, handle, &block.opened_bytes) ? 1 : 0;
      block.at = at;
      block.bytes = static_cast<uint32_t>(handle.bytes);
      if (block.is_stored == 0) {
        Result<size_t> bytes = table::CheckBlock(*extent.file, handle, StoredAt(at, handle));
        if (!bytes) return bytes.error();
        block.bytes = static_cast<uint32_t>(*bytes);
      }
      at += handle.bytes + table::kBlockTrailerBytes;
    }
    return Status::Ok();
  }

  Status Place(const Extent& extent) {
    uint64_t at = extent.at;
    for (size_t i = extent.first_block; i < extent.first_block + extent.blocks; i++) {
      const LoadedBlock& block = loaded_.blocks[i];
      const std::string_view stored = StoredAt(at, handles_[i]);
      char* const to = loaded_.bytes.data() + block.at;
      if (block.is_stored == 0) {
        Status status = table::OpenBlockTo(*extent.file, handles_[i], stored, to, block.bytes);
        if (!status.ok()) return status;
      } else if (to != stored.data()) {
        std::memcpy(to, stored.data(), stored.size());
      }
      at += stored.size();
    }
    return Status::Ok();
  }

  std::string_view StoredAt(uint64_t at, const table::BlockHandle& handle) const {
    return {read_ + at, handle.bytes + table::kBlockTrailerBytes};
  }

  const PiecePlan& plan_;
  base::Crew& crew_;
  LoadedPiece& loaded_;
  std::vector<table::BlockHandle> handles_;  // by block
  std::vector<Extent> extents_;
  uint64_t bytes_ = 0;  // of all extents
  char* read_ = nullptr;
  bool in_place_ = true;  // what is read lies in LoadedPiece::bytes
  uint32_t opened_bytes_of_first_ = 0;
};

}  // namespace

Status LoadPiece(const PiecePlan& plan, const Piece& piece, base::Crew* crew,
                 const base::BufferMemory* memory, JobStorage* storage, LoadedPiece* loaded) {
  loaded->ranges.clear();
  loaded->bytes.Clear();
  loaded->files.Clear();
  loaded->on_device = nullptr;
  loaded->blocks.clear();
  loaded->run_blocks.assign(1, 0);
  loaded->opened_bytes = 0;
  loaded->bytes_read = 0;
  if (piece.bytes > kPieceBytesMax) return TooLarge();
  return Loader(plan, crew, loaded).Load(piece, memory, storage);
}

}  // namespace weft::compaction::device
