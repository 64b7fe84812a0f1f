// base/posix_direct.h: the system's files past its page cache (O_DIRECT). For data read or written
// once, no page is allocated, filled and copied by the CPU, and none that others read is evicted.
//
// Files, offsets and memory of such calls are multiples of kDirectAlign. Other reads go through a
// buffer of the thread's, and appends are collected in a buffer of the file's. Large appends are
// written from where they lie if their address equals the place in the file, modulo kDirectAlign. A
// file's last bytes are written with zeros behind them, which are cut off.
//
// Threads   as weft/file_system.h says.
// Errors    as weft/file_system.h says; both give ordinary files where the file system has no such
//           thing, or wants a larger alignment. A file that failed to be written once stays failed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "weft/file_system.h"

namespace weft::base {

// What most disks and file systems ask for, at most.
inline constexpr size_t kDirectAlign = 4096;

Result<std::unique_ptr<RandomAccessFile>> OpenDirectRandomAccessFile(const std::string& path);

// An empty file, in place of any of that name.
Result<std::unique_ptr<WritableFile>> OpenDirectWritableFile(const std::string& path, FileUse use);

}  // namespace weft::base
