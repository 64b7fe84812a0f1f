// bench/target/redis_target.h: a server that speaks redis' protocol, whoever made it.
//
// What is stored is removed by FLUSHALL. Processes are who listens on this machine, and none where
// the server is on another.
//
// Threads   see bench/target/target.h.
// Errors    kIoError where it does not answer.
#pragma once

#include <memory>
#include <string>

#include "bench/target/address.h"
#include "bench/target/target.h"
#include "bench/target/target_options.h"

namespace weft::bench {

// A server that is there. `format` outlives the target.
Result<std::unique_ptr<Target>> OpenRedis(const Address& address, const TargetOptions& options,
                                          const RecordFormat& format);

// Starts `program` on a free port of the loopback interface: nothing is kept on a disk; memory as
// asked, and what is full drops what was used least recently, as memcached does, but refuses where
// there is an index, which must not be dropped. `threads` are redis' I/O threads. It ends with the
// target.
Result<std::unique_ptr<Target>> StartRedis(const std::string& program, const TargetOptions& options,
                                           const RecordFormat& format);

}  // namespace weft::bench
