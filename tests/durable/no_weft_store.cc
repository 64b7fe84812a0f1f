// In place of weft_store.cc until the engine is there.
#include "durable/store.h"

namespace weft::durable {

Engine* WeftEngine() { return nullptr; }

}  // namespace weft::durable
