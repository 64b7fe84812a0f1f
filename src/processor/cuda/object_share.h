// processor/cuda/object_share.h: what a user allows for objects in a CUDA device's memory.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::processor {

// The variable of the environment, in MiB; without it the device takes a share of what is free.
inline constexpr const char* kObjectsVariable = "WEFT_CUDA_OBJECTS_MB";

// Bytes that `text` allows; null: any number. kInvalidArgument: it is not a number of MiB.
inline Result<uint64_t> AllowedObjectBytes(const char* text) {
  if (text == nullptr) return UINT64_MAX;
  const std::string_view all(text);
  uint64_t mib = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), mib);
  if (error != std::errc() || end != all.data() + all.size() || mib > UINT64_MAX >> 20)
    return Status(Code::kInvalidArgument, std::string(kObjectsVariable) + ": '" + std::string(all) +
                                              "' is not a number of MiB");
  return mib << 20;
}

}  // namespace weft::processor
