#include "table/table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/coding.h"
#include "base/read_on.h"
#include "table/block.h"
#include "table/table_iterator.h"

namespace weft::table {

namespace {

void DropCachedBlock(std::string_view, void* value) { delete static_cast<BlockContents*>(value); }

constexpr size_t kCacheKeyBytes = 16;

}  // namespace

Table::Table(const TableReadOptions& options, std::unique_ptr<RandomAccessFile> file,
             uint64_t bytes, std::string path)
    : order_(options.order),
      filter_policy_(options.filter),
      cache_(options.cache),
      counters_(options.counters),
      copies_(options.copies),
      file_(std::move(file)),
      path_(std::move(path)) {
  blocks_ = {file_.get(), &path_, bytes, file_->Mapped()};
}

Table::~Table() = default;

Result<std::unique_ptr<Table>> Table::Open(const TableReadOptions& options,
                                           std::unique_ptr<RandomAccessFile> file, uint64_t bytes,
                                           std::string path) {
  // Freed by the pointer; make_unique cannot see the constructor.
  std::unique_ptr<Table> table(new Table(options, std::move(file), bytes, std::move(path)));
  Status status = table->ReadIndex();
  if (!status.ok()) return status;
  status = table->ReadFilter(table->footer_.metaindex);
  if (!status.ok()) {
    if (options.verify || status.code() != Code::kCorruption) return status;
    table->filter_status_ = std::move(status);
  }
  if (table->cache_ != nullptr) table->cache_id_ = table->cache_->NewId();
  return table;
}

Status Table::ReadIndex() {
  if (blocks_.bytes < kFooterBytes) {
    return {Code::kCorruption, path_ + ": too short for a table"};
  }
  if (!blocks_.mapped.empty()) {
    if (blocks_.mapped.size() < blocks_.bytes) return {Code::kCorruption, path_ + ": ends early"};
    blocks_.mapped = blocks_.mapped.substr(0, blocks_.bytes);
  }
  const uint64_t footer_offset = blocks_.bytes - kFooterBytes;
  char room[kFooterBytes];
  std::string_view footer;
  Status status = base::ReadOnAt(*file_, footer_offset, kFooterBytes, &footer, room);
  if (!status.ok()) return status;
  if (footer.size() != kFooterBytes) return {Code::kCorruption, path_ + ": ends early"};
  status = footer_.DecodeFrom(footer);
  if (!status.ok()) return {Code::kCorruption, path_ + ": " + std::string(status.message())};

  Result<BlockContents> contents = ReadKept(footer_.index);
  if (!contents) return contents.error();
  index_contents_ = std::move(*contents);
  status = index_.Parse(order_, index_contents_.data, footer_offset);
  if (!status.ok()) return BlockCorruption(blocks_, footer_.index.offset, status.message());
  return {};
}

// A block that stays as long as the table does.
Result<BlockContents> Table::ReadKept(const BlockHandle& handle) const {
  Result<BlockContents> contents = ReadBlock(blocks_, handle, true);
  if (!contents || !copies_ || contents->owned != nullptr) return contents;
  BlockContents copy;
  copy.owned = std::make_unique_for_overwrite<char[]>(contents->data.size());
  std::memcpy(copy.owned.get(), contents->data.data(), contents->data.size());
  copy.data = {copy.owned.get(), contents->data.size()};
  return copy;
}

// A table without a filter, or with another policy's, is no error.
Status Table::ReadFilter(const BlockHandle& metaindex) {
  if (filter_policy_ == nullptr) return {};
  Result<BlockContents> meta = ReadBlock(blocks_, metaindex, true);
  if (!meta) return meta.error();
  const std::string name = std::string("filter.") + filter_policy_->Name();
  BlockIterator it(BytewiseComparator(), meta->data);
  it.Seek(name);
  if (it.damaged()) return BlockCorruption(blocks_, metaindex.offset, "bad metaindex block");
  if (!it.Valid() || it.key() != name) return {};
  std::string_view value = it.value();
  BlockHandle handle;
  if (!handle.TakeFrom(&value)) {
    return BlockCorruption(blocks_, metaindex.offset, "bad filter handle");
  }
  Result<BlockContents> contents = ReadKept(handle);
  if (!contents) return contents.error();
  filter_ = FilterBlockReader(filter_policy_, contents->data);
  if (filter_.empty()) return BlockCorruption(blocks_, handle.offset, "bad filter block");
  filter_contents_ = std::move(*contents);
  index_.TakeFilters(filter_);
  return {};
}

Result<Table::PinnedBlock> Table::DataBlockAt(const ReadOptions& options,
                                              const BlockHandle& handle) const {
  const char* block = BlockInPlace(blocks_, handle);
  if (block == nullptr) return ReadDataBlock(options, handle);
  if (options.verify_checksums) {
    Result<BlockContents> checked = ReadBlock(blocks_, handle, true);
    if (!checked) return checked.error();
  }
  return PinnedBlock{{block, handle.bytes}, {}};
}

// Blocks that need memory of their own go through the cache. They are checked when they are read:
// what the cache has was checked if its first reader asked for it.
Result<Table::PinnedBlock> Table::ReadDataBlock(const ReadOptions& options,
                                                const BlockHandle& handle) const {
  char cache_key[kCacheKeyBytes];
  const std::string_view key(cache_key, sizeof cache_key);
  if (cache_ != nullptr) {
    base::EncodeFixed64(cache_key, cache_id_);
    base::EncodeFixed64(cache_key + 8, handle.offset);
    BlockCache::Handle* held = cache_->Lookup(key);
    Count(held != nullptr ? ReadCounters::kCacheHits : ReadCounters::kCacheMisses);
    if (held != nullptr) {
      const auto* cached = static_cast<const BlockContents*>(cache_->Value(held));
      return PinnedBlock{cached->data, BlockPin(cache_, held)};
    }
  }
  Result<BlockContents> contents = ReadBlock(blocks_, handle, options.verify_checksums);
  if (!contents) return contents.error();
  const std::string_view data = contents->data;
  if (contents->owned == nullptr) return PinnedBlock{data, {}};
  if (cache_ == nullptr || !options.fill_cache) {
    return PinnedBlock{data, BlockPin(std::move(contents->owned))};
  }
  auto* cached = new BlockContents(std::move(*contents));  // freed by DropCachedBlock
  const size_t charge = data.size() + sizeof *cached;
  return PinnedBlock{data, BlockPin(cache_, cache_->Insert(key, cached, charge, &DropCachedBlock))};
}

std::unique_ptr<TableIterator> Table::NewIterator(const ReadOptions& options) const {
  return std::make_unique<TableIterator>(this, options);
}

uint64_t Table::ApproximateOffsetOf(std::string_view key) const {
  const size_t i = index_.LowerBound(key);
  if (i < index_.size()) return index_.At(i).offset;
  return footer_.metaindex.offset < blocks_.bytes ? footer_.metaindex.offset : blocks_.bytes;
}

uint64_t Table::data_blocks() const { return index_.size(); }

void Table::ForEachDataBlock(const std::function<bool(const DataBlock&)>& visit) const {
  for (size_t i = 0; i < index_.size(); ++i) {
    if (!visit({index_.At(i).handle(), index_.SeparatorAt(i)})) return;
  }
}

size_t Table::MemoryUsage() const {
  const size_t index = index_contents_.owned != nullptr ? index_contents_.data.size() : 0;
  const size_t filter = filter_contents_.owned != nullptr ? filter_contents_.data.size() : 0;
  return sizeof *this + path_.capacity() + index_.MemoryUsage() + index + filter;
}

}  // namespace weft::table
