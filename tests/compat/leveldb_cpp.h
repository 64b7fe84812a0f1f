// tests/compat/leveldb_cpp.h: the parts of a program for LevelDB's C++ interface. Each works in its
// own folder (or file) and prints what it sees.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "leveldb/db.h"
#include "leveldb/write_batch.h"
#include "program.h"

namespace program {

using leveldb::DB;
using leveldb::Iterator;
using leveldb::Options;
using leveldb::ReadOptions;
using leveldb::Slice;
using leveldb::Status;
using leveldb::WriteBatch;
using leveldb::WriteOptions;

inline Options Create() {
  Options options;
  options.create_if_missing = true;
  return options;
}

inline std::unique_ptr<DB> OpenOrDie(const Options& options, const std::string& name) {
  DB* db = nullptr;
  const Status status = DB::Open(options, name, &db);
  if (!status.ok()) {
    std::printf("cannot open %s: %s\n", name.c_str(), status.ToString().c_str());
    std::exit(1);
  }
  return std::unique_ptr<DB>(db);
}

inline std::string NumberedKey(uint64_t i) {
  char room[32];
  std::snprintf(room, sizeof room, "key%08llu", static_cast<unsigned long long>(i));
  return room;
}

inline void Fill(DB* db, uint64_t count, size_t value_bytes, uint64_t seed) {
  Random random(seed);
  for (uint64_t i = 0; i < count; i++) {
    db->Put(WriteOptions(), NumberedKey(i * 7919 % count), random.Bytes(value_bytes));
  }
}

// leveldb_cpp_views.cc
void Iterators(DB* db);
void Snapshots(DB* db);
void Sizes(DB* db);
// leveldb_cpp_own.cc
void OwnOrderAndFilter(const std::string& name);
void Caches();
void StoresWithCaches(const std::string& name);
// leveldb_cpp_env.cc
void OwnEnv(const std::string& name);
void InMemory();
void SystemEnv(const std::string& folder);
// leveldb_cpp_files.cc
void Tables(const std::string& file);
void Dumps(const std::string& name);
void Repair(const std::string& name);
void Threads(const std::string& name);
void StoreOverStore(const std::string& name);

}  // namespace program
