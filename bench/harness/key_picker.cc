#include "bench/harness/key_picker.h"

#include "bench/harness/defaults.h"

namespace weft::bench {

KeyPicker::KeyPicker(uint64_t keys, bool zipf)
    : keys_(keys),
      zipf_(zipf ? std::make_unique<base::Zipf>(keys, defaults::kZipfTheta) : nullptr) {}

}  // namespace weft::bench
