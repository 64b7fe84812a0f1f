// lsm/foreign_store.h: tells a store of RocksDB from one of LevelDB's format.
//
// RocksDB began as LevelDB: names of files, logs and much of a manifest are alike, down to the
// comparator's name, and tables are not. What only RocksDB writes: a file OPTIONS-NUMBER, the file
// IDENTITY, NUMBER.blob files, tables that end with another number, and further fields in
// manifests.
//
// Threads   pure, but for the files, which are only read.
// Source    what RocksDB 7.8 writes, read from its files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// These pass over files with which something is wrong (base::IsOfTheFile). What else keeps them
// from reading a file is their error: the file may be RocksDB's.

// A file of `dir`, of which `names` are all, that only RocksDB makes; empty: there is none.
Result<std::string> FindRocksDbFile(FileSystem* files, const std::string& dir,
                                    const std::vector<std::string>& names);

// Of the folder of a store, before anything in it is changed: kInvalidArgument where it is
// RocksDB's, by such a file, by the first records of its manifest, or, without CURRENT, by its
// tables and manifests. A folder that is not there is nobody's.
Status CheckIsNotRocksDb(FileSystem* files, const std::string& dir);

// Whether a table ends as RocksDB's do.
Result<bool> IsRocksDbTable(FileSystem* files, const std::string& path);

// What to say of it.
Status OfRocksDb(const std::string& path);

// Whether a whole record of a manifest holds a field of RocksDB's that LevelDB's format lacks,
// behind one that both have. What is a write batch is no edit.
bool IsRocksDbEdit(std::string_view record);

}  // namespace weft::lsm
