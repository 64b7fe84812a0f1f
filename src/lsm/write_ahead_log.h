// lsm/write_ahead_log.h: the log files that hold what no table holds yet, and their group sync.
//
// Appending and syncing are apart: writers append one after another, each in a moment, and those
// that want it wait for a sync afterwards. One of them syncs for all that had appended by then; the
// next sync takes everybody who came meanwhile (group commit).
//
// A sync also covers the logs before the current one that were never synced: a write that survives
// a power cut must not survive without those before it.
//
// Threads   Append, Begin: one at a time (the store's write mutex). Others: any, also meanwhile.
// Errors    the first failed append or sync ends the log: what the file holds behind it is unknown.
//           Every later sync of what was not yet on disk returns that error, and so does Close;
//           whoever gets one must append no more. No memory is such an error. Any call may
//           throw std::bad_alloc as well: then nobody waits for it, and Begin has changed nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "lsm/log_writer.h"
#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

class WriteAheadLog {
 public:
  // Bytes ever appended, over all files, and of those found in them: what SyncUpTo takes.
  using Ticket = uint64_t;

  // Goes on in `file`, which holds `bytes` already, synced or not: they count as appended.
  void Begin(std::unique_ptr<WritableFile> file, uint64_t number, uint64_t bytes = 0);
  Status Append(std::string_view record);
  // Of everything appended so far.
  Ticket appended() const { return appended_.load(std::memory_order_acquire); }

  // Returns once all that was appended before `ticket` survives a power cut. *synced: whether this
  // call did the sync, for statistics.
  Status SyncUpTo(Ticket ticket, bool* synced) WEFT_EXCLUDES(mutex_);
  // The tables hold what the logs up to and with `number` hold: they need no sync any more. They
  // are closed when the last of what is returned goes, which takes long: not while others wait.
  [[nodiscard]] std::vector<std::shared_ptr<WritableFile>> Forget(uint64_t number)
      WEFT_EXCLUDES(mutex_);
  // Syncs, closes the current file and returns its length. Nothing may be appended after it.
  Result<uint64_t> Close() WEFT_EXCLUDES(mutex_);

  // Of the current file.
  uint64_t number() const { return number_; }

 private:
  struct File {
    std::shared_ptr<WritableFile> file;
    uint64_t number = 0;
  };

  Status SyncFiles(const std::deque<File>& files);
  void BreakLocked(const Status& why) WEFT_REQUIRES(mutex_);

  // Owned by who appends.
  std::unique_ptr<LogWriter> writer_;
  std::shared_ptr<WritableFile> current_;
  uint64_t number_ = 0;

  std::atomic<Ticket> appended_{0};

  base::Mutex mutex_;
  base::CondVar sync_ended_;
  std::deque<File> unsynced_ WEFT_GUARDED_BY(mutex_);  // oldest first; the last is the current one
  Ticket synced_ WEFT_GUARDED_BY(mutex_) = 0;
  bool syncing_ WEFT_GUARDED_BY(mutex_) = false;
  Status broken_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::lsm
