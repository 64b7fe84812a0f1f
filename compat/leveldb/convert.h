// compat/leveldb/convert.h: bytes, statuses and batches, from LevelDB's types to ours and back.
//
// Threads   pure.
// Cost      nothing for bytes and for statuses that are ok. Other statuses copy their text, except
//           that of a lookup that found nothing.
#pragma once

#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "leveldb/slice.h"
#include "leveldb/status.h"
#include "leveldb/write_batch.h"
#include "weft/status.h"
#include "weft/write_batch.h"

namespace leveldb {

struct StatusAccess {
  // Of a status that is not ok.
  static Status FromWeft(const weft::Status& status);
  static weft::Status ToWeft(const Status& status);
  static Status NotFound();
};

struct WriteBatchAccess {
  static weft::WriteBatch* Get(WriteBatch* batch) {
    return std::launder(reinterpret_cast<weft::WriteBatch*>(batch->batch_));
  }
  static const weft::WriteBatch* Get(const WriteBatch* batch) {
    return std::launder(reinterpret_cast<const weft::WriteBatch*>(batch->batch_));
  }
  static_assert(sizeof(weft::WriteBatch) == sizeof(WriteBatch));
  static_assert(alignof(weft::WriteBatch) == alignof(WriteBatch));
};

}  // namespace leveldb

namespace weft::compat {

inline std::string_view View(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }
inline leveldb::Slice ToSlice(std::string_view view) { return {view.data(), view.size()}; }

inline leveldb::Status ToLevelDb(const Status& status) {
  if (status.ok()) return leveldb::Status::OK();
  return leveldb::StatusAccess::FromWeft(status);
}
inline Status FromLevelDb(const leveldb::Status& status) {
  if (status.ok()) return Status::Ok();
  return leveldb::StatusAccess::ToWeft(status);
}

// Puts the object of a result where LevelDB's calls want it: *to, null if there is none.
template <typename Adapter, typename Native, typename Api>
leveldb::Status TakeInto(Result<std::unique_ptr<Native>> result, Api** to) {
  *to = nullptr;
  if (!result) return ToLevelDb(result.error());
  *to = new Adapter(std::move(*result));  // freed by the caller
  return leveldb::Status::OK();
}

}  // namespace weft::compat
