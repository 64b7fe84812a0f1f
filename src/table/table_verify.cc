// Table::Verify: everything a table says, held against everything it should be.
#include <string>

#include "table/block.h"
#include "table/table.h"

namespace weft::table {

namespace {

// What has been seen of the table so far.
struct Walked {
  uint64_t entries = 0;
  std::string last_key;
  std::string_view floor;  // the separator before: keys from here on are above it
  bool has_floor = false;
};

// The entries of one block, in order behind what was seen before; null where nothing is wrong.
const char* WalkBlock(const KeyOrder& order, std::string_view separator, BlockIterator* it,
                      Walked* walked) {
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string_view key = it->key();
    if (order.is_internal() && key.size() < kTrailerBytes) return "key too short";
    if (walked->entries > 0 && order.Compare(walked->last_key, key) >= 0) {
      return "keys out of order";
    }
    if (walked->has_floor && order.Compare(walked->floor, key) >= 0) {
      return "keys not above what the index says of the block before";
    }
    walked->last_key.assign(key);
    ++walked->entries;
  }
  if (it->damaged()) return "bad entry";
  if (walked->entries > 0 && order.Compare(walked->last_key, separator) > 0) {
    return "keys above what the index says";
  }
  walked->floor = separator;
  walked->has_floor = true;
  return nullptr;
}

}  // namespace

Status Table::Verify(uint64_t* entries,
                     const std::function<void(uint64_t bytes_done)>& progress) const {
  if (!filter_status_.ok()) return filter_status_;
  // Not from the cache: what is to be verified is the file.
  Walked walked;
  BlockIterator it;
  for (size_t i = 0; i < index_.size(); ++i) {
    const BlockHandle handle = index_.At(i).handle();
    Result<BlockContents> contents = ReadBlock(blocks_, handle, true);
    if (!contents) return contents.error();
    it.Reset(order_, contents->data);
    const char* wrong = it.damaged() ? "bad block" : nullptr;
    if (wrong == nullptr) wrong = WalkBlock(order_, index_.SeparatorAt(i), &it, &walked);
    if (wrong != nullptr) return BlockCorruption(blocks_, handle.offset, wrong);
    if (progress != nullptr) progress(handle.offset + handle.bytes);
  }
  if (entries != nullptr) *entries = walked.entries;
  return {};
}

}  // namespace weft::table
