// Any bytes behind the start of a meta command, which the first byte picks.
#include "protocol/fuzz_test_kit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  constexpr std::string_view kStarts[] = {"mg ", "ms a 2 ", "ms ",   "md ",
                                          "ma ", "me ",     "mg a ", "ms YWI= 4 b "};
  if (bytes == 0) return 0;
  weft::protocol::FuzzParser(kStarts[data[0] % std::size(kStarts)],
                             {reinterpret_cast<const char*>(data) + 1, bytes - 1});
  return 0;
}
