// bench/target/durable_target.h: a durable store in this process (bench/store/store.h): Weft's,
// LevelDB, RocksDB.
//
// Reads that are submitted side by side are one MultiGet, for stores that have it; an update and an
// insert are a Put, a read-modify-write a Get and then a Put. A scan has its own cursor: it must
// name keys of records in ascending order from the one asked for, with their values. Stores do not
// say whether a deleted record was there.
//
// Threads   see bench/target/target.h; no session works while Clear does.
// Errors    kUnsupported: the store's library is not installed.
#pragma once

#include <memory>
#include <string>

#include "bench/target/target.h"
#include "bench/target/target_options.h"

namespace weft::bench {

// `name`: one of StoreNames(). `format` must outlive the target. Its files go with it.
Result<std::unique_ptr<Target>> OpenDurable(const std::string& name, const TargetOptions& options,
                                            const RecordFormat& format);

}  // namespace weft::bench
