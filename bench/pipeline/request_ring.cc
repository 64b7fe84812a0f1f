#include "bench/pipeline/request_ring.h"

namespace weft::bench {

RequestRing::RequestRing(const Workload& workload, size_t requests)
    : key_bytes_(workload.key_bytes),
      value_bytes_(workload.value_bytes),
      get_share_(workload.get_share),
      requests_(requests),
      stride_(sizeof(RequestHead) + workload.key_bytes),
      bytes_(requests * stride_) {}

void RequestRing::Fill(const KeyPicker& picker, uint64_t seed) {
  base::Random random(seed);
  const auto get_below = static_cast<uint64_t>(get_share_ * 4294967296.0);
  for (size_t i = 0; i < requests_; ++i) {
    char* const at = bytes_.data() + i * stride_;
    RequestHead head;
    const bool is_get = (random.Next() >> 32) < get_below;
    head.opcode = is_get ? Opcode::kGet : Opcode::kSet;
    head.key_bytes = static_cast<uint8_t>(key_bytes_);
    head.value_bytes = static_cast<uint16_t>(is_get ? 0 : value_bytes_);
    std::memcpy(at, &head, sizeof head);
    WriteBinaryKey(picker.Next(random), at + sizeof head, key_bytes_);
  }
}

}  // namespace weft::bench
