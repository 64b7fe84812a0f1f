// bench/target/weft_cache_target.h: Weft's cache, in this process.
//
// Reads that are submitted side by side are one MultiGet. When memory is full the coldest records
// are dropped, and a read of them finds nothing.
//
// Threads   see bench/target/target.h.
// Errors    kInvalidArgument if the memory is too little for one record.
#pragma once

#include <memory>

#include "bench/target/target.h"
#include "bench/target/target_options.h"

namespace weft::bench {

// `format` must outlive the target.
Result<std::unique_ptr<Target>> OpenWeftCache(const TargetOptions& options,
                                              const RecordFormat& format);

}  // namespace weft::bench
