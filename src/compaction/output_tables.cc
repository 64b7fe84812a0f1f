#include "compaction/output_tables.h"

namespace weft::compaction {

OutputTables::~OutputTables() {
  if (is_open()) builder_->Abandon();
}

Status OutputTables::Open(std::string_view first_key) {
  Status status = files_.Begin(first_key);
  if (!status.ok()) return status;
  if (builder_.has_value()) {
    builder_->Start(files_.file());
  } else {
    builder_.emplace(job_.format, files_.file());
  }
  return Status::Ok();
}

Status OutputTables::Finish() {
  if (!is_open()) return Status::Ok();
  Status written = builder_->Finish();
  return files_.End(std::move(written), builder_->last_key(), builder_->entries(),
                    builder_->flushed_bytes());
}

void OutputTables::RemoveAll() {
  if (is_open()) builder_->Abandon();
  files_.RemoveAll();
}

}  // namespace weft::compaction
