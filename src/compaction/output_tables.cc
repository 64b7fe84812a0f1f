#include "compaction/output_tables.h"

#include <utility>

namespace weft::compaction {

OutputTables::~OutputTables() {
  if (is_open()) builder_->Abandon();
}

Status OutputTables::Open(std::string_view first_key) {
  Result<size_t> begun = files_.Begin(first_key);
  if (!begun) return begun.error();
  open_ = *begun;
  if (builder_.has_value()) {
    builder_->Start(files_.file(*open_));
  } else {
    builder_.emplace(job_.format, files_.file(*open_));
  }
  return Status::Ok();
}

Status OutputTables::Finish() {
  if (!is_open()) return Status::Ok();
  Status written = builder_->Finish();
  return files_.End(*std::exchange(open_, std::nullopt), std::move(written), builder_->last_key(),
                    builder_->entries(), builder_->flushed_bytes());
}

void OutputTables::RemoveAll() {
  if (is_open()) builder_->Abandon();
  open_.reset();
  files_.RemoveAll();
}

}  // namespace weft::compaction
