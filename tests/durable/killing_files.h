// tests/durable/killing_files.h: a file system that ends the process in the middle of a chosen
// call.
//
// A signal from outside rarely hits the few microseconds between two calls that must belong
// together. This file system counts the calls that change something, and raises SIGKILL at the
// chosen one: before it, after it, or, if it appends, after half of the bytes.
//
// Threads   as the file system behind it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "weft/file_system.h"

namespace weft::durable {

enum class KillMoment : uint8_t { kBefore, kHalf, kAfter };

// Ends the process at call number `call`, the first being 1. `calls` counts them.
std::unique_ptr<FileSystem> NewKillingFileSystem(FileSystem* files, uint64_t call,
                                                 KillMoment moment);

}  // namespace weft::durable
