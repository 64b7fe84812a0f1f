#include "base/clock.h"

namespace weft::base {
namespace {

int64_t CoarseMonotonicSeconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec;
}

}  // namespace

uint32_t NowSeconds() {
  static const int64_t offset = std::time(nullptr) - CoarseMonotonicSeconds();
  return static_cast<uint32_t>(CoarseMonotonicSeconds() + offset);
}

}  // namespace weft::base
