#include "sim/trace/table_image.h"

namespace weft::sim {

void TableImage::Apply(const Record& record) {
  if (record.kind != RecordKind::kSlot && record.kind != RecordKind::kChain) return;
  TableSlot& slot = At(record.aux, record.slot);
  if (record.kind == RecordKind::kSlot && record.size == 0) {
    slot = {};
    return;
  }
  slot = {.addr = record.addr,
          .bytes = record.size,
          .tag = record.tag,
          .is_chain = record.kind == RecordKind::kChain};
}

}  // namespace weft::sim
