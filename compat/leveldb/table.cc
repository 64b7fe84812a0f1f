#include "leveldb/table.h"

#include <memory>

#include "convert.h"
#include "env_files.h"
#include "leveldb/options.h"
#include "native_iterator.h"
#include "native_options.h"
#include "policies.h"
#include "table/table.h"
#include "table/table_iterator.h"

namespace leveldb {

using weft::compat::ToLevelDb;
using weft::compat::View;

struct Table::Rep {
  explicit Rep(const Options& given) : options(given), order(given.comparator) {}

  const weft::compat::NativeOptions options;  // outlives the table below, as does the order
  // As the program's own order, whatever it is: programs look into stores' tables with the plain
  // bytewise one, which is not quite theirs, and our own takes that for damage.
  const weft::compat::UserComparator order;
  std::unique_ptr<weft::table::Table> ours;
};

Status Table::Open(const Options& options, RandomAccessFile* file, uint64_t file_size,
                   Table** table) {
  *table = nullptr;
  auto rep = std::make_unique<Rep>(options);
  const weft::DbOptions& native = rep->options.options();
  weft::table::TableReadOptions how;
  how.order = static_cast<const weft::Comparator*>(&rep->order);
  how.filter = native.filter_policy.get();
  how.cache = native.block_cache.get();
  how.verify = native.paranoid_checks;
  weft::Result<std::unique_ptr<weft::table::Table>> opened = weft::table::Table::Open(
      how, std::make_unique<weft::compat::BorrowedRandomAccessFile>(file), file_size, "table");
  if (!opened) return ToLevelDb(opened.error());
  rep->ours = std::move(*opened);
  *table = new Table(rep.release());  // freed by the caller; the rep by the table
  return Status::OK();
}

Table::~Table() { delete rep_; }

Iterator* Table::NewIterator(const ReadOptions& options) const {
  weft::ReadOptions ours;
  ours.verify_checksums = options.verify_checksums;
  ours.fill_cache = options.fill_cache;
  // Freed by the caller.
  return new weft::compat::NativeIterator(rep_->ours->NewIterator(ours));
}

uint64_t Table::ApproximateOffsetOf(const Slice& key) const {
  return rep_->ours->ApproximateOffsetOf(View(key));
}

}  // namespace leveldb
