// bench/target/redis_target.h: a server that speaks redis' protocol, whoever made it.
//
// FLUSHALL removes what is stored. Its processes are those that listen on this machine; none if the
// server is on another.
//
// Threads   see bench/target/target.h.
// Errors    kIoError if it does not answer.
#pragma once

#include <memory>
#include <string>

#include "bench/harness/address.h"
#include "bench/harness/peer.h"
#include "bench/target/target.h"
#include "bench/target/target_options.h"

namespace weft::bench {

// A server that is there. `format` must outlive the target.
Result<std::unique_ptr<Target>> OpenRedis(const Address& address, const TargetOptions& options,
                                          const RecordFormat& format);

// Starts `program` on a free port of the loopback interface, with memory as asked and nothing kept
// on a disk. When full it drops what was used least recently, as memcached does. With an index,
// which must not be dropped, it refuses instead. `threads` are redis' I/O threads. It ends with the
// target.
Result<std::unique_ptr<Target>> StartRedis(const PeerSpec& program, const TargetOptions& options,
                                           const RecordFormat& format);

}  // namespace weft::bench
