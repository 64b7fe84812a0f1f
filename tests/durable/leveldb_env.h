// tests/durable/leveldb_env.h: runs LevelDB on a weft::FileSystem, so that faults can be tried on
// it too.
#pragma once

#include <leveldb/env.h>

#include <memory>

#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::durable {

// `files` must outlive it. Threads and clocks are the system's.
std::unique_ptr<leveldb::Env> NewLevelDbEnv(FileSystem* files);

Status FromLevelDb(const leveldb::Status& status);
leveldb::Status ToLevelDb(const Status& status);

}  // namespace weft::durable
