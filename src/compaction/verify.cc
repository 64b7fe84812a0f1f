// Reads a finished table back and holds it to what it should be.
#include <string>
#include <string_view>

#include "compaction/entry_walk.h"
#include "compaction/job.h"
#include "compaction/table_input.h"
#include "table/key_order.h"

namespace weft::compaction {

namespace {

// What stands between the blocks' separators and their keys is checked by the table's own order.
template <typename Order>
Status VerifyBlocks(TableInput* input, const OutputTable& expected, Order order) {
  using Step = typename EntryWalk<Order>::Step;
  EntryWalk<Order> walk(order);
  std::string separator;  // of the block before
  uint64_t entries = 0;
  for (;;) {
    Result<std::string_view> block = input->NextBlock();
    if (!block) return block.error();
    if (block->empty()) break;
    if (!walk.StartBlock(*block, input->next_block_ahead()))
      return input->Corruption(walk.damage());
    Step step = walk.Next();
    if (step == Step::kEndOfBlock) return input->Corruption("is empty");
    if (step == Step::kEntry && entries != 0 && order.Compare(walk.key(), separator) <= 0) {
      return input->Corruption("does not begin after the separator before it");
    }
    if (step == Step::kEntry && entries == 0 && walk.key() != expected.smallest) {
      return input->Corruption("does not begin with the table's smallest key");
    }
    for (; step == Step::kEntry; step = walk.Next()) entries++;
    if (step == Step::kDamaged) return input->Corruption(walk.damage());
    separator = input->separator();
    if (order.Compare(walk.key(), separator) > 0) {
      return input->Corruption("holds a key above its separator");
    }
  }
  if (entries != expected.entries) {
    return {Code::kCorruption, expected.path + ": has " + std::to_string(entries) +
                                   " entries, not " + std::to_string(expected.entries)};
  }
  if (walk.key() != expected.largest) {
    return {Code::kCorruption, expected.path + ": does not end with its largest key"};
  }
  return Status::Ok();
}

}  // namespace

Status VerifyTable(const Job& job, const OutputTable& expected) {
  JobTable table;
  table.number = expected.number;
  table.bytes = expected.bytes;
  table.path = expected.path;
  Result<std::unique_ptr<TableInput>> input = TableInput::Open(job, table, {});
  if (!input) return input.error();
  Status status = table::KeyOrder(job.comparator).Visit([&](auto order) {
    return VerifyBlocks(input->get(), expected, order);
  });
  if (!status.ok()) return status;
  return (*input)->CheckOtherBlocks();
}

}  // namespace weft::compaction
