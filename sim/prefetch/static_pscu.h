// sim/prefetch/static_pscu.h: the same number of bytes of each object, known before the run.
//
// SizeMode::kValue   the register has a value's size, and an object's header and key are added to
//                    it, so that the right value covers the whole object
// SizeMode::kRaw     the register's bytes from the object's begin on, whatever they are
//
// Units     bytes.
// Threads   one owner.
// Source    paper 004, section 3.4; the simulator's specification, section 3.6.
#pragma once

#include "sim/prefetch/lines.h"
#include "sim/prefetch/pscu.h"
#include "sim/trace/trace_source.h"

namespace weft::sim {

enum class SizeMode : uint8_t { kValue, kRaw };

// The bytes of the object that `register_bytes` means.
inline uint64_t BytesToFetch(uint64_t register_bytes, SizeMode mode, const StoreShape& shape) {
  return mode == SizeMode::kRaw ? register_bytes : shape.ObjectBytes(register_bytes);
}

class StaticPscu final : public Pscu {
 public:
  // REQUIRES: register_bytes > 0
  StaticPscu(uint64_t register_bytes, SizeMode mode, const StoreShape& shape)
      : bytes_(BytesToFetch(register_bytes, mode, shape)) {}

  uint64_t LinesAtOnce(const TableSlot& object) const override {
    return LineCount(object.addr, bytes_);
  }

 private:
  const uint64_t bytes_;
};

}  // namespace weft::sim
