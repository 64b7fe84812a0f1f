#include "bench/durable/payload.h"

#include "base/check.h"

namespace weft::bench {
namespace {

// Pieces of 100 bytes whose second half repeats the first: half the bytes are news.
constexpr size_t kPieceBytes = 100;
// Stays in the processor's second cache: what is measured is the store, not the making of values.
constexpr size_t kPoolBytes = 64u << 10;
constexpr size_t kValueBytesMax = 1u << 20;

}  // namespace

ValueMaker::ValueMaker(size_t value_bytes) : value_bytes_(value_bytes) {
  WEFT_CHECK(value_bytes >= kDurableValueBytesMin && value_bytes <= kValueBytesMax);
  base::Random random(301);
  while (pool_.size() < kPoolBytes + value_bytes) {
    std::string half;
    for (size_t i = 0; i < kPieceBytes / 2; ++i)
      half += static_cast<char>(' ' + random.Below(95));  // printable
    pool_ += half + half;
  }
}

}  // namespace weft::bench
