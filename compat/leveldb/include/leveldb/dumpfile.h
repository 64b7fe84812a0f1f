// compat/leveldb/include/leveldb/dumpfile.h: a store's file as text.
#pragma once

#include <string>

#include "leveldb/env.h"
#include "leveldb/export.h"
#include "leveldb/status.h"

namespace leveldb {

// Appends to *dst one line for each item of a log, manifest or table; the name tells which it is.
// Not ok for names that are no store's file's, and for files that cannot be read.
LEVELDB_EXPORT Status DumpFile(Env* env, const std::string& fname, WritableFile* dst);

}  // namespace leveldb
