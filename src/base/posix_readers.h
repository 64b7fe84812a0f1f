// base/posix_readers.h: the system's files, read in order or anywhere.
//
// A file read anywhere is mapped whole, so that a read is a pointer, up to kMappedFilesMax files
// and kMappedBytesMax bytes at once; further files are read by pread.
//
// Threads   as weft/file_system.h says.
// Errors    as weft/file_system.h says. A mapped file must not be cut while it is open, and a disk
//           that fails under one ends the process (SIGBUS): the price of reads without a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "weft/file_system.h"

namespace weft::base {

inline constexpr int64_t kMappedFilesMax = 4096;              // the kernel allows 65530 mappings
inline constexpr int64_t kMappedBytesMax = int64_t{1} << 43;  // of 47 bits of addresses

Result<std::unique_ptr<SequentialFile>> OpenPosixSequentialFile(const std::string& path);
// Maps at most `mapped_files_max` files at once: tests give less.
Result<std::unique_ptr<RandomAccessFile>> OpenPosixRandomAccessFile(
    const std::string& path, int64_t mapped_files_max = kMappedFilesMax);

}  // namespace weft::base
