// bench/target/target_options.h: how stores and servers under measurement are opened or started.
// They are the same for every one, as far as it has the option.
//
// Threads: a value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/store/store.h"
#include "bench/target/tls_identity.h"

namespace weft::bench {

struct TargetOptions {
  // Caches, and servers that are started
  uint64_t memory_mb = 1024;
  int threads = 1;        // of a server
  std::vector<int> cpus;  // that a server may use; empty: any
  std::string weft_program = WEFT_SOURCE_DIR "/build/release/src/server/weft";
  std::string weft_flags;  // more flags for `weft serve`: "--device cuda:0 --plan auto"

  // Servers that are there
  bool wipe = false;  // what others have stored may be removed

  // Requests
  bool multi_get = false;  // a server's reads that are submitted side by side are one request
  bool binary = false;     // memcached's binary protocol, which then has no multi_get
  std::shared_ptr<const TlsIdentity> tls;  // of a memcached server that has it; null: no TLS
  bool scans = false;                      // redis: inserts and deletes keep an ordered index up

  // Durable stores
  StoreSettings store;
  std::string place = "memory";  // "memory", "disk" or a folder
  bool sync = false;             // each write is on the disk before it is done
};

}  // namespace weft::bench
