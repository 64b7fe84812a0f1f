// lsm/foreign_store.h: tells a store of RocksDB from one of LevelDB's format.
//
// RocksDB began as LevelDB: names of files, logs and much of a manifest are alike, down to the
// comparator's name; tables are not. Only RocksDB writes a file OPTIONS-NUMBER, the file IDENTITY,
// NUMBER.blob files, tables that end with another number, and further fields in manifests.
//
// Threads   pure, except for the files, which are only read.
// Source    what RocksDB 7.8 writes, read from its files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// These pass over damaged files (base::IsOfTheFile). Any other failure to read a file is their
// error, because the file may be RocksDB's.

// One of `names`, all the files of `dir`, that only RocksDB makes; empty: there is none.
Result<std::string> FindRocksDbFile(FileSystem* files, const std::string& dir,
                                    const std::vector<std::string>& names);

// Call it for a store's folder before changing anything there. kInvalidArgument if the folder is
// RocksDB's. Such a file shows that, or the first records of its manifest; without CURRENT, its
// tables and manifests. A folder that does not exist is nobody's.
Status CheckIsNotRocksDb(FileSystem* files, const std::string& dir);

// Whether a table ends as RocksDB's do.
Result<bool> IsRocksDbTable(FileSystem* files, const std::string& path);

// The error for a store of RocksDB.
Status OfRocksDb(const std::string& path);

// Whether a whole record of a manifest holds a field that only RocksDB has, behind one that both
// have. A write batch is no edit.
bool IsRocksDbEdit(std::string_view record);

}  // namespace weft::lsm
