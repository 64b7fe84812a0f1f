#include "bench/workload/operation.h"

namespace weft::bench {

const char* NameOf(OperationKind kind) {
  switch (kind) {
    case OperationKind::kRead: return "read";
    case OperationKind::kUpdate: return "update";
    case OperationKind::kInsert: return "insert";
    case OperationKind::kReadModifyWrite: return "read-modify-write";
    case OperationKind::kScan: return "scan";
    case OperationKind::kDelete: return "delete";
  }
  return "unknown";
}

}  // namespace weft::bench
