#include "leveldb/table_builder.h"

#include <memory>

#include "base/check.h"
#include "convert.h"
#include "env_files.h"
#include "leveldb/comparator.h"
#include "leveldb/env.h"
#include "native_options.h"
#include "table/table_builder.h"

namespace leveldb {

namespace {

using weft::compat::NativeOptions;
using weft::compat::ToLevelDb;
using weft::compat::View;

// A builder takes block sizes as they are given; only stores move them into a range.
weft::table::TableFormat FormatOf(const Options& given, const NativeOptions& native) {
  weft::table::TableFormat format;
  format.comparator = native.options().comparator;
  format.filter = native.options().filter_policy.get();
  format.block_size = given.block_size;
  format.block_restart_interval = native.options().block_restart_interval;
  format.compression = native.options().compression;
  return format;
}

}  // namespace

struct TableBuilder::Rep {
  Rep(const Options& options, WritableFile* to)
      : given(options), native(options), file(to), ours(FormatOf(options, native), &file) {}

  Options given;
  const NativeOptions native;
  weft::compat::BorrowedWritableFile file;
  weft::table::TableBuilder ours;
  bool closed = false;  // Finish or Abandon was called
};

TableBuilder::TableBuilder(const Options& options, WritableFile* file)
    : rep_(new Rep(options, file)) {}  // freed by the destructor

TableBuilder::~TableBuilder() {
  WEFT_DCHECK(rep_->closed);
  delete rep_;
}

Status TableBuilder::ChangeOptions(const Options& options) {
  if (options.comparator != rep_->given.comparator) {
    return Status::InvalidArgument("changing comparator while building table");
  }
  rep_->given = options;
  const NativeOptions native(options);
  rep_->ours.ChangeFormat(FormatOf(options, native));
  return Status::OK();
}

void TableBuilder::Add(const Slice& key, const Slice& value) {
  WEFT_DCHECK(!rep_->closed);
  if (!rep_->ours.status().ok()) return;
  rep_->ours.Add(View(key), View(value));
}

void TableBuilder::Flush() {
  WEFT_DCHECK(!rep_->closed);
  if (!rep_->ours.status().ok()) return;
  rep_->ours.FlushBlock();
}

Status TableBuilder::Finish() {
  WEFT_DCHECK(!rep_->closed);
  rep_->closed = true;
  return ToLevelDb(rep_->ours.Finish());
}

void TableBuilder::Abandon() {
  WEFT_DCHECK(!rep_->closed);
  rep_->closed = true;
  rep_->ours.Abandon();
}

Status TableBuilder::status() const { return ToLevelDb(rep_->ours.status()); }
uint64_t TableBuilder::NumEntries() const { return rep_->ours.entries(); }
uint64_t TableBuilder::FileSize() const { return rep_->ours.flushed_bytes(); }

}  // namespace leveldb
