// server/warm_restart.h: -e: what the cache holds outlives a server that is stopped cleanly
// (cache/restart.h), as far as it agrees with the durable store below.
//
// Threads   one.
// Errors    Open and Restore: as cache/memory_file.h and cache/restart.h say. Save tells the log.
#pragma once

#include <memory>

#include "cache/memory_file.h"
#include "cache/page_shortage.h"
#include "cache/restart.h"
#include "server/options.h"
#include "tier/disk_tier.h"

namespace weft::server {

class WarmRestart {
 public:
  // Null without -e. The file is locked, and otherwise as it was.
  static Result<std::unique_ptr<WarmRestart>> Open(const ServerOptions& options);

  // Where the objects of the store must lie.
  cache::PageSource* objects() { return file_.get(); }
  // Fills the store from the file. `tier`: below it, may be null. What there is to say of it goes
  // to the log when the server serves (Tell). REQUIRES: as cache::RestoreStore
  Status Restore(cache::Store* store, const tier::DiskTier* tier);
  void Tell() const;
  uint64_t restored_items() const { return restored_.items; }
  // Warns once if the file system has no room for what the cache may use.
  void TellOfShortage(const cache::PageShortage& shortage);
  // Saves the store for the next server, unless something speaks against it. `tier` has ended from
  // then on. REQUIRES: as cache::SaveStore
  void Save(cache::Store* store, tier::DiskTier* tier);

 private:
  explicit WarmRestart(std::unique_ptr<cache::MemoryFile> file) : file_(std::move(file)) {}

  const std::unique_ptr<cache::MemoryFile> file_;
  cache::Restored restored_;
  uint64_t restored_ms_ = 0;
  bool told_of_shortage_ = false;
};

}  // namespace weft::server
