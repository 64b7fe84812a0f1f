// bench/target/memcached_target.h: a server that speaks memcached's text protocol, whoever made it.
//
// What is stored is removed by flush_all. Processes are who listens on this machine, and none where
// the server is on another.
//
// Threads   see bench/target/target.h.
// Errors    kIoError where it does not answer.
#pragma once

#include <memory>
#include <string>

#include "bench/harness/peer.h"
#include "bench/target/address.h"
#include "bench/target/target.h"
#include "bench/target/target_options.h"

namespace weft::bench {

// A server that is there. `format` outlives the target.
Result<std::unique_ptr<Target>> OpenMemcached(const Address& address, const TargetOptions& options,
                                              const RecordFormat& format);

// Starts one on a free port of the loopback interface, with memory, threads and CPUs as asked and
// otherwise its own defaults; it ends with the target.
Result<std::unique_ptr<Target>> StartMemcached(const PeerSpec& program,
                                               const TargetOptions& options,
                                               const RecordFormat& format);

// Path of a program: itself where it has a slash, else the first of PATH; kNotFound.
Result<std::string> FindProgram(const std::string& name);

}  // namespace weft::bench
