#include "compaction/device/piece/table_layout.h"

#include "table/filter_block_builder.h"

namespace weft::compaction::device {

namespace {

uint64_t EndOf(const BlockPlace& place) {
  return place.offset + place.stored_bytes + table::kBlockTrailerBytes;
}

}  // namespace

std::vector<TablePart> PartsOf(const std::vector<BlockPlace>& places) {
  std::vector<TablePart> parts;
  for (size_t i = 0; i < places.size(); i++) {
    if (parts.empty() || parts.back().ends_table)
      parts.push_back(
          {.first = i, .offset = places[i].offset, .begins_table = places[i].offset == 0});
    TablePart& part = parts.back();
    part.end = i + 1;
    part.bytes += places[i].stored_bytes + table::kBlockTrailerBytes;
    part.ends_table = places[i].ends_table != 0;
  }
  return parts;
}

std::vector<BlockPlace> TableLayout::Place(const std::vector<PackedBlock>& blocks, bool are_last) {
  std::vector<BlockPlace> places;
  places.reserve(blocks.size());
  uint64_t offset = offset_;
  for (const PackedBlock& block : blocks) {
    BlockPlace place{.offset = offset, .stored_bytes = block.stored_bytes, .ends_table = 0};
    offset = EndOf(place);
    const bool is_last = are_last && places.size() + 1 == blocks.size();
    if (offset >= job_.output_bytes_max || block.is_cut_behind || is_last) {
      place.ends_table = 1;
      offset = 0;
    }
    places.push_back(place);
  }
  if (!are_last && job_.format.filter != nullptr) {
    // The next block may begin in the same window of the filter block.
    const uint64_t window = offset >> table::kFilterWindowBits;
    while (!places.empty() && places.back().ends_table == 0 &&
           places.back().offset >> table::kFilterWindowBits == window) {
      places.pop_back();
    }
  }
  if (!places.empty()) offset_ = places.back().ends_table != 0 ? 0 : EndOf(places.back());
  return places;
}

}  // namespace weft::compaction::device
