// In place of leveldb_store.cc where LevelDB's library is missing or cannot be used (it is not made
// for ThreadSanitizer).
#include "durable/store.h"

namespace weft::durable {

Engine* LevelDbEngine() { return nullptr; }

}  // namespace weft::durable
