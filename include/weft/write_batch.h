// weft/write_batch.h: changes that take effect together or not at all.
//
//   weft::WriteBatch batch;
//   batch.Delete("old");
//   batch.Put("new", value);
//   Status status = db->Write({}, &batch);
//
// If a batch changes a key twice, the later change wins.
//
// Threads   one thread at a time per batch; several for const calls.
// Layout    a batch's bytes are those that the log gets (LevelDB's write batch).
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
  // Appends all changes of `source` to this batch.
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
  // Hands every change to `handler`, in order. kCorruption if the bytes are no batch.
  Status Iterate(Handler* handler) const;

  // The bytes: first sequence number (8, set by Write), count (4), then the changes.
  std::string_view contents() const { return rep_; }
  // Takes bytes that contents() returned, or a log's. kCorruption, and an empty batch, if they
  // can't be a batch's.
  Status SetContents(std::string_view contents);

 private:
  friend class WriteBatchInternal;
  std::string rep_;
};

}  // namespace weft
