// base/read_on.h: reads that go on until they have all, or the file ends.
//
// weft/file_system.h asks of a file that a read gives fewer bytes only at its end. A program's own
// may not know that, as the system's read() does not. Whoever took its word would take the first
// short read for the end, and what follows for gone. So every reader of a store reads by these: a
// file ends where a read gives nothing.
//
// Threads   as the file's.
// Errors    the file's; *result is empty then.
// Cost      none where all came at once; else what came first may be copied to scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "weft/file_system.h"

namespace weft::base {

// `read(done, bytes, piece, to)` reads up to `bytes` behind the first `done`. `least` bytes are
// enough: what may lie behind the end is not asked for twice.
template <typename Read>
Status ReadOnBy(size_t bytes, size_t least, std::string_view* result, char* scratch,
                const Read& read) {
  Status status = read(size_t{0}, bytes, result, scratch);
  if (status.ok() && (result->size() >= least || result->empty())) return status;
  size_t done = status.ok() ? result->size() : 0;
  if (done > 0 && result->data() != scratch) std::memmove(scratch, result->data(), done);
  while (status.ok() && done < least) {
    std::string_view piece;
    status = read(done, bytes - done, &piece, scratch + done);
    if (!status.ok() || piece.empty()) break;
    if (piece.data() != scratch + done) std::memmove(scratch + done, piece.data(), piece.size());
    done += piece.size();
  }
  *result = status.ok() ? std::string_view(scratch, done) : std::string_view();
  return status;
}

inline Status ReadOn(SequentialFile* file, size_t bytes, std::string_view* result, char* scratch) {
  return ReadOnBy(bytes, bytes, result, scratch,
                  [file](size_t, size_t left, std::string_view* piece, char* to) {
                    return file->Read(left, piece, to);
                  });
}

inline Status ReadOnAt(const RandomAccessFile& file, uint64_t offset, size_t bytes, size_t least,
                       std::string_view* result, char* scratch) {
  return ReadOnBy(bytes, least, result, scratch,
                  [&](size_t done, size_t left, std::string_view* piece, char* to) {
                    // One that wants its reads aligned ends where it gives a part of a block.
                    if (done > 0 && done % file.ReadAlignment() != 0) return Status();
                    return file.Read(offset + done, left, piece, to);
                  });
}

inline Status ReadOnAt(const RandomAccessFile& file, uint64_t offset, size_t bytes,
                       std::string_view* result, char* scratch) {
  return ReadOnAt(file, offset, bytes, bytes, result, scratch);
}

}  // namespace weft::base
