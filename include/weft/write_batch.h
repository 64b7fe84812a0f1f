// weft/write_batch.h: changes that take effect together or not at all.
//
//   weft::WriteBatch batch;
//   batch.Delete("old");
//   batch.Put("new", value);
//   Status status = db->Write({}, &batch);
//
// Later changes of a batch win over earlier ones of the same key.
//
// Threads   one thread at a time for a batch; const calls from several.
// Layout    what a batch holds is what the log gets (LevelDB's write batch).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft {

class WriteBatch {
 public:
  WriteBatch();

  void Put(std::string_view key, std::string_view value);
  void Delete(std::string_view key);
  void Clear();
  // Adds all changes of `source` behind ours.
  void Append(const WriteBatch& source);

  // Number of changes.
  uint32_t Count() const;
  // Bytes that the batch will take in the log.
  size_t ApproximateSize() const { return rep_.size(); }

  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void Put(std::string_view key, std::string_view value) = 0;
    virtual void Delete(std::string_view key) = 0;
  };
  // Hands every change to `handler`, in order. kCorruption where the bytes are no batch.
  Status Iterate(Handler* handler) const;

  // The bytes: first sequence number (8, set by Write), count (4), then the changes.
  std::string_view contents() const { return rep_; }
  // Takes bytes that contents() gave, or a log. kCorruption, and an empty batch, where they can't
  // be a batch's.
  Status SetContents(std::string_view contents);

 private:
  friend class WriteBatchInternal;
  std::string rep_;
};

}  // namespace weft
