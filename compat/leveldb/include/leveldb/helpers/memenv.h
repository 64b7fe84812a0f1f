// compat/leveldb/include/leveldb/helpers/memenv.h: files in memory, for tests and scratch stores.
#pragma once

#include "leveldb/export.h"

namespace leveldb {

class Env;

// Keeps files in memory and leaves everything else (threads, time) to base_env, which must outlive
// it. The caller deletes it.
LEVELDB_EXPORT Env* NewMemEnv(Env* base_env);

}  // namespace leveldb
