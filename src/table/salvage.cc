#include "table/salvage.h"

#include <algorithm>
#include <utility>

#include "base/coding.h"
#include "table/block.h"
#include "table/block_search.h"
#include "table/format.h"

namespace weft::table {

namespace {

// What the keys of a block that a search finds may come to, as many times its size: as in a table
// with a restart point for so many. A value may be a block whose keys are thousands of times it.
constexpr size_t kKeysGainMax = 256;
// A search reads so much of any file.
constexpr uint64_t kWorkBytesMin = 1u << 20;

uint64_t EndOf(const BlockHandle& handle) {
  return handle.offset + handle.bytes + kBlockTrailerBytes;
}

auto PlaceOf(const BlockHandle& handle) { return std::pair(handle.offset, handle.bytes); }

bool Lies(const BlockHandle& handle, uint64_t file_bytes) {
  return handle.bytes <= file_bytes && handle.offset <= file_bytes - handle.bytes &&
         EndOf(handle) <= file_bytes;
}

// What a filter that is not there leaves of a metaindex block.
constexpr size_t kEmptyBlockBytes = 2 * sizeof(uint32_t);

bool Contains(const std::vector<BlockHandle>& found, const BlockHandle& handle) {
  auto it = std::ranges::lower_bound(found, EndOf(handle), {}, EndOf);
  while (it != found.end() && EndOf(*it) == EndOf(handle) && it->offset != handle.offset) ++it;
  return it != found.end() && EndOf(*it) == EndOf(handle);
}

}  // namespace

Status TableSalvage::Run(FileSystem* files, const std::string& path) {
  path_ = path;
  auto file = base::AroundFile::Open(files, path);
  if (!file) return base::IsOfTheFile(file.error()) ? Status() : file.error();
  file_.resize(std::min((*file)->bytes(), bytes_max_));
  std::string_view read;
  if (Status status = (*file)->Read(file_.size(), &read, file_.data()); !status.ok()) return status;
  file_.resize(read.size());
  unreadable_ = (*file)->unreadable();
  skipped_bytes_ = file_.size();
  const std::optional<Index> index = IndexOfFooter();
  return index ? RunByIndex(*index) : RunBySearch();
}

BlockFile TableSalvage::View() const {
  BlockFile file;
  file.path = &path_;
  file.bytes = file_.size();
  file.mapped = file_;
  return file;
}

Result<BlockContents> TableSalvage::Read(const BlockHandle& handle) {
  if (Lies(handle, file_.size())) work_bytes_ += handle.bytes;
  auto contents = ReadBlock(View(), handle, true);
  if (contents && contents->owned != nullptr) work_bytes_ += contents->data.size();
  return contents;
}

std::optional<TableSalvage::Index> TableSalvage::ReadIndex(const BlockHandle& handle,
                                                           uint64_t base) {
  auto contents = Read({handle.offset + base, handle.bytes});
  if (!contents) return std::nullopt;
  Index index;
  uint64_t end = base;
  BlockIterator entries(order_, contents->data);
  size_t keys_bytes = 0;
  for (entries.SeekToFirst(); entries.Valid(); entries.Next()) {
    BlockHandle block;
    std::string_view value = entries.value();
    if (!block.TakeFrom(&value) || block.offset > file_.size()) return std::nullopt;
    block.offset += base;
    if (!Lies(block, file_.size()) || block.offset < end) return std::nullopt;
    if (entries.key().size() < kTrailerBytes) return std::nullopt;
    if (!index.empty() && order_.Compare(index.back().first, entries.key()) >= 0) {
      return std::nullopt;
    }
    end = EndOf(block);
    keys_bytes += entries.key().size();
    work_bytes_ += entries.key().size();
    if (keys_bytes > RestoredKeysBytesMax(contents->data.size())) return std::nullopt;
    index.emplace_back(entries.key(), block);
  }
  if (entries.damaged() || index.empty()) return std::nullopt;
  return index;
}

std::optional<TableSalvage::Index> TableSalvage::IndexOfFooter() {
  Footer footer;
  if (file_.size() < kFooterBytes) return std::nullopt;
  const std::string_view end = std::string_view(file_).substr(file_.size() - kFooterBytes);
  if (!footer.DecodeFrom(end).ok()) return std::nullopt;
  return ReadIndex(footer.index, 0);
}

Status TableSalvage::RunByIndex(const Index& index) {
  by_index_ = true;
  std::string_view floor;
  for (const auto& [separator, handle] : index) {
    if (Status status = TakeBlock(handle, floor, &separator); !status.ok()) return status;
    floor = separator;
  }
  return {};
}

Status TableSalvage::RunBySearch() {
  const std::vector<BlockHandle> found = FindBlocks(file_);
  work_bytes_ += file_.size();
  uint64_t unseen = 0;
  std::vector<Seen> seen = LookAtAll(found, &unseen);
  unseen += refused_;
  not_looked_at_ = unseen;
  if (!seen.empty()) {
    const auto inner = BlocksOfInnerTables(seen.front().block.handle.offset, found);
    const auto is_inner = [&](const Seen& each) {
      return std::ranges::binary_search(inner, PlaceOfSeen(each), {}, PlaceOf);
    };
    std::erase_if(seen, is_inner);
  }
  if (const std::optional<Index> index = FindIndex(found, &seen)) return RunByIndex(*index);
  skipped_blocks_ += unseen;
  std::vector<FoundBlock> blocks;
  for (Seen& each : seen) {
    if (each.is_index) continue;
    skipped_blocks_++;
    skipped_entries_ += each.block.entries;
    if (!each.is_newer) blocks.push_back(std::move(each.block));
  }
  for (const size_t i : HeaviestChain(order_, blocks)) {
    skipped_blocks_--;
    skipped_entries_ -= blocks[i].entries;
    if (Status status = TakeBlock(blocks[i].handle, {}, nullptr); !status.ok()) return status;
  }
  return {};
}

uint64_t TableSalvage::WorkMax() const { return kSearchWork * file_.size() + kWorkBytesMin; }

// From the file's end, where its index is. Stretches that no other covers are the file itself, and
// each is looked at, whatever it unpacks to. Only of those that lie over others may there be more
// than the file has bytes.
std::vector<TableSalvage::Seen> TableSalvage::LookAtAll(const std::vector<BlockHandle>& found,
                                                        uint64_t* unseen) {
  std::vector<Seen> seen;
  uint64_t begin = file_.size();  // of what was looked at
  uint64_t work_again = 0;
  for (auto it = found.rbegin(); it != found.rend(); ++it) {
    const BlockHandle& handle = *it;
    const bool again = EndOf(handle) > begin;
    if (again && work_again > WorkMax()) {
      ++*unseen;
      continue;
    }
    const uint64_t before = work_bytes_;
    if (std::optional<Seen> each = Look(handle)) seen.push_back(std::move(*each));
    if (again) work_again += work_bytes_ - before;
    begin = std::min(begin, handle.offset);
  }
  std::ranges::sort(seen, {}, PlaceOfSeen);
  return seen;
}

std::optional<TableSalvage::Seen> TableSalvage::Look(const BlockHandle& handle) {
  auto contents = Read(handle);
  if (!contents) return std::nullopt;
  Seen seen;
  FoundBlock& block = seen.block;
  block.handle = handle;
  bool names_blocks = true;
  uint64_t named_end = 0;
  ParsedKey parsed;
  size_t keys_bytes = 0;
  BlockIterator entries(order_, contents->data);
  for (entries.SeekToFirst(); entries.Valid(); entries.Next()) {
    keys_bytes += entries.key().size();
    work_bytes_ += entries.key().size();
    if (keys_bytes > RestoredKeysBytesMax(contents->data.size(), kKeysGainMax)) {
      refused_++;
      return std::nullopt;
    }
    if (!ParseInternalKey(entries.key(), &parsed)) return std::nullopt;
    if (block.entries == 0) block.first_key.assign(entries.key());
    if (block.entries > 0 && order_.Compare(block.last_key, entries.key()) >= 0) {
      return std::nullopt;
    }
    block.last_key.assign(entries.key());
    block.entries++;
    seen.is_newer |= parsed.sequence > newest_;
    // An index block's values are the handles of the data blocks, which lie one behind the other.
    BlockHandle named;
    std::string_view value = entries.value();
    names_blocks = names_blocks && named.TakeFrom(&value) && value.empty() &&
                   named.offset == named_end && Lies(named, handle.offset);
    if (names_blocks) named_end = EndOf(named);
  }
  if (entries.damaged() || block.entries == 0) return std::nullopt;
  if (names_blocks) seen.named_end = named_end;
  return seen;
}

std::vector<BlockHandle> TableSalvage::BlocksOfInnerTables(uint64_t first_block,
                                                           const std::vector<BlockHandle>& found) {
  std::vector<BlockHandle> blocks;
  const uint64_t before = work_bytes_;
  std::string magic;
  base::PutFixed64(&magic, kTableMagic);
  size_t at = file_.find(magic, kFooterBytes - magic.size());
  for (; at != std::string::npos; at = file_.find(magic, at + 1)) {
    const uint64_t end = at + magic.size();
    Footer footer;
    const std::string_view bytes = std::string_view(file_).substr(end - kFooterBytes, kFooterBytes);
    if (!footer.DecodeFrom(bytes).ok() || !Lies(footer.index, end - kFooterBytes)) continue;
    // The index is the last before the footer.
    const uint64_t base = end - kFooterBytes - EndOf(footer.index);
    // A file that has got bytes before its own has its footer at the end.
    if (base == 0 || (end == file_.size() && first_block >= base)) continue;
    // A footer may claim any length: only what has its checksum is read.
    const BlockHandle handle{footer.index.offset + base, footer.index.bytes};
    if (!Contains(found, handle)) continue;
    if (work_bytes_ - before > WorkMax()) {
      not_looked_at_++;
      continue;
    }
    const std::optional<Index> index = ReadIndex(footer.index, base);
    if (!index) continue;
    for (const Named& named : *index) blocks.push_back(named.second);
    blocks.push_back(handle);
  }
  std::ranges::sort(blocks, {}, PlaceOf);
  return blocks;
}

// An index that no footer leads to, by what it looks like and leads to.
std::optional<TableSalvage::Index> TableSalvage::FindIndex(const std::vector<BlockHandle>& found,
                                                           std::vector<Seen>* seen) {
  uint64_t last_data = 0;
  for (const Seen& each : *seen) {
    if (each.named_end == 0) last_data = each.block.handle.offset;
  }
  for (Seen& each : *seen) {
    const BlockHandle handle = each.block.handle;
    if (!MayBeIndex(each, last_data)) continue;
    std::optional<Index> index = ReadIndex(handle, 0);
    if (!index) continue;
    const bool leads = std::ranges::any_of(*index, [&](const Named& named) {
      return std::ranges::binary_search(*seen, PlaceOf(named.second), {}, PlaceOfSeen);
    });
    if (leads) return index;
    each.is_index = index->size() > 1 || HasMetaindexBefore(handle.offset, found);
  }
  return std::nullopt;
}

// Data blocks lie only where it says; and behind them, before it, at least a metaindex block.
bool TableSalvage::MayBeIndex(const Seen& seen, uint64_t last_data) {
  return seen.named_end > last_data &&
         seen.named_end + kEmptyBlockBytes + kBlockTrailerBytes <= seen.block.handle.offset;
}

bool TableSalvage::HasMetaindexBefore(uint64_t offset,
                                      const std::vector<BlockHandle>& found) const {
  if (std::ranges::binary_search(found, offset, {}, EndOf)) return true;
  constexpr size_t kBytes = kEmptyBlockBytes + kBlockTrailerBytes;
  return offset >= kBytes && ReadBlock(View(), {offset - kBytes, kEmptyBlockBytes}, true);
}

Status TableSalvage::TakeBlock(const BlockHandle& handle, std::string_view floor,
                               const std::string* ceiling) {
  auto contents = Read(handle);
  if (!contents) {
    skipped_blocks_++;
    return contents.error().code() == Code::kCorruption ? Status() : contents.error();
  }
  const uint64_t before = entries_;
  ParsedKey parsed;
  BlockIterator entries(order_, contents->data);
  for (entries.SeekToFirst(); entries.Valid(); entries.Next()) {
    const std::string_view key = entries.key();
    const bool fits = ParseInternalKey(key, &parsed) &&
                      (floor.empty() || order_.Compare(floor, key) < 0) &&
                      (ceiling == nullptr || order_.Compare(key, *ceiling) <= 0) &&
                      (entries_ == 0 || order_.Compare(last_key_, key) < 0);
    if (!fits) {
      skipped_entries_++;
      continue;
    }
    last_key_.assign(key);
    entries_++;
    if (Status status = take_(key, entries.value()); !status.ok()) return status;
  }
  if (entries_ == before) {
    skipped_blocks_++;
    return {};
  }
  blocks_++;
  skipped_bytes_ -= handle.bytes + kBlockTrailerBytes;
  return {};
}

}  // namespace weft::table
