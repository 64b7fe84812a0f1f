// bench/target/memcached_target.h: a server that speaks memcached's protocols, whoever made it.
//
// flush_all removes what is stored. Its processes are those that listen on this machine; none if
// the server is on another.
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
Result<std::unique_ptr<Target>> OpenMemcached(const Address& address, const TargetOptions& options,
                                              const RecordFormat& format);

// How its servers are asked: Ask, or AskTls where there is an identity.
Asker AskerOf(const std::shared_ptr<const TlsIdentity>& tls);

// Starts one on a free port of the loopback interface, with memory, threads and CPUs as asked and
// otherwise its own defaults; it ends with the target.
Result<std::unique_ptr<Target>> StartMemcached(const PeerSpec& program,
                                               const TargetOptions& options,
                                               const RecordFormat& format);

}  // namespace weft::bench
