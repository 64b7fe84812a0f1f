// compat/leveldb/include/leveldb/dumpfile.h: a store's file as text.
#pragma once

#include <string>

#include "leveldb/env.h"
#include "leveldb/export.h"
#include "leveldb/status.h"

namespace leveldb {

// Appends to *dst one line for each item of a log, manifest or table; the name says which it is.
// Not ok for a name that no file of a store has, and for a file that cannot be read.
LEVELDB_EXPORT Status DumpFile(Env* env, const std::string& fname, WritableFile* dst);

}  // namespace leveldb
