// cache/memory_file.h: a file in memory (tmpfs) that the log's objects lie in, so that they outlive
// the process. docs/formats/memory-file.md describes it.
//
// A server keeps it locked. While a server has it, the file says that it is in use, and nobody
// believes what is in it. A server that stops cleanly (cache/restart.h) writes the table of
// segments behind the objects, and a number at the beginning. Last it writes FILE.meta with the
// same number. The next server deletes FILE.meta before it looks at it. So a crash of a server that
// stops, or of the next one from then on, leaves a file that is not believed.
//
// Threads   one.
// Errors    kRetryLater: another server has it. kUnsupported: it does not lie in memory.
//           kInvalidArgument: it is somebody else's, or no file of ours. kNoMemory: its file system
//           has not enough room. kIoError: the system's reason.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cache/pages.h"
#include "weft/status.h"

namespace weft::cache {

struct MemoryFileOptions {
  std::string path;
  uint64_t bytes = 0;    // that it may come to take; its file system must have them now
  bool on_disk = false;  // take a file system of any kind
};

class MemoryFile final : public PageSource {
 public:
  // Opens it, or makes one, and locks it. Changes nothing that it holds.
  static Result<std::unique_ptr<MemoryFile>> Open(const MemoryFileOptions& options);
  ~MemoryFile() override;

  const std::string& path() const { return path_; }

  // The log's memory, which goes with the last use of it. It has what the file had if the file was
  // made for as many bytes; then fits() is true. REQUIRES: called once
  Result<Pages> Reserve(size_t bytes, bool huge) override;
  bool fits() const { return fits_; }

  // Takes FILE.meta, which is gone from then on; nothing: there is none. To be called before
  // anything of the file is used.
  Result<std::optional<std::string>> TakeMeta();
  // Whether the file belongs to that FILE.meta.
  bool IsOf(uint64_t stop_id) const { return stop_id_ != 0 && stop_id_ == stop_id; }
  // The file is in use from now on: what it holds counts only for who has read FILE.meta.
  Status MarkInUse() { return WriteHeader(0); }
  // It holds nothing any more, and is in use. REQUIRES: Reserve was called, nobody uses its pages
  Status Clear();

  // The table behind the objects. Read: kCorruption if it is shorter.
  Status WriteTable(std::string_view table);
  Result<std::string> ReadTable(uint64_t bytes) const;
  // All of it belongs to `stop_id` from now on.
  Status Seal(uint64_t stop_id) { return WriteHeader(stop_id); }
  // Makes FILE.meta, whole or not at all.
  Status WriteMeta(std::string_view text);

 private:
  // Of the file and its mapping, which the log's pages keep.
  struct Held;

  explicit MemoryFile(const MemoryFileOptions& options);
  Status CheckWhose() const;
  Status CheckWhere();
  Status CheckRoom() const;
  Status ReadHeader();
  Status WriteHeader(uint64_t stop_id);
  Status SyncFolder() const;
  Status Failed(const char* what, const std::string& path) const;

  const std::string path_;
  const uint64_t bytes_;
  const bool on_disk_;
  bool syncs_ = true;  // what it holds outlives the system: each step must be there before the next
  std::shared_ptr<Held> held_;
  uint64_t stop_id_ = 0;  // as the file had it when it was opened
  uint64_t file_bytes_ = 0;
  uint64_t table_at_ = 0;
  bool fits_ = false;
};

}  // namespace weft::cache
