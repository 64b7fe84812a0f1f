// Any bytes as a client's stream. Dictionary: fuzz/corpus/protocol.dict.
#include "protocol/fuzz_test_kit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  weft::protocol::FuzzParser("", {reinterpret_cast<const char*>(data), bytes});
  return 0;
}
